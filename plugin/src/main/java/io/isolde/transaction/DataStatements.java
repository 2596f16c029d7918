// SPDX-License-Identifier: Apache-2.0
package io.isolde.transaction;

import com.google.common.util.concurrent.Uninterruptibles;
import io.isolde.config.NodeClock;
import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import io.isolde.read.OwnWrites;
import io.isolde.read.ReadRecorder;
import io.isolde.read.Snapshot;
import io.isolde.read.SnapshotSelect;
import io.isolde.version.SnapshotTooOldException;
import io.isolde.version.VersionIndex;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.apache.cassandra.cql3.QueryOptions;
import org.apache.cassandra.cql3.statements.ModificationStatement;
import org.apache.cassandra.cql3.statements.SelectStatement;
import org.apache.cassandra.db.ConsistencyLevel;
import org.apache.cassandra.db.ReadQuery;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.exceptions.ReadFailureException;
import org.apache.cassandra.exceptions.RequestFailureReason;
import org.apache.cassandra.service.QueryState;
import org.apache.cassandra.transport.Dispatcher;
import org.apache.cassandra.transport.messages.ResultMessage;

/**
 * Runs SELECT, INSERT, UPDATE, DELETE and BATCH on transactional tables: in a transaction, or as a
 * transaction of one statement.
 */
public final class DataStatements {
  /** A snapshot of one statement that has become too old is replaced by a newer one. */
  private static final int READ_ATTEMPTS = 8;

  /** Ever longer, 2.1 s in all: about a lease, after which others finish what was under way. */
  private static final long READ_PAUSE_MILLIS = 100;

  private final Oracle oracle;
  private final Committer committer;
  private final InDoubt inDoubt;
  private final StrongTables strong;

  DataStatements(Oracle oracle, Committer committer, InDoubt inDoubt, StrongTables strong) {
    this.strong = strong;
    this.oracle = oracle;
    this.committer = committer;
    this.inDoubt = inDoubt;
  }

  /** A statement of a batch with its own bound values, or a single one. */
  public record Write(ModificationStatement statement, QueryOptions options) {}

  /** The request that a statement came with. */
  public record Request(QueryState state, Dispatcher.RequestTime requestTime) {}

  /** A SELECT in a transaction: from its snapshot, with its own writes, and recorded. */
  public ResultMessage.Rows select(
      Transaction transaction, SelectStatement select, QueryOptions options, Request request) {
    VersionIndex versions = check(select, options, request);
    transaction.enter();
    try {
      long asOf = transaction.startTimestamp();
      ReadRecorder recorder = ReadGuard.of(inDoubt, asOf, transaction.id(), transaction.recorder());
      Snapshot snapshot =
          new Snapshot(asOf, versions, transaction.writes(), recorder, replicas(select));
      return read(select, snapshot, at(options, transaction.nowInSeconds()), request);
    } finally {
      transaction.leave();
    }
  }

  /**
   * A SELECT outside of a transaction: from the newest snapshot that this node has heard of; at
   * SERIAL, from the newest of all.
   */
  public ResultMessage.Rows select(SelectStatement select, QueryOptions options, Request request) {
    VersionIndex versions = check(select, options, request);
    QueryOptions quorum = at(options, options.getNowInSeconds(request.state));
    boolean isSerial = options.getConsistency().isSerialConsistency();
    for (int attempt = 1; ; attempt++) {
      // What this node knows of costs nothing, but may be older than the table's new beginning.
      long newest = attempt == 1 && !isSerial ? oracle.stableSoFar() : oracle.stable();
      ReadRecorder recorder = ReadGuard.of(inDoubt, newest, null, ReadRecorder.NONE);
      Snapshot snapshot =
          new Snapshot(newest, versions, OwnWrites.NONE, recorder, replicas(select));
      try {
        return read(select, snapshot, quorum, request);
      } catch (IsoldeException e) {
        if (e.errorCode() != ErrorCode.SNAPSHOT_TOO_OLD || attempt == READ_ATTEMPTS) {
          throw e;
        }
      }
      // After a restart, until what was under way is finished, all snapshots are from before it.
      Uninterruptibles.sleepUninterruptibly(
          (attempt - 1) * READ_PAUSE_MILLIS, TimeUnit.MILLISECONDS);
    }
  }

  private UnaryOperator<ReadQuery> replicas(SelectStatement select) {
    return strong.isStrong(select.keyspace()) ? strong::atLeaders : UnaryOperator.identity();
  }

  private static VersionIndex check(SelectStatement select, QueryOptions options, Request request) {
    VersionIndex versions = Tables.requireTransactional(select.table);
    StatementGuard.check(select);
    if (select.getRestrictions().needFiltering(select.table)) {
      StatementGuard.check(select, select.getRowFilter(options, request.state.getClientState()));
    }
    return versions;
  }

  private static ResultMessage.Rows read(
      SelectStatement select, Snapshot snapshot, QueryOptions options, Request request) {
    throwIfTooOld(snapshot, null);
    try {
      return new SnapshotSelect(select, snapshot)
          .execute(request.state, options, request.requestTime);
    } catch (ReadFailureException e) {
      throwIfTooOld(snapshot, e);
      if (e.failureReasonByEndpoint.containsValue(RequestFailureReason.UNKNOWN)) {
        // A replica that can't vouch for that past, as after its restart, can't say so either.
        throw Transactions.tooOldElsewhere(snapshot.versions(), snapshot.asOf(), e);
      }
      throw e;
    } catch (SnapshotTooOldException e) {
      throw Transactions.tooOld(snapshot.versions(), snapshot.asOf(), e.horizon());
    }
  }

  private static void throwIfTooOld(Snapshot snapshot, RuntimeException cause) {
    Optional<IsoldeException> tooOld = Transactions.tooOld(snapshot.versions(), snapshot.asOf());
    if (tooOld.isPresent()) {
      if (cause != null) {
        tooOld.get().addSuppressed(cause);
      }
      throw tooOld.get();
    }
  }

  /** Writes in a transaction: kept until it commits. All of them, or none. */
  public void write(Transaction transaction, List<Write> writes, Request request) {
    check(writes);
    if (transaction.isReadOnly()) {
      throw IsoldeException.of(
          ErrorCode.READ_ONLY_TRANSACTION,
          "The transaction is READ ONLY (AS OF implies it).",
          "transaction",
          transaction.id());
    }
    transaction.enter();
    try {
      // Later statements win, also within a batch.
      List<PartitionUpdate> all = new ArrayList<>();
      for (Write write : writes) {
        long timestamp = transaction.writes().nextTimestamp(transaction.startTimestamp());
        List<PartitionUpdate> updates =
            updates(write, timestamp, transaction.nowInSeconds(), request);
        updates.replaceAll(update -> ListPlaces.at(timestamp, update));
        all.addAll(updates);
      }
      transaction.writes().add(all); // Together, since a later one may be refused.
    } finally {
      transaction.leave();
    }
  }

  /** Writes outside of a transaction: committed together, at once. */
  public void write(List<Write> writes, Request request) {
    check(writes);
    List<PartitionUpdate> updates = together(writes, request);
    if (!updates.isEmpty()) {
      committer.commitBlindly(oracle.stableSoFar(), updates);
    }
  }

  /**
   * What statements write together, as if one came after the other; not stamped yet. The
   * provisional timestamps are about now: who reads the updates from a log leaves out cells that
   * seem older than the moment in which their column was dropped, should there be one again.
   */
  public static List<PartitionUpdate> together(List<Write> writes, Request request) {
    List<PartitionUpdate> updates = new ArrayList<>();
    long aboutNow = NodeClock.nowMillis() * 1000;
    if (writes.size() == 1) {
      updates.addAll(
          updates(writes.get(0), aboutNow, nowInSeconds(writes.get(0), request), request));
    } else {
      WriteBuffer merged = new WriteBuffer(Long.MAX_VALUE);
      for (Write write : writes) {
        long timestamp = merged.nextTimestamp(aboutNow);
        merged.add(updates(write, timestamp, nowInSeconds(write, request), request));
      }
      updates.addAll(merged.all());
    }
    return updates;
  }

  private static long nowInSeconds(Write write, Request request) {
    return write.options.getNowInSeconds(request.state);
  }

  private static void check(List<Write> writes) {
    for (Write write : writes) {
      StatementGuard.check(write.statement);
      Tables.requireTransactional(write.statement.metadata());
    }
  }

  private static List<PartitionUpdate> updates(
      Write write, long timestamp, long nowInSeconds, Request request) {
    return StatementMutations.of(
        write.statement,
        request.state.getClientState(),
        write.options,
        timestamp,
        nowInSeconds,
        request.requestTime);
  }

  /**
   * Reads go to a quorum, whatever was asked for: a commit is on a quorum, and one replica alone
   * may not have it yet.
   */
  private static QueryOptions at(QueryOptions options, long nowInSeconds) {
    return QueryOptions.create(
        ConsistencyLevel.QUORUM,
        options.getValues(),
        options.skipMetadata(),
        options.getPageSize(),
        options.getPagingState(),
        ConsistencyLevel.SERIAL,
        options.getProtocolVersion(),
        options.getKeyspace(),
        Long.MIN_VALUE,
        nowInSeconds);
  }
}
