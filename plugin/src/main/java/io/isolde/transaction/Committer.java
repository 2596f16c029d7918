// SPDX-License-Identifier: Apache-2.0
package io.isolde.transaction;

import io.isolde.config.NodeClock;
import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import io.isolde.oracle.CommitRequest;
import io.isolde.oracle.Conflict;
import io.isolde.oracle.Decision;
import io.isolde.oracle.IsolationLevel;
import io.isolde.oracle.Refusal;
import java.util.Collection;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.cassandra.db.Mutation;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.exceptions.UnavailableException;
import org.apache.cassandra.utils.concurrent.UncheckedInterruptedException;

/** Decides, applies and makes visible: the second half of a transaction's life. */
final class Committer {
  private static final byte[] NOTHING = {};
  private static final ReadSet NOTHING_READ = new ReadSet(1);

  private final Oracle oracle;
  private final MutationApplier applier;
  private final long commitTimeoutMillis;
  private final TransactionListener listener;

  Committer(
      Oracle oracle,
      MutationApplier applier,
      long commitTimeoutMillis,
      TransactionListener listener) {
    this.oracle = oracle;
    this.applier = applier;
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
    byte[] writeSet = oracle.keepsWrites() ? WriteSetCodec.encode(updates) : NOTHING;
    checkFits(request, writeSet);
    long askedNanos = System.nanoTime();
    Decision decision = oracle.commit(request, writeSet);
    if (decision instanceof Decision.Aborted aborted) {
      throw conflict(transactionId, level, aborted.conflict(), reads, writes);
    }
    if (decision instanceof Decision.Refused refused) {
      throw refused(transactionId, refused.reason());
    }
    Decision.Committed committed = (Decision.Committed) decision;
    finish(transactionId, committed, Stamp.mutations(updates, committed.commitTimestamp()));
    listener.committed(System.nanoTime() - askedNanos);
    return committed.commitTimestamp();
  }

  /** Refused here, where it is known that nothing is committed, and why. */
  private void checkFits(CommitRequest request, byte[] writeSet) {
    long ids =
        (long) request.reads().length + request.overwrites().length + request.writes().length;
    long bytes = writeSet.length + Long.BYTES * ids;
    if (oracle.keepsWrites() && bytes > oracle.maxCommitBytes()) {
      throw IsoldeException.of(
          ErrorCode.TRANSACTION_TOO_LARGE,
          "The commit takes " + bytes + " bytes, more than an entry of the oracle's log.",
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

  /** From here on the transaction is committed, whatever happens. */
  private void finish(UUID transactionId, Decision.Committed committed, List<Mutation> mutations) {
    long deadlineNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(commitTimeoutMillis);
    boolean inTurn =
        committed.applyAfter() == 0
            || isDone(oracle.whenStable(committed.applyAfter()), deadlineNanos);
    if (inTurn && applier.applyUntil(mutations, deadlineNanos)) {
      awaitVisible(
          transactionId,
          committed.commitTimestamp(),
          oracle.applied(committed.commitTimestamp()),
          deadlineNanos);
      return;
    }
    // Nobody sees anything newer until it is applied, so it must be.
    applier.applyInBackground(
        () -> oracle.stableSoFar() >= committed.applyAfter(),
        mutations,
        () -> {
          var unused = oracle.applied(committed.commitTimestamp());
        });
    listener.applyPending();
    throw pending(transactionId, committed.commitTimestamp());
  }

  /** For a client that asks again after a commit. */
  void awaitVisible(UUID transactionId, long commitTimestamp) {
    long deadlineNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(commitTimeoutMillis);
    awaitVisible(transactionId, commitTimestamp, oracle.whenStable(commitTimestamp), deadlineNanos);
  }

  private static void awaitVisible(
      UUID transactionId,
      long commitTimestamp,
      CompletableFuture<Void> visible,
      long deadlineNanos) {
    if (!isDone(visible, deadlineNanos)) {
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

  private static boolean isDone(CompletableFuture<Void> stable, long deadlineNanos) {
    try {
      long waitNanos = Math.max(0, deadlineNanos - System.nanoTime());
      var unused = stable.get(waitNanos, TimeUnit.NANOSECONDS);
      return true;
    } catch (TimeoutException e) {
      stable.cancel(false);
      return false;
    } catch (InterruptedException e) {
      throw new UncheckedInterruptedException(e);
    } catch (ExecutionException e) {
      return false; // The oracle did not tell; the commit goes on in the background.
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
      case OUTCOME_FORGOTTEN ->
          IsoldeException.of(
              ErrorCode.OUTCOME_UNKNOWN,
              "The transaction may have been decided so long ago that it is forgotten.",
              "transaction",
              transactionId);
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
