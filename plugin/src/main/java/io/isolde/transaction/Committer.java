// SPDX-License-Identifier: Apache-2.0
package io.isolde.transaction;

import com.google.common.base.Throwables;
import io.isolde.apply.ApplyThreads;
import io.isolde.apply.MutationApplier;
import io.isolde.apply.Stamp;
import io.isolde.apply.WriteSetCodec;
import io.isolde.config.NodeClock;
import io.isolde.conflict.Granule;
import io.isolde.conflict.ReadSet;
import io.isolde.conflict.WriteSet;
import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import io.isolde.oracle.CommitRequest;
import io.isolde.oracle.Conflict;
import io.isolde.oracle.Decision;
import io.isolde.oracle.IsolationLevel;
import io.isolde.oracle.Refusal;
import io.isolde.oracle.group.Decided;
import io.isolde.oracle.group.Stable;
import io.isolde.replicated.Oracle;
import java.util.Collection;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.exceptions.UnavailableException;
import org.apache.cassandra.utils.concurrent.UncheckedInterruptedException;

/** Decides, applies and makes visible: the second half of a transaction's life. */
final class Committer {
  /** What can't be applied for a second is in doubt, so that others pass it. */
  private static final long MAX_PASSING_MILLIS = 1_500;

  /** A quarter of the threads that serve clients: further ones are refused at once. */
  private static final int MAX_PASSING = 32;

  private static final ReadSet NOTHING_READ = new ReadSet(1);

  private final Oracle oracle;
  private final MutationApplier applier;
  private final InDoubt inDoubt;
  private final CommitMemory memory;
  private final long commitTimeoutMillis;
  private final TransactionListener listener;
  private final Semaphore passing = new Semaphore(MAX_PASSING);

  Committer(
      Oracle oracle,
      MutationApplier applier,
      InDoubt inDoubt,
      CommitMemory memory,
      long commitTimeoutMillis,
      TransactionListener listener) {
    this.oracle = oracle;
    this.applier = applier;
    this.inDoubt = inDoubt;
    this.memory = memory;
    this.commitTimeoutMillis = commitTimeoutMillis;
    this.listener = listener;
  }

  /** Commits writes that depend on nothing read: never a conflict. */
  long commitBlindly(long startTimestamp, Collection<PartitionUpdate> updates) {
    return commit(null, IsolationLevel.SERIALIZABLE, startTimestamp, NOTHING_READ, updates);
  }

  /**
   * Returns the commit timestamp when the writes are visible to every transaction that starts from
   * now on.
   *
   * @param transactionId null for a single statement, about which nobody can ask
   * @throws IsoldeException CONFLICT, CONFLICT_FORGOTTEN, ORACLE_OVERLOADED, TRANSACTION_TOO_LARGE:
   *     nothing is committed, and so with UNAVAILABLE; APPLY_PENDING: committed, and visible before
   *     long
   */
  long commit(
      UUID transactionId,
      IsolationLevel level,
      long startTimestamp,
      ReadSet reads,
      Collection<PartitionUpdate> updates) {
    CommitMemory.Share share =
        memory.share(updates.stream().mapToLong(PartitionUpdate::dataSize).sum());
    try {
      return commit(transactionId, level, startTimestamp, reads, updates, share);
    } finally {
      share.release();
    }
  }

  private long commit(
      UUID transactionId,
      IsolationLevel level,
      long startTimestamp,
      ReadSet reads,
      Collection<PartitionUpdate> updates,
      CommitMemory.Share share) {
    check(transactionId, updates);
    WriteSet writes = WriteSet.of(updates);
    CommitRequest request =
        new CommitRequest(
            transactionId,
            level,
            startTimestamp,
            reads.ids(),
            writes.overwrites(),
            writes.writes());
    byte[] writeSet = WriteSetCodec.encode(updates);
    checkFits(request, writeSet);
    if (inDoubt.await(request.overwrites(), startTimestamp, writes::find, transactionId)) {
      check(transactionId, updates); // That was long ago.
    }
    boolean isLeaderAsked = applier.isLeaderAsked(writeSet.length);
    Decision decision = decide(request, writeSet, updates, isLeaderAsked, share);
    if (decision instanceof Decision.Refused refused && refused.reason() == Refusal.IN_DOUBT) {
      // Once more, knowing what is in doubt.
      inDoubt.lookAgain();
      var unused = inDoubt.await(request.overwrites(), Long.MAX_VALUE, writes::find, transactionId);
      check(transactionId, updates);
      decision = decide(request, writeSet, updates, false, share);
    }
    if (decision instanceof Decision.Aborted aborted) {
      awaitPassed(aborted.conflict());
      throw conflict(transactionId, level, aborted.conflict(), reads, writes);
    }
    if (decision instanceof Decision.Refused refused) {
      throw refused(transactionId, refused.reason());
    }
    return ((Decision.Committed) decision).commitTimestamp();
  }

  /**
   * Returns the decision; if it is to commit, when that is visible.
   *
   * @throws IsoldeException APPLY_PENDING, and what the oracle throws
   */
  private Decision decide(
      CommitRequest request,
      byte[] writeSet,
      Collection<PartitionUpdate> updates,
      boolean isLeaderAsked,
      CommitMemory.Share share) {
    Executor applying =
        ApplyThreads.of(updates); // Nothing may fail between the next line and the end.
    long askedNanos = System.nanoTime();
    CompletableFuture<Decided> decided = oracle.commit(request, writeSet, isLeaderAsked);
    CompletableFuture<Void> visible =
        decided.thenCompose(how -> makeVisible(how, request.overwrites(), updates, applying));
    // A commit that is not applied in time goes on, and needs its writes for that.
    share.hold();
    var unused = visible.whenComplete((done, failure) -> share.release());
    boolean isVisible = isDone(visible, commitTimeoutMillis);
    Decision decision = await(decided).decision();
    if (decision instanceof Decision.Committed committed) {
      // It may have been the decision that took so long.
      if (!isVisible && !isDone(visible, commitTimeoutMillis)) {
        listener.applyPending();
        throw pending(request.transactionId(), committed.commitTimestamp());
      }
      listener.committed(System.nanoTime() - askedNanos);
    }
    return decision;
  }

  /**
   * What is committed is applied, however long it takes, and whoever waits for it: nobody sees its
   * rows until it is, and for a second nobody sees anything newer.
   */
  private CompletableFuture<Void> makeVisible(
      Decided decided, long[] overwrites, Collection<PartitionUpdate> updates, Executor applying) {
    if (!(decided.decision() instanceof Decision.Committed committed)) {
      return CompletableFuture.completedFuture(null);
    }
    long commitTimestamp = committed.commitTimestamp();
    long decidedNanos = System.nanoTime();
    if (decided.applied().isPresent()) {
      listener.appliedByLeader();
      return whenVisible(commitTimestamp, decided.applied());
    }
    // Not before what it replaces is applied.
    return inDoubt
        .whenApplied(overwrites, committed.applyAfter())
        .thenComposeAsync(
            ready ->
                applier.apply(
                    Stamp.mutations(updates, commitTimestamp),
                    () -> inDoubt.isApplied(commitTimestamp)),
            applying)
        .thenCompose(
            done -> {
              listener.applied(System.nanoTime() - decidedNanos);
              return whenVisible(commitTimestamp, Optional.empty());
            });
  }

  private CompletableFuture<Void> whenVisible(long commitTimestamp, Optional<Stable> byLeader) {
    long appliedNanos = System.nanoTime();
    return oracle
        .applied(commitTimestamp, byLeader)
        .thenRun(() -> listener.visible(System.nanoTime() - appliedNanos));
  }

  /**
   * Whoever tries again is to see what was in the way: until that is stable, each attempt would
   * begin below it and could only have the same conflict.
   */
  private void awaitPassed(Conflict conflict) {
    boolean isKnown =
        conflict.kind() == Conflict.Kind.READ_WRITE || conflict.kind() == Conflict.Kind.WRITE_WRITE;
    if (isKnown && passing.tryAcquire()) {
      try {
        CompletableFuture<Void> passed = oracle.whenStable(conflict.committedAt());
        if (!isDone(passed, Math.min(commitTimeoutMillis, MAX_PASSING_MILLIS))) {
          passed.cancel(false);
        }
      } finally {
        passing.release();
      }
    }
  }

  /** Refused here, where it is known that nothing is committed, and why. */
  private void checkFits(CommitRequest request, byte[] writeSet) {
    long ids =
        (long) request.reads().length + request.overwrites().length + request.writes().length;
    long bytes = writeSet.length + Long.BYTES * ids;
    if (bytes > oracle.maxCommitBytes()) {
      throw IsoldeException.of(
          ErrorCode.TRANSACTION_TOO_LARGE,
          "The commit takes "
              + bytes
              + " bytes, more than an entry of the oracle's log; write less in one.",
          "transaction",
          request.transactionId(),
          "limit_bytes",
          oracle.maxCommitBytes());
    }
  }

  /** A statement of its own gets the error that a plain one would get. */
  private void check(UUID transactionId, Collection<PartitionUpdate> updates) {
    try {
      applier.check(updates);
    } catch (UnavailableException e) {
      if (transactionId == null) {
        throw e;
      }
      throw IsoldeException.of(
          ErrorCode.UNAVAILABLE,
          "There is no live quorum for a part of the transaction: " + e.getMessage() + ".",
          "transaction",
          transactionId);
    }
  }

  /** For a client that asks again after a commit. */
  void awaitVisible(UUID transactionId, long commitTimestamp) {
    CompletableFuture<Void> visible = inDoubt.whenApplied(commitTimestamp);
    if (!isDone(visible, commitTimeoutMillis)) {
      visible.cancel(false);
      throw pending(transactionId, commitTimestamp);
    }
  }

  private static IsoldeException pending(UUID transactionId, long commitTimestamp) {
    return IsoldeException.of(
        ErrorCode.APPLY_PENDING,
        "The transaction is committed but not visible to all yet, it will be; do not run it"
            + " again.",
        "transaction",
        transactionId,
        "commit_timestamp",
        commitTimestamp);
  }

  private static boolean isDone(CompletableFuture<?> step, long timeoutMillis) {
    try {
      var unused = step.get(timeoutMillis, TimeUnit.MILLISECONDS);
      return true;
    } catch (TimeoutException | ExecutionException e) {
      return false; // If the oracle did not tell, the commit goes on in the background.
    } catch (InterruptedException e) {
      throw new UncheckedInterruptedException(e);
    }
  }

  /** Ends with the time-out of the oracle. */
  private static Decided await(CompletableFuture<Decided> decided) {
    try {
      return decided.get();
    } catch (ExecutionException e) {
      Throwables.throwIfUnchecked(e.getCause());
      throw new IllegalStateException(e.getCause());
    } catch (InterruptedException e) {
      throw new UncheckedInterruptedException(e);
    }
  }

  private static IsoldeException refused(UUID transactionId, Refusal reason) {
    return switch (reason) {
      case TOO_MANY_PENDING ->
          IsoldeException.of(
              ErrorCode.ORACLE_OVERLOADED,
              "Too many commits are waiting to be applied; nothing was committed, try again.",
              "transaction",
              transactionId);
      case IN_DOUBT ->
          IsoldeException.of(
              ErrorCode.UNAVAILABLE,
              "It writes rows of another commit that is decided but not applied yet, as its"
                  + " replicas or its coordinator do not answer; nothing was committed, try again.",
              "transaction",
              transactionId);
      case ID_TAKEN -> Transactions.idTaken(transactionId);
    };
  }

  private IsoldeException conflict(
      UUID transactionId, IsolationLevel level, Conflict conflict, ReadSet reads, WriteSet writes) {
    boolean serializable = level == IsolationLevel.SERIALIZABLE;
    Granule granule = serializable ? reads.find(conflict.id()) : writes.find(conflict.id());
    listener.conflicted(seen(transactionId, conflict, granule));
    if (conflict.kind() == Conflict.Kind.FORGOTTEN) {
      return IsoldeException.of(
          ErrorCode.CONFLICT_FORGOTTEN,
          "The transaction started before the oldest commit that is remembered, so a conflict"
              + " cannot be excluded; run it again.",
          "transaction",
          transactionId);
    }
    if (conflict.kind() == Conflict.Kind.REQUESTED) {
      return IsoldeException.of(
          ErrorCode.CONFLICT,
          "The transaction was aborted on request, to make sure that it is decided; run it again.",
          "transaction",
          transactionId);
    }
    assert granule != null : "the oracle reports an id that it was given";
    return IsoldeException.of(
        ErrorCode.CONFLICT,
        "The transaction "
            + (serializable ? "read " : "writes ")
            + granule.tableName()
            + " "
            + granule.keyName()
            + ", which another transaction has written since; run it again.",
        "transaction",
        transactionId,
        "table",
        granule.tableName(),
        "key",
        granule.keyName(),
        "kind",
        serializable ? "read_write" : "write_write",
        "committed_at",
        conflict.committedAt(),
        "by",
        conflict.by());
  }

  private static SeenConflict seen(UUID transactionId, Conflict conflict, Granule granule) {
    return new SeenConflict(
        NodeClock.nowMillis(),
        conflict.kind(),
        granule == null ? null : granule.table().keyspace,
        granule == null ? null : granule.table().name,
        granule == null ? null : granule.keyName(),
        transactionId,
        conflict.by(),
        conflict.committedAt());
  }
}
