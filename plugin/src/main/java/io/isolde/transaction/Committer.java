// SPDX-License-Identifier: Apache-2.0
package io.isolde.transaction;

import com.google.common.util.concurrent.ThreadFactoryBuilder;
import io.isolde.answer.Answers;
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
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.exceptions.UnavailableException;
import org.apache.cassandra.utils.NoSpamLogger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Decides, applies and makes visible: the second half of a transaction's life. */
final class Committer {
  /** What can't be applied for a second is in doubt, so that others pass it. */
  private static final long MAX_PASSING_MILLIS = 1_500;

  /** So many clients wait for what was in their way; further ones get their error at once. */
  private static final int MAX_PASSING = 32;

  private static final ReadSet NOTHING_READ = new ReadSet(1);

  private static final long IDLE_SECONDS = 10;

  private static final Logger logger = LoggerFactory.getLogger(Committer.class);

  /** For commits that wait for others in doubt: as many as may wait. Refuses the next. */
  private static final Executor DOUBTING = doubting();

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

  private static Executor doubting() {
    return new ThreadPoolExecutor(
        0,
        InDoubt.MAX_WAITING,
        IDLE_SECONDS,
        TimeUnit.SECONDS,
        new SynchronousQueue<>(),
        new ThreadFactoryBuilder().setNameFormat("IsoldeInDoubt-%d").setDaemon(true).build());
  }

  /** Commits writes that depend on nothing read: never a conflict. As {@link #commit}. */
  CompletableFuture<Long> commitBlindly(long startTimestamp, Collection<PartitionUpdate> updates) {
    return commit(null, IsolationLevel.SERIALIZABLE, startTimestamp, NOTHING_READ, updates);
  }

  /**
   * Completes with the commit timestamp when the writes are visible to every transaction that
   * starts from then on. Waits by itself only for rows that are in doubt.
   *
   * @param transactionId null for a single statement, about which nobody can ask
   * @return may fail as this method does
   * @throws IsoldeException CONFLICT, CONFLICT_FORGOTTEN, ORACLE_OVERLOADED, TRANSACTION_TOO_LARGE:
   *     nothing is committed, and so with UNAVAILABLE; APPLY_PENDING: committed, and visible before
   *     long
   */
  CompletableFuture<Long> commit(
      UUID transactionId,
      IsolationLevel level,
      long startTimestamp,
      ReadSet reads,
      Collection<PartitionUpdate> updates) {
    CommitMemory.Share share =
        memory.share(updates.stream().mapToLong(PartitionUpdate::dataSize).sum());
    try {
      return commit(transactionId, level, startTimestamp, reads, updates, share)
          .whenComplete((done, failure) -> share.release());
    } catch (RuntimeException | Error e) {
      share.release();
      throw e;
    }
  }

  private CompletableFuture<Long> commit(
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
    return decide(request, writeSet, updates, isLeaderAsked, share)
        .thenCompose(
            decision ->
                decision instanceof Decision.Refused refused && refused.reason() == Refusal.IN_DOUBT
                    ? decideAfterDoubt(request, writeSet, writes, updates, share)
                    : CompletableFuture.completedFuture(decision))
        .thenCompose(decision -> commitTimestamp(decision, request, reads, writes));
  }

  /** Once more, knowing what is in doubt. */
  private CompletableFuture<Decision> decideAfterDoubt(
      CommitRequest request,
      byte[] writeSet,
      WriteSet writes,
      Collection<PartitionUpdate> updates,
      CommitMemory.Share share) {
    UUID id = request.transactionId();
    Runnable waiting =
        () -> {
          inDoubt.lookAgain();
          var unused = inDoubt.await(request.overwrites(), Long.MAX_VALUE, writes::find, id);
          check(id, updates);
        };
    try {
      return CompletableFuture.runAsync(waiting, DOUBTING)
          .thenCompose(ready -> decide(request, writeSet, updates, false, share));
    } catch (RejectedExecutionException tooMany) {
      throw CommitErrors.refused(id, Refusal.IN_DOUBT);
    }
  }

  private CompletableFuture<Long> commitTimestamp(
      Decision decision, CommitRequest request, ReadSet reads, WriteSet writes) {
    if (decision instanceof Decision.Aborted aborted) {
      return passed(aborted.conflict())
          .thenApply(
              passed -> {
                throw conflict(request, aborted.conflict(), reads, writes);
              });
    }
    if (decision instanceof Decision.Refused refused) {
      throw CommitErrors.refused(request.transactionId(), refused.reason());
    }
    return CompletableFuture.completedFuture(((Decision.Committed) decision).commitTimestamp());
  }

  /**
   * Completes with the decision; if it is to commit, when that is visible. Fails with
   * APPLY_PENDING, and as the oracle does.
   */
  private CompletableFuture<Decision> decide(
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
    var unused =
        visible.whenComplete(
            (done, failure) -> {
              share.release();
              warnIfFailed(decided, failure);
            });
    return decided.thenCompose(
        how ->
            how.decision() instanceof Decision.Committed committed
                ? isDone(visible, commitTimeoutMillis)
                    .thenApply(
                        isVisible -> {
                          if (!isVisible) {
                            listener.applyPending();
                            throw CommitErrors.pending(
                                request.transactionId(), committed.commitTimestamp());
                          }
                          listener.committed(System.nanoTime() - askedNanos);
                          return committed;
                        })
                : CompletableFuture.completedFuture(how.decision()));
  }

  /**
   * What can't be decided is told to the client; that a decided commit fails, nobody else hears.
   */
  private static void warnIfFailed(CompletableFuture<Decided> decided, Throwable failure) {
    if (failure != null && !decided.isCompletedExceptionally()) {
      NoSpamLogger.log(
          logger,
          NoSpamLogger.Level.WARN,
          1,
          TimeUnit.SECONDS,
          "A commit is decided, but this node can't apply it: {}. Another node will.",
          String.valueOf(Answers.cause(failure)));
    }
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
   * begin below it and could only have the same conflict. Completes then, or when that takes long.
   */
  private CompletableFuture<Boolean> passed(Conflict conflict) {
    boolean isKnown =
        conflict.kind() == Conflict.Kind.READ_WRITE || conflict.kind() == Conflict.Kind.WRITE_WRITE;
    if (!isKnown || !passing.tryAcquire()) {
      return CompletableFuture.completedFuture(false);
    }
    CompletableFuture<Void> passed = oracle.whenStable(conflict.committedAt());
    return isDone(passed, Math.min(commitTimeoutMillis, MAX_PASSING_MILLIS))
        .whenComplete(
            (isPassed, failure) -> {
              passed.cancel(false);
              passing.release();
            });
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
    if (!Answers.await(isDone(visible, commitTimeoutMillis))) {
      visible.cancel(false);
      throw CommitErrors.pending(transactionId, commitTimestamp);
    }
  }

  /** Whether a step was done in time. If it fails, it goes on in the background, as a late one. */
  private static CompletableFuture<Boolean> isDone(CompletableFuture<?> step, long timeoutMillis) {
    CompletableFuture<Boolean> isDone = step.handle((done, failure) -> failure == null);
    return isDone.isDone()
        ? isDone
        : isDone.completeOnTimeout(false, timeoutMillis, TimeUnit.MILLISECONDS);
  }

  private IsoldeException conflict(
      CommitRequest request, Conflict conflict, ReadSet reads, WriteSet writes) {
    Granule ofReads = reads.find(conflict.id());
    boolean isOfWrites = conflict.kind() == Conflict.Kind.WRITE_WRITE || ofReads == null;
    Granule granule = isOfWrites ? writes.find(conflict.id()) : ofReads;
    listener.conflicted(seen(request.transactionId(), conflict, granule));
    return CommitErrors.conflict(request.transactionId(), conflict, granule);
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
