// SPDX-License-Identifier: Apache-2.0
package io.isolde.transaction;

import com.google.common.util.concurrent.Uninterruptibles;
import io.isolde.apply.Denylist;
import io.isolde.apply.ListCellPaths;
import io.isolde.apply.Stamp;
import io.isolde.apply.StrongTables;
import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import io.isolde.read.FoundRows;
import io.isolde.read.LockingSelect;
import io.isolde.read.OwnWrites;
import io.isolde.read.ReadRecorder;
import io.isolde.read.Snapshot;
import io.isolde.read.SnapshotSelect;
import io.isolde.replicated.Oracle;
import io.isolde.statement.BoundWrite;
import io.isolde.statement.ClientRequest;
import io.isolde.statement.StatementMutations;
import io.isolde.version.VersionIndex;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.apache.cassandra.cql3.QueryOptions;
import org.apache.cassandra.cql3.statements.SelectStatement;
import org.apache.cassandra.db.ConsistencyLevel;
import org.apache.cassandra.db.ReadQuery;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.transport.messages.ResultMessage;

/**
 * Runs SELECT, INSERT, UPDATE, DELETE and BATCH on transactional tables: in a transaction, or as a
 * transaction of one statement.
 */
public final class DataStatements {
  /** A snapshot of one statement that has become too old is replaced by a newer one. */
  static final int READ_ATTEMPTS = 8;

  /** Ever longer, 2.1 s in all: about a lease, after which others finish what was under way. */
  static final long READ_PAUSE_MILLIS = 100;

  private final Oracle oracle;
  private final Committer committer;
  private final InDoubt inDoubt;
  private final StrongTables strong;
  private final LockingReads locking;

  DataStatements(
      Oracle oracle,
      Committer committer,
      InDoubt inDoubt,
      StrongTables strong,
      LockingReads locking) {
    this.strong = strong;
    this.locking = locking;
    this.oracle = oracle;
    this.committer = committer;
    this.inDoubt = inDoubt;
  }

  /** A SELECT in a transaction: from its snapshot, with its own writes, and recorded. */
  public ResultMessage.Rows select(
      Transaction transaction,
      SelectStatement select,
      QueryOptions options,
      ClientRequest request) {
    VersionIndex versions = check(select, options, request);
    transaction.enter();
    try {
      return read(transaction, select, versions, options, request, FoundRows.NONE);
    } catch (IsoldeException e) {
      throw e.errorCode() == ErrorCode.SNAPSHOT_TOO_OLD && transaction.isAsOf()
          ? TooOld.asOf(transaction, e)
          : e;
    } finally {
      transaction.leave();
    }
  }

  private ResultMessage.Rows read(
      Transaction transaction,
      SelectStatement select,
      VersionIndex versions,
      QueryOptions options,
      ClientRequest request,
      FoundRows found) {
    long asOf = transaction.startTimestamp();
    ReadRecorder recorder = InDoubtWait.of(inDoubt, asOf, transaction.id(), transaction.recorder());
    Snapshot snapshot =
        new Snapshot(asOf, versions, transaction.writes(), recorder, replicas(select), found);
    return read(
        select, snapshot, transaction.id(), at(options, transaction.nowInSeconds()), request);
  }

  /** SELECT … FOR UPDATE in a transaction. Waits on this thread. */
  public ResultMessage.Rows select(
      Transaction transaction, LockingSelect select, QueryOptions options, ClientRequest request) {
    VersionIndex versions = check(select, options, request);
    requireWriting(transaction);
    QueryOptions unpaged = withoutPages(options);
    return locking.select(
        transaction,
        select,
        at(unpaged, transaction.nowInSeconds()),
        request,
        found -> read(transaction, select, versions, unpaged, request, found));
  }

  /** All that is returned is locked, so all of it comes at once. */
  private static QueryOptions withoutPages(QueryOptions options) {
    return QueryOptions.create(
        options.getConsistency(),
        options.getValues(),
        options.skipMetadata(),
        -1,
        null,
        options.getSerialConsistency(),
        options.getProtocolVersion(),
        options.getKeyspace());
  }

  /**
   * A SELECT outside of a transaction: from the newest snapshot that this node has heard of; at
   * SERIAL, from the newest of all.
   */
  public ResultMessage.Rows select(
      SelectStatement select, QueryOptions options, ClientRequest request) {
    VersionIndex versions = check(select, options, request);
    boolean isSerial = options.getConsistency().isSerialConsistency();
    for (int attempt = 1; ; attempt++) {
      // What this node knows of costs nothing, but may be older than the table's new beginning.
      long newest = attempt == 1 && !isSerial ? oracle.stableSoFar() : oracle.stable();
      ReadRecorder recorder = InDoubtWait.of(inDoubt, newest, null, ReadRecorder.NONE);
      Snapshot snapshot =
          new Snapshot(newest, versions, OwnWrites.NONE, recorder, replicas(select));
      try {
        return read(
            select, snapshot, null, at(options, nowInSeconds(options, newest, request)), request);
      } catch (IsoldeException e) {
        if (!SnapshotErrors.mayPass(e) || attempt == READ_ATTEMPTS) {
          throw e;
        }
      }
      // After a restart, until what was under way is finished, all snapshots are from before it.
      Uninterruptibles.sleepUninterruptibly(
          (attempt - 1) * READ_PAUSE_MILLIS, TimeUnit.MILLISECONDS);
    }
  }

  private UnaryOperator<ReadQuery> replicas(SelectStatement select) {
    return strong.isStrong(select.keyspace()) ? strong::atLeaders : Snapshot.FROM_REPLICAS;
  }

  private static VersionIndex check(
      SelectStatement select, QueryOptions options, ClientRequest request) {
    VersionIndex versions = Tables.requireTransactional(select.table);
    StatementValidator.check(select);
    if (select.getRestrictions().needFiltering(select.table)
        || select.getRestrictions().usesSecondaryIndexing()) {
      // At ONE nothing is refused because of replicas that differ: rows are merged before filters.
      QueryOptions atOne = QueryOptions.withConsistencyLevel(options, ConsistencyLevel.ONE);
      StatementValidator.check(
          select, select.getRowFilter(atOne, request.state().getClientState()));
    }
    return versions;
  }

  private static ResultMessage.Rows read(
      SelectStatement select,
      Snapshot snapshot,
      UUID transactionId,
      QueryOptions options,
      ClientRequest request) {
    return SnapshotErrors.reading(
        select.table,
        snapshot,
        transactionId,
        () ->
            new SnapshotSelect(select, snapshot)
                .execute(request.state(), options, request.requestTime()));
  }

  /** Writes in a transaction: kept until it commits. All of them, or none. */
  public void write(Transaction transaction, List<BoundWrite> writes, ClientRequest request) {
    check(transaction, writes, request);
    transaction.enterWriting();
    try {
      requireSame(transaction, writes);
      List<PartitionUpdate> all = updates(transaction, writes, request);
      Denylist.checkWrites(all);
      transaction.writes().add(all); // Together, since a later one may be refused.
    } finally {
      transaction.leaveWriting();
    }
  }

  /** Before a transaction writes. */
  static void check(Transaction transaction, List<BoundWrite> writes, ClientRequest request) {
    check(writes);
    ClientTimestamps.warnIfIgnored(writes, request);
    requireWriting(transaction);
  }

  private static void requireWriting(Transaction transaction) {
    if (transaction.isReadOnly()) {
      throw IsoldeException.of(
          ErrorCode.READ_ONLY_TRANSACTION,
          "The transaction is READ ONLY (AS OF implies it).",
          "transaction",
          transaction.id());
    }
  }

  /** The tables are those that the transaction has seen at its start. */
  static void requireSame(Transaction transaction, List<BoundWrite> writes) {
    for (BoundWrite write : writes) {
      Tables.requireWritable(
          write.statement().metadata(), transaction.startTimestamp(), transaction.id());
    }
  }

  /** What statements of a transaction write. Later ones win, also within a batch. */
  static List<PartitionUpdate> updates(
      Transaction transaction, List<BoundWrite> writes, ClientRequest request) {
    List<PartitionUpdate> all = new ArrayList<>();
    for (BoundWrite write : writes) {
      long timestamp = transaction.writes().nextTimestamp(transaction.startTimestamp());
      List<PartitionUpdate> updates =
          updates(write, timestamp, transaction.nowInSeconds(), request);
      updates.replaceAll(update -> ListCellPaths.at(timestamp, update));
      all.addAll(updates);
    }
    return all;
  }

  /**
   * Writes outside of a transaction: committed together, at once. Completes when all that begins
   * from then on sees it; may fail as this method does.
   */
  public CompletableFuture<?> write(List<BoundWrite> writes, ClientRequest request) {
    check(writes);
    ClientTimestamps.warnIfIgnored(writes, request);
    long newest = oracle.stableSoFar();
    List<PartitionUpdate> updates = together(writes, newest, request);
    Denylist.checkWrites(updates);
    return updates.isEmpty()
        ? CompletableFuture.completedFuture(null)
        : committer.commitBlindly(newest, updates);
  }

  /**
   * What statements write together, as if one came after the other; not stamped yet.
   *
   * @param newest the newest snapshot, or 0: what expires lives from then on, or from now on
   */
  public static List<PartitionUpdate> together(
      List<BoundWrite> writes, long newest, ClientRequest request) {
    List<PartitionUpdate> updates = new ArrayList<>();
    if (writes.size() == 1) {
      updates.addAll(
          updates(
              writes.get(0),
              Stamp.PROVISIONAL_MICROS,
              nowInSeconds(writes.get(0).options(), newest, request),
              request));
    } else {
      WriteBuffer merged = new WriteBuffer(Long.MAX_VALUE, CommitMemory.unbounded());
      for (BoundWrite write : writes) {
        long timestamp = merged.nextTimestamp(Stamp.PROVISIONAL_MICROS);
        merged.add(
            updates(write, timestamp, nowInSeconds(write.options(), newest, request), request));
      }
      updates.addAll(merged.all());
    }
    return updates;
  }

  /**
   * The time of transactions is that of their snapshots, which may be ahead of this node's clock:
   * what they see as expired must not live on outside of them, nor end at once what begins there.
   */
  static long nowInSeconds(QueryOptions options, long newest, ClientRequest request) {
    long ofNode = request.state().getNowInSeconds();
    long asked = options.getNowInSeconds(request.state());
    return asked == ofNode ? Math.max(ofNode, TimeUnit.MICROSECONDS.toSeconds(newest)) : asked;
  }

  static void check(List<BoundWrite> writes) {
    for (BoundWrite write : writes) {
      StatementValidator.check(write.statement());
      Tables.requireTransactional(write.statement().metadata());
    }
  }

  static List<PartitionUpdate> updates(
      BoundWrite write, long timestamp, long nowInSeconds, ClientRequest request) {
    return StatementMutations.of(
        write.statement(),
        request.state().getClientState(),
        write.options(),
        timestamp,
        nowInSeconds,
        request.requestTime());
  }

  /**
   * Reads go to a quorum, whatever was asked for: a commit is on a quorum, and one replica alone
   * may not have it yet.
   */
  static QueryOptions at(QueryOptions options, long nowInSeconds) {
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
