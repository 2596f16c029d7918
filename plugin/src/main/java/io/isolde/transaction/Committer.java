// SPDX-License-Identifier: Apache-2.0
package io.isolde.transaction;

import com.google.common.util.concurrent.ThreadFactoryBuilder;
import io.isolde.answer.Answers;
import io.isolde.apply.AppliedByOthers;
import io.isolde.apply.ApplyThreads;
import io.isolde.apply.MutationApplier;
import io.isolde.apply.WriteSetCodec;
import io.isolde.config.NodeClock;
import io.isolde.config.TransactionSettings;
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
import io.isolde.oracle.replica.Command;
import io.isolde.replicated.Oracle;
import java.util.Collection;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.exceptions.UnavailableException;
import org.apache.cassandra.utils.NoSpamLogger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Decides, applies and makes visible: the second half of a transaction's life. */
final class Committer {
  private static final ReadSet NOTHING_READ = new ReadSet(1);

  private static final byte[] NOTHING = {};

  /** A commit on its way. */
  private record Job(
      CommitRequest request,
      WriteSet writes,
      Collection<PartitionUpdate> updates,
      Executor applying,
      long timeoutMillis,
      Runnable checkingAgain,
      CommitMemory.Share share) {}

  private static final long IDLE_SECONDS = 10;

  private static final Logger logger = LoggerFactory.getLogger(Committer.class);

  /** For commits that wait for others in doubt: as many as may wait. Refuses the next. */
  private static final Executor DOUBTING = doubting();

  private final Oracle oracle;
  private final MutationApplier applier;
  private final InDoubt inDoubt;
  private final LargeCommits large;
  private final CommitMemory memory;
  private final long commitTimeoutMillis;
  private final CommitLimits limits;
  private final TransactionListener listener;
  private final PassedConflicts passedConflicts;

  Committer(
      Oracle oracle,
      MutationApplier applier,
      InDoubt inDoubt,
      CommitMemory memory,
      TransactionSettings settings,
      TransactionListener listener) {
    this.oracle = oracle;
    this.applier = applier;
    this.inDoubt = inDoubt;
    this.large = new LargeCommits(oracle);
    this.passedConflicts = new PassedConflicts(oracle, settings.commitTimeoutMillis());
    this.memory = memory;
    this.commitTimeoutMillis = settings.commitTimeoutMillis();
    this.limits =
        new CommitLimits(oracle.maxCommitBytes(), settings.maxWriteBytes(), commitTimeoutMillis);
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
    long bytes = updates.stream().mapToLong(PartitionUpdate::dataSize).sum();
    limits.checkSize(transactionId, bytes);
    CommitMemory.Share share = memory.share(bytes);
    try {
      return commit(transactionId, level, startTimestamp, reads, updates, bytes, share)
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
      long bytes,
      CommitMemory.Share share) {
    check(transactionId, updates);
    WriteSet writes = WriteSet.of(updates, reads.locked());
    CommitRequest request =
        new CommitRequest(
            transactionId,
            level,
            startTimestamp,
            reads.ids(),
            writes.overwrites(),
            writes.writes());
    long timeoutMillis = limits.timeoutMillis(bytes);
    long deadlineNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMillis);
    boolean isLarge = limits.isLarge(request, bytes);
    byte[] writeSet = isLarge ? NOTHING : WriteSetCodec.encode(updates);
    limits.checkFits(request, writeSet);
    if (inDoubt.await(request.overwrites(), startTimestamp, writes::find, transactionId)) {
      check(transactionId, updates); // That was long ago.
    }
    Runnable checking = () -> check(transactionId, updates);
    Runnable checkingAgain =
        isLarge ? Tables.unchanged(updates, transactionId, checking) : checking;
    Job job =
        new Job(
            request,
            writes,
            updates,
            ApplyThreads.of(updates),
            timeoutMillis,
            checkingAgain,
            share);
    CompletableFuture<Decision> decision =
        isLarge
            ? large
                .stage(updates, timeoutMillis, job.checkingAgain)
                .thenCompose(staged -> decideStaged(job, staged, deadlineNanos))
            : decideAtOnce(job, writeSet);
    return decision.thenCompose(decided -> commitTimestamp(decided, request, reads, writes));
  }

  private CompletableFuture<Decision> decideAtOnce(Job job, byte[] writeSet) {
    boolean isLeaderAsked = applier.isLeaderAsked(writeSet.length);
    return decide(job, () -> oracle.commit(job.request, writeSet, isLeaderAsked))
        .thenCompose(
            first -> orAfterDoubt(first, job, () -> oracle.commit(job.request, writeSet, false)));
  }

  private CompletableFuture<Decision> decideStaged(
      Job job, Command.Staged staged, long deadlineNanos) {
    return decideWithRoom(job, staged, deadlineNanos)
        .whenComplete(
            (decision, failure) -> {
              boolean isDecided = decision != null && !(decision instanceof Decision.Refused);
              if (!isDecided) {
                large.giveUp(staged.id()); // If it is decided after all, there is nothing to drop.
              }
            });
  }

  /**
   * While other large commits are applied, it may have to wait for them: until there is room, or as
   * they write the same rows. Its writes are staged already.
   */
  private CompletableFuture<Decision> decideWithRoom(
      Job job, Command.Staged staged, long deadlineNanos) {
    return decide(job, () -> oracle.commitStaged(job.request, staged))
        .thenCompose(
            decision -> {
              boolean isAskedAgain =
                  decision instanceof Decision.Refused refused
                      && refused.reason() != Refusal.ID_TAKEN
                      && System.nanoTime() - deadlineNanos < 0;
              return isAskedAgain
                  ? LargeCommits.afterPause(job.checkingAgain)
                      .thenCompose(now -> decideWithRoom(job, staged, deadlineNanos))
                  : CompletableFuture.completedFuture(decision);
            });
  }

  private CompletableFuture<Decision> orAfterDoubt(
      Decision first, Job job, Supplier<CompletableFuture<Decided>> asking) {
    return first instanceof Decision.Refused refused && refused.reason() == Refusal.IN_DOUBT
        ? decideAfterDoubt(job, asking)
        : CompletableFuture.completedFuture(first);
  }

  /** Once more, knowing what is in doubt. */
  private CompletableFuture<Decision> decideAfterDoubt(
      Job job, Supplier<CompletableFuture<Decided>> asking) {
    UUID id = job.request.transactionId();
    Runnable waiting =
        () -> {
          inDoubt.lookAgain();
          var unused =
              inDoubt.await(job.request.overwrites(), Long.MAX_VALUE, job.writes::find, id);
          job.checkingAgain.run();
        };
    try {
      return CompletableFuture.runAsync(waiting, DOUBTING)
          .thenCompose(ready -> decide(job, asking));
    } catch (RejectedExecutionException tooMany) {
      throw CommitErrors.refused(id, Refusal.IN_DOUBT);
    }
  }

  private CompletableFuture<Long> commitTimestamp(
      Decision decision, CommitRequest request, ReadSet reads, WriteSet writes) {
    if (decision instanceof Decision.Aborted aborted) {
      return passedConflicts
          .passed(aborted.conflict())
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
  private CompletableFuture<Decision> decide(Job job, Supplier<CompletableFuture<Decided>> asking) {
    // Nothing may fail between the next line but one and the end.
    long askedNanos = System.nanoTime();
    CompletableFuture<Decided> decided = asking.get();
    CompletableFuture<Void> visible =
        decided.thenCompose(
            how -> makeVisible(how, job.request.overwrites(), job.updates, job.applying));
    // A commit that is not applied in time goes on, and needs its writes for that.
    job.share.hold();
    var unused =
        visible.whenComplete(
            (done, failure) -> {
              job.share.release();
              warnIfFailed(decided, failure);
            });
    return decided.thenCompose(
        how ->
            how.decision() instanceof Decision.Committed committed
                ? Answers.inTime(visible, job.timeoutMillis)
                    .thenApply(
                        isVisible -> {
                          if (!isVisible) {
                            listener.applyPending();
                            throw CommitErrors.pending(
                                job.request.transactionId(), committed.commitTimestamp());
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
                    updates, commitTimestamp, AppliedByOthers.of(oracle, commitTimestamp)),
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
    if (!Answers.await(Answers.inTime(visible, commitTimeoutMillis))) {
      visible.cancel(false);
      throw CommitErrors.pending(transactionId, commitTimestamp);
    }
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
