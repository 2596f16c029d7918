// SPDX-License-Identifier: Apache-2.0
package io.isolde.replicated;

import io.isolde.config.NodeClock;
import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import io.isolde.oracle.CommitRequest;
import io.isolde.oracle.InDoubtCommits;
import io.isolde.oracle.Outcome;
import io.isolde.oracle.group.CoordinatorSession;
import io.isolde.oracle.group.Decided;
import io.isolde.oracle.group.OracleClient;
import io.isolde.oracle.group.OracleGroupConfig;
import io.isolde.oracle.group.Stable;
import io.isolde.oracle.replica.Answer;
import io.isolde.oracle.replica.Command;
import io.isolde.raft.GroupFailure;
import io.isolde.version.VersionClock;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import org.apache.cassandra.utils.concurrent.UncheckedInterruptedException;

/**
 * The oracle's group, as this node's coordinator uses it. Every wait ends with the time-out of the
 * client below.
 */
public final class ReplicatedOracle implements Oracle, VersionClock {
  private final OracleClient client;
  private final CoordinatorSession session;
  private final LeaderHere leaderHere;

  /** Start timestamps of the transactions that are open here; bounded by those. */
  private final Map<UUID, Long> open = new ConcurrentHashMap<>();

  /** Reports by a method call that commits are applied, where this node leads the oracle. */
  @FunctionalInterface
  public interface LeaderHere {
    /** As {@link io.isolde.oracle.group.OracleNode#applied}. */
    Optional<Stable> applied(Collection<Long> commitTimestamps);
  }

  public ReplicatedOracle(OracleClient client, CoordinatorSession session, LeaderHere leaderHere) {
    this.client = client;
    this.session = session;
    this.leaderHere = leaderHere;
  }

  @Override
  public CompletableFuture<Long> begin(UUID transactionId) {
    return session
        .begin(transactionId)
        .handle(
            (start, error) -> {
              if (error != null) {
                throw failed(transactionId, cause(error));
              }
              return opened(
                  transactionId, start.orElseThrow(() -> Oracle.alreadyDecided(transactionId)));
            });
  }

  private long opened(UUID transactionId, long start) {
    Long before = open.putIfAbsent(transactionId, start);
    if (before == null) {
      return start;
    }
    session.ended(start);
    return before;
  }

  @Override
  public long beginAgain(UUID transactionId) {
    long start =
        await(session.begin(transactionId), transactionId)
            .orElseThrow(() -> Oracle.alreadyDecided(transactionId));
    session.ended(start);
    return start;
  }

  @Override
  public void beginAt(UUID transactionId, long snapshot) {
    if (open.putIfAbsent(transactionId, snapshot) == null) {
      session.beganAt(snapshot);
    }
  }

  @Override
  public int maxCommitBytes() {
    return OracleGroupConfig.MAX_COMMIT_BYTES;
  }

  @Override
  public CompletableFuture<Decided> commit(
      CommitRequest request, byte[] writeSet, boolean isToBeApplied) {
    return ended(request.transactionId(), session.commit(request, writeSet, isToBeApplied));
  }

  @Override
  public CompletableFuture<Void> stage(UUID staging, int number, int totalBytes, byte[] part) {
    return session
        .stage(staging, number, totalBytes, part)
        .handle(
            (done, error) -> {
              if (error != null) {
                throw stageFailed(cause(error));
              }
              return null;
            });
  }

  @Override
  public void unstage(UUID staging) {
    session.unstage(staging);
  }

  @Override
  public CompletableFuture<Decided> commitStaged(CommitRequest request, Command.Staged staged) {
    return ended(request.transactionId(), session.commitStaged(request, staged));
  }

  private CompletableFuture<Decided> ended(UUID id, CompletableFuture<Decided> answer) {
    return answer.handle(
        (decided, error) -> {
          if (id != null) {
            end(id);
          }
          if (error != null) {
            throw commitFailed(id, cause(error));
          }
          return decided;
        });
  }

  private static Throwable cause(Throwable error) {
    return error instanceof CompletionException ? error.getCause() : error;
  }

  @Override
  public CompletableFuture<Void> applied(long commitTimestamp, Optional<Stable> byLeader) {
    return byLeader
        .or(() -> leaderHere.applied(List.of(commitTimestamp)))
        .map(stable -> session.applied(commitTimestamp, stable))
        .orElseGet(() -> session.applied(commitTimestamp));
  }

  @Override
  public void end(UUID transactionId) {
    Long start = open.remove(transactionId);
    if (start != null) {
      session.ended(start);
    }
  }

  @Override
  public CompletableFuture<Void> whenStable(long timestamp) {
    return session.newestStable() >= timestamp
        ? CompletableFuture.completedFuture(null)
        : session.awaitStable(timestamp);
  }

  @Override
  public CompletableFuture<Void> whenLogged(long timestamp) {
    return session.awaitLogged(timestamp);
  }

  @Override
  public InDoubtCommits inDoubt() {
    return session.inDoubt();
  }

  @Override
  public CompletableFuture<InDoubtCommits> latestInDoubt() {
    return client.latestInDoubt();
  }

  @Override
  public long stable() {
    long stable = await(session.begin(), null);
    session.ended(stable);
    return stable;
  }

  @Override
  public long stableSoFar() {
    return session.newestStable();
  }

  @Override
  public long next() {
    return await(session.issueAbove(0), null);
  }

  @Override
  public void advanceTo(long timestamp) {
    var unused = await(session.issueAbove(timestamp), null);
  }

  @Override
  public Optional<Outcome> outcome(UUID transactionId) {
    return await(client.outcome(transactionId), transactionId).map(ended -> ended.outcome());
  }

  @Override
  public Optional<Outcome> resolve(UUID transactionId, long startTimestamp) {
    Answer answer =
        await(client.execute(new Command.Abort(transactionId, startTimestamp)), transactionId);
    return answer instanceof Answer.Ended ended ? Optional.of(ended.outcome()) : Optional.empty();
  }

  @Override
  public long latestTimestamp() {
    return orNow(session.last());
  }

  private static long orNow(long timestamp) {
    return Math.max(timestamp, NodeClock.nowMillis() * 1000);
  }

  /** The oracle has decided on every write before a replica is given it. */
  @Override
  public OptionalLong newestBefore(long nanoTime) {
    OptionalLong last = session.lastAskedAfter(nanoTime);
    return last.isEmpty() ? last : OptionalLong.of(orNow(last.getAsLong()));
  }

  /** Without an answer from the oracle it is one that no reader can have yet. */
  @Override
  public long newTimestamp() {
    try {
      return orNow(next());
    } catch (IsoldeException e) {
      return latestTimestamp() + MAX_AHEAD_MICROS;
    }
  }

  @Override
  public long lowWatermark() {
    return session.lowWatermark();
  }

  private static <T> T await(CompletableFuture<T> answer, UUID transactionId) {
    try {
      return answer.get();
    } catch (ExecutionException e) {
      throw failed(transactionId, e.getCause());
    } catch (InterruptedException e) {
      throw new UncheckedInterruptedException(e);
    }
  }

  private static IsoldeException failed(UUID id, Throwable cause) {
    ErrorCode code =
        cause instanceof GroupFailure e && e.reason() == GroupFailure.Reason.OVERLOADED
            ? ErrorCode.ORACLE_OVERLOADED
            : ErrorCode.ORACLE_UNAVAILABLE;
    return IsoldeException.of(
        code,
        "The oracle gave no answer: " + cause.getMessage() + " Nothing was done.",
        "transaction",
        id);
  }

  /** Before the decision it is known that nothing was committed, whatever has failed. */
  private static IsoldeException stageFailed(Throwable cause) {
    GroupFailure.Reason reason = cause instanceof GroupFailure e ? e.reason() : null;
    if (reason == GroupFailure.Reason.REFUSED) {
      return IsoldeException.of(
          ErrorCode.TRANSACTION_TOO_LARGE,
          cause.getMessage() + " Write less in one, or give the oracle's members larger heaps.");
    }
    return reason == GroupFailure.Reason.FENCED ? commitFailed(null, cause) : failed(null, cause);
  }

  /** Of a commit it is known only sometimes that nothing was done. */
  private static IsoldeException commitFailed(UUID id, Throwable cause) {
    if (!(cause instanceof GroupFailure e)) {
      return outcomeUnknown(id, cause);
    }
    return switch (e.reason()) {
      case OVERLOADED, REFUSED, NOT_LEADER, TIMED_OUT -> failed(id, cause);
      case FENCED ->
          IsoldeException.of(
              ErrorCode.COORDINATOR_FENCED,
              e.getMessage() + " Nothing was committed; run it again.",
              "transaction",
              id);
      case UNKNOWN, TIMED_OUT_UNKNOWN, CLOSED -> outcomeUnknown(id, cause);
    };
  }

  private static IsoldeException outcomeUnknown(UUID id, Throwable cause) {
    return IsoldeException.of(
        ErrorCode.OUTCOME_UNKNOWN,
        "The oracle did not answer in time whether the transaction is committed: "
            + cause.getMessage()
            + " COMMIT with the same transaction id tells.",
        "transaction",
        id);
  }
}
