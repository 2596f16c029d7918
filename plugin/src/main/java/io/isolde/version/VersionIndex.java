// SPDX-License-Identifier: Apache-2.0
package io.isolde.version;

import com.google.common.collect.ImmutableSet;
import io.isolde.error.ErrorCode;
import io.isolde.install.ActiveHandler;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.cassandra.cql3.Operator;
import org.apache.cassandra.cql3.statements.schema.IndexTarget;
import org.apache.cassandra.db.ColumnFamilyStore;
import org.apache.cassandra.db.DecoratedKey;
import org.apache.cassandra.db.ReadCommand;
import org.apache.cassandra.db.RegularAndStaticColumns;
import org.apache.cassandra.db.SystemKeyspace;
import org.apache.cassandra.db.WriteContext;
import org.apache.cassandra.db.filter.RowFilter;
import org.apache.cassandra.db.marshal.AbstractType;
import org.apache.cassandra.db.marshal.LongType;
import org.apache.cassandra.db.memtable.Memtable;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.exceptions.InvalidRequestException;
import org.apache.cassandra.index.Index;
import org.apache.cassandra.index.IndexRegistry;
import org.apache.cassandra.index.SingletonIndexGroup;
import org.apache.cassandra.index.SingletonIndexQueryPlan;
import org.apache.cassandra.index.transactions.IndexTransaction;
import org.apache.cassandra.schema.ColumnMetadata;
import org.apache.cassandra.schema.IndexMetadata;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.service.ClientState;

/**
 * Makes a table transactional: its write hook keeps what writes replace, its searcher answers as of
 * a timestamp, which travels to the replicas as the index expression ({@code expr(index, asOf)}).
 *
 * <p>Created by {@code ENABLE TRANSACTIONS}; since it is part of the schema, DESCRIBE and schema
 * backups carry it.
 */
public final class VersionIndex extends IndexInSchema {
  private final ColumnFamilyStore cfs;
  private final IndexMetadata index;
  private final NodeVersions node;
  private final TableVersions versions;
  private final MemtableWatch memtables;
  private final StreamWatch streams;
  private final StartWatch start;

  private final IndexedColumns indexedColumns;

  /** Transactions that started before can't use the table. */
  private volatile long since = Long.MIN_VALUE;

  private final AtomicLong begunAnewAt = new AtomicLong();

  /** Those that started before can't write to it. */
  private volatile long writersSince = Long.MIN_VALUE;

  /** The schema whose dropped columns have been looked at. */
  private volatile TableMetadata followed;

  /** Called by Cassandra, by reflection. */
  public VersionIndex(ColumnFamilyStore cfs, IndexMetadata index) {
    this.cfs = cfs;
    this.index = index;
    this.node = NodeVersions.ofThisNode();
    Horizon horizon = new Horizon();
    horizon.raise(node.clock().latestTimestamp());
    StartWatch.raise(horizon, cfs.getLiveSSTables());
    if (node.hasOracle()) { // Else this node has no transactions yet, and is about to start.
      since = node.clock().latestTimestamp();
    }
    long truncatedMillis = Math.max(0, SystemKeyspace.getTruncatedAt(cfs.metadata.id));
    begunAnewAt.set(TimeUnit.MILLISECONDS.toMicros(truncatedMillis));
    VersionStore store = new VersionStore(node.budget(), horizon);
    SSTableRetention retention =
        new SSTableRetention(
            cfs.getTracker(), node.clock(), horizon, node.settings().replacedSSTablesBytes());
    this.versions = new TableVersions(store, retention, horizon, node.newChangeLog());
    this.indexedColumns = new IndexedColumns(node.clock());
    indexedColumns.follow(cfs.metadata());
    this.memtables = new MemtableWatch(store);
    this.streams = new StreamWatch(horizon, versions.changes(), node.clock());
    this.start = new StartWatch(horizon, node::hasOracle);
  }

  /** Called by Cassandra, by reflection; returns the options that mean nothing here. */
  public static Map<String, String> validateOptions(
      Map<String, String> options, TableMetadata table) {
    ConflictUnit.validate(options);
    Map<String, String> unknown = new HashMap<>(options);
    unknown.keySet().remove(ConflictUnit.OPTION);
    unknown.keySet().remove(IndexTarget.TARGET_OPTION_NAME);
    return unknown;
  }

  public static String nameFor(String table) {
    return table + "_isolde_versions";
  }

  public TableVersions versions() {
    return versions;
  }

  /** The columns that have an index now. */
  public IndexedColumns indexedColumns() {
    followIndexes();
    return indexedColumns;
  }

  public TableMetadata table() {
    return cfs.metadata();
  }

  public ColumnFamilyStore store() {
    return cfs;
  }

  /**
   * The table was made transactional, or truncated: older snapshots of it can't be read.
   *
   * @param timestamp above all that the table had before
   */
  public void beginAnew(long timestamp) {
    raiseBeginning(timestamp);
    begunAnewAt.accumulateAndGet(timestamp, Math::max);
    node.changed(cfs.metadata.id);
  }

  private synchronized void raiseBeginning(long timestamp) {
    since = Math.max(since, timestamp);
    versions.horizon().raise(timestamp);
  }

  /**
   * When it last {@linkplain #beginAnew began anew}, as all nodes have heard, or lost a column;
   * what it lost then, no commit tells of. After a restart it is also the moment of the last
   * TRUNCATE, by a clock.
   */
  public long begunAnewAt() {
    followColumns();
    return begunAnewAt.get();
  }

  /** Transactions that started before can't commit what they write to the table. */
  public synchronized void refuseOlderWriters(long timestamp) {
    writersSince = Math.max(writersSince, timestamp);
  }

  /**
   * All that has a timestamp up to one is gone, for readers of the past too.
   *
   * @param hadOlder whether there was anything; then only readers who start now find none of it
   */
  public void truncated(long upTo, boolean hadOlder) {
    raiseBeginning(upTo);
    if (hadOlder) {
      long timestamp = node.clock().newTimestamp();
      versions.horizon().raise(timestamp);
      versions.store().truncated(timestamp);
    }
  }

  /**
   * What a column had is gone with it, for readers of the past too, and also if there is a column
   * of that name again: older snapshots would be read with it before, and without it afterwards.
   */
  @SuppressWarnings("ReferenceEquality") // a cheap look: each change of a table makes another one
  private void followColumns() {
    TableMetadata now = cfs.metadata();
    if (now == followed) {
      return;
    }
    long dropped = DroppedColumns.newestMicros(now);
    // A moment that is far ahead must not close the table before commits are near it.
    if (dropped <= node.clock().latestTimestamp() + VersionClock.MAX_AHEAD_MICROS) {
      followed = now;
      raiseBeginning(dropped);
      if (dropped > begunAnewAt.getAndAccumulate(dropped, Math::max)) {
        node.changed(now.id);
      }
    }
  }

  /** Whether a transaction that started then may use the table. */
  public boolean existedAt(long startTimestamp) {
    followColumns();
    return startTimestamp >= since;
  }

  /** Whether a transaction that started then may write to the table, if it may use it. */
  public boolean takesWritesOf(long startTimestamp) {
    return startTimestamp >= writersSince;
  }

  /** Grows with each change of the table after which some transactions can't write to it. */
  public long takesWritesSince() {
    followColumns();
    synchronized (this) {
      return Math.max(since, writersSince);
    }
  }

  /** The row filter that makes a read of this table answer as of a timestamp. */
  public RowFilter asOf(long timestamp) {
    return asOf(timestamp, RowFilter.none());
  }

  /** The same, for rows that match another filter then, too. */
  public RowFilter asOf(long timestamp, RowFilter filter) {
    return new AsOfRowFilter(table(), index, timestamp, filter);
  }

  @Override
  public void register(IndexRegistry registry) {
    node.register(cfs.metadata.id, this);
    versions.retention().open();
    cfs.getTracker().subscribe(memtables);
    cfs.getTracker().subscribe(streams);
    cfs.getTracker().subscribe(start);
    registry.registerIndex(this, new Group.Key(this), () -> new VersionIndexGroup(this));
  }

  /** Replaced SSTables are retained, so compactions need not report what they drop. */
  private static final class VersionIndexGroup extends SingletonIndexGroup {
    VersionIndexGroup(VersionIndex index) {
      super(index);
    }

    @Override
    public boolean handles(IndexTransaction.Type type) {
      return type == IndexTransaction.Type.UPDATE;
    }

    @Override
    public QueryPlan queryPlanFor(RowFilter filter) {
      VersionIndex versions = (VersionIndex) getIndex();
      return versions.selects(filter) ? new VersionQueryPlan(versions, filter) : null;
    }
  }

  private static final class VersionQueryPlan extends SingletonIndexQueryPlan {
    private final Set<Index> indexes;

    VersionQueryPlan(VersionIndex versions, RowFilter filter) {
      super(versions, RowFilter.none()); // The searcher filters, as another index may want it.
      QueryPlan others =
          versions.cfs.indexManager.getBestIndexQueryPlanFor(
              versions.getPostIndexQueryFilter(filter));
      indexes =
          others == null
              ? Set.of(versions)
              : ImmutableSet.<Index>builder().add(versions).addAll(others.getIndexes()).build();
    }

    /** Also those that this one will ask, so that replicas that still build them are left out. */
    @Override
    public Set<Index> getIndexes() {
      return indexes;
    }

    /** It would read some rows again, but not as of the timestamp; coordinators filter instead. */
    @Override
    public boolean supportsReplicaFilteringProtection(RowFilter filter) {
      return false;
    }
  }

  private boolean selects(RowFilter filter) {
    return filter.getExpressions().stream().anyMatch(this::isAsOf);
  }

  @Override
  public Indexer indexerFor(
      DecoratedKey key,
      RegularAndStaticColumns columns,
      long nowInSec,
      WriteContext context,
      IndexTransaction.Type type,
      Memtable memtable) {
    // No memtable: an index build over existing data, from which nothing is replaced.
    if (memtable == null || type != IndexTransaction.Type.UPDATE) {
      return null;
    }
    followIndexes();
    return new VersionWriter(cfs.metadata(), versions, node.clock(), key, memtable);
  }

  /** Which rows were written lately matters to other indexes only. */
  void followIndexes() {
    TableMetadata table = cfs.metadata();
    indexedColumns.follow(table);
    boolean isSearched = indexedColumns.isSearched();
    if (isSearched != versions.changes().isOn()) {
      versions.changes().setOn(isSearched, cfs.getTracker().getView());
    }
  }

  @Override
  public Searcher searcherFor(ReadCommand command) {
    followColumns();
    followIndexes();
    RowFilter filter = command.rowFilter();
    return new AsOfSearcher(
        versions, cfs, command, timestampOf(filter), getPostIndexQueryFilter(filter));
  }

  private long timestampOf(RowFilter filter) {
    for (RowFilter.Expression expression : filter) {
      if (isAsOf(expression)) {
        ByteBuffer value = ((RowFilter.CustomExpression) expression).getValue();
        return LongType.instance.compose(value);
      }
    }
    throw new InvalidRequestException("Index " + index.name + " takes expr(" + index.name + ", T)");
  }

  private boolean isAsOf(RowFilter.Expression expression) {
    return expression instanceof RowFilter.CustomExpression custom
        && custom.getTargetIndex().name.equals(index.name);
  }

  @Override
  public RowFilter getPostIndexQueryFilter(RowFilter filter) {
    RowFilter rest = filter;
    for (RowFilter.Expression expression : filter) {
      if (isAsOf(expression)) {
        rest = rest.without(expression);
      }
    }
    return rest;
  }

  /** The expression's column is made up by Cassandra and named like the index. */
  @Override
  public boolean supportsExpression(ColumnMetadata column, Operator operator) {
    return operator == Operator.EQ && column.name.toString().equals(index.name);
  }

  @Override
  public AbstractType<?> customExpressionValueType() {
    return LongType.instance;
  }

  /** Always preferred: other indexes know nothing of timestamps. */
  @Override
  public long getEstimatedResultRows() {
    return Long.MIN_VALUE;
  }

  @Override
  public boolean dependsOn(ColumnMetadata column) {
    return false;
  }

  /** Of what clients write by CQL, before it is written; what is internal has no client. */
  @Override
  public void validate(PartitionUpdate update, ClientState state) {
    if (!state.isInternal) {
      ActiveHandler.requireOurs(ErrorCode.UNSUPPORTED_TABLE);
    }
  }

  @Override
  public IndexMetadata getIndexMetadata() {
    return index;
  }

  @Override
  public Callable<?> getInvalidateTask() {
    return () -> {
      node.unregister(cfs.metadata.id, this);
      versions.retention().close();
      versions.changes().close();
      cfs.getTracker().unsubscribe(memtables);
      cfs.getTracker().unsubscribe(streams);
      cfs.getTracker().unsubscribe(start);
      return null;
    };
  }

  /** What is truncated is gone, for readers of the past too, and on every node. */
  @Override
  public Callable<?> getTruncateTask(long truncatedAt) {
    return () -> {
      long timestamp = node.clock().newTimestamp();
      raiseBeginning(timestamp);
      versions.store().truncated(timestamp);
      return null;
    };
  }
}
