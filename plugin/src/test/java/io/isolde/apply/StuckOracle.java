// SPDX-License-Identifier: Apache-2.0
package io.isolde.apply;

import io.isolde.oracle.CommitRequest;
import io.isolde.oracle.InDoubtCommits;
import io.isolde.oracle.Outcome;
import io.isolde.oracle.group.Decided;
import io.isolde.oracle.group.Stable;
import io.isolde.oracle.replica.Command;
import io.isolde.replicated.Oracle;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

/** An oracle that only knows what is stable and what is in doubt, as a test tells it. */
public class StuckOracle implements Oracle {
  public final AtomicInteger asked = new AtomicInteger();
  public final CompletableFuture<Void> reached = new CompletableFuture<>();
  public volatile long stable;

  /** What this node knows. */
  public volatile InDoubtCommits known = InDoubtCommits.NONE;

  /** What it hears when it asks. */
  public volatile InDoubtCommits latest = InDoubtCommits.NONE;

  public static InDoubtCommits set(long epoch, long commit, long... ids) {
    TreeMap<Long, long[]> commits = new TreeMap<>();
    commits.put(commit, ids);
    return InDoubtCommits.of(epoch, commits);
  }

  @Override
  public InDoubtCommits inDoubt() {
    return known;
  }

  @Override
  public CompletableFuture<InDoubtCommits> latestInDoubt() {
    asked.incrementAndGet();
    known = latest;
    return CompletableFuture.completedFuture(latest);
  }

  @Override
  public CompletableFuture<Void> whenStable(long timestamp) {
    return stable >= timestamp ? CompletableFuture.completedFuture(null) : reached;
  }

  @Override
  public long stable() {
    return stable;
  }

  @Override
  public long stableSoFar() {
    return stable;
  }

  @Override
  public CompletableFuture<Long> begin(UUID transactionId) {
    throw new UnsupportedOperationException();
  }

  @Override
  public long beginAgain(UUID transactionId) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void beginAt(UUID transactionId, long snapshot) {
    throw new UnsupportedOperationException();
  }

  @Override
  public CompletableFuture<Decided> commit(
      CommitRequest request, byte[] writeSet, boolean isToBeApplied) {
    throw new UnsupportedOperationException();
  }

  @Override
  public CompletableFuture<Void> stage(UUID staging, int number, int totalBytes, byte[] part) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void unstage(UUID staging) {
    throw new UnsupportedOperationException();
  }

  @Override
  public CompletableFuture<Decided> commitStaged(CommitRequest request, Command.Staged staged) {
    throw new UnsupportedOperationException();
  }

  @Override
  public int maxCommitBytes() {
    return 1 << 20;
  }

  @Override
  public CompletableFuture<Void> applied(long commitTimestamp, Optional<Stable> byLeader) {
    throw new UnsupportedOperationException();
  }

  @Override
  public CompletableFuture<Void> whenLogged(long timestamp) {
    return whenStable(timestamp);
  }

  @Override
  public void end(UUID transactionId) {
    throw new UnsupportedOperationException();
  }

  @Override
  public long next() {
    throw new UnsupportedOperationException();
  }

  @Override
  public void advanceTo(long timestamp) {
    throw new UnsupportedOperationException();
  }

  @Override
  public Optional<Outcome> outcome(UUID transactionId) {
    return Optional.empty();
  }

  @Override
  public Optional<Outcome> resolve(UUID transactionId, long startTimestamp) {
    return outcome(transactionId);
  }
}
