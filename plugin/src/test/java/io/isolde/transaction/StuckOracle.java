// SPDX-License-Identifier: Apache-2.0
package io.isolde.transaction;

import io.isolde.oracle.CommitRequest;
import io.isolde.oracle.Decision;
import io.isolde.oracle.Outcome;
import io.isolde.oracle.SetAsideCommits;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

/** An oracle that only knows what is stable and what is set aside, as a test tells it. */
class StuckOracle implements Oracle {
  final AtomicInteger asked = new AtomicInteger();
  final CompletableFuture<Void> reached = new CompletableFuture<>();
  volatile long stable;

  /** What this node knows. */
  volatile SetAsideCommits known = SetAsideCommits.NONE;

  /** What it hears when it asks. */
  volatile SetAsideCommits latest = SetAsideCommits.NONE;

  static SetAsideCommits set(long epoch, long commit, long... ids) {
    TreeMap<Long, long[]> commits = new TreeMap<>();
    commits.put(commit, ids);
    return SetAsideCommits.of(epoch, commits);
  }

  @Override
  public SetAsideCommits setAside() {
    return known;
  }

  @Override
  public CompletableFuture<SetAsideCommits> latestSetAside() {
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
  public long begin(UUID transactionId) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void beginAt(UUID transactionId, long snapshot) {
    throw new UnsupportedOperationException();
  }

  @Override
  public CompletableFuture<Decision> commit(CommitRequest request, byte[] writeSet) {
    throw new UnsupportedOperationException();
  }

  @Override
  public int maxCommitBytes() {
    return 0;
  }

  @Override
  public CompletableFuture<Void> applied(long commitTimestamp) {
    throw new UnsupportedOperationException();
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
  public void keepUp() {}
}
