// SPDX-License-Identifier: Apache-2.0
package io.isolde.conflict;

import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import io.isolde.read.ReadRecorder;
import io.isolde.version.ConflictUnit;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.apache.cassandra.db.Clustering;
import org.apache.cassandra.db.DataRange;
import org.apache.cassandra.db.DecoratedKey;
import org.apache.cassandra.db.filter.ClusteringIndexFilter;
import org.apache.cassandra.db.filter.ClusteringIndexNamesFilter;
import org.apache.cassandra.schema.ColumnMetadata;
import org.apache.cassandra.schema.TableMetadata;

/** What a serializable transaction has read, as ids for the oracle. Thread-safe and bounded. */
public final class ReadSet implements ReadRecorder {
  private final int maxReads;
  private final Map<Long, Granule> granules = new HashMap<>();
  private final Set<Long> locked = new HashSet<>();

  /**
   * An empty set.
   *
   * @param maxReads ids; at the bound a read fails as too large, and the transaction can't commit
   */
  public ReadSet(int maxReads) {
    this.maxReads = maxReads;
  }

  /** What a read of everything in some tables would record. */
  public static ReadSet ofAll(Collection<TableMetadata> tables) {
    ReadSet all = new ReadSet(Integer.MAX_VALUE);
    tables.forEach(table -> all.range(table, DataRange.allData(table.partitioner)));
    return all;
  }

  @Override
  public synchronized void partition(
      TableMetadata table, DecoratedKey key, ClusteringIndexFilter rows, boolean statics) {
    if (!(rows instanceof ClusteringIndexNamesFilter names)) {
      add(RowIds.partition(table, key), new Granule(table, key, null));
      return;
    }
    for (Clustering<?> row : names.requestedRows()) {
      add(RowIds.row(table, key, row), new Granule(table, key, row));
    }
    if (statics) {
      Clustering<?> row = Clustering.STATIC_CLUSTERING;
      add(RowIds.row(table, key, row), new Granule(table, key, row));
    }
    add(RowIds.sweep(table, key), new Granule(table, key, null));
  }

  @Override
  public synchronized void range(TableMetadata table, DataRange range) {
    Granule granule = new Granule(table, null, null);
    for (long bucket : RowIds.buckets(table, range.keyRange())) {
      add(bucket, granule);
    }
  }

  @Override
  public synchronized void matching(
      TableMetadata table, DataRange range, Collection<Condition> conditions) {
    Granule granule = new Granule(table, null, null);
    for (Condition condition : conditions) {
      ColumnMetadata column = condition.column();
      add(
          condition.value() == null || !RowIds.hasValueIds(column)
              ? RowIds.column(table, column)
              : RowIds.value(table, column, condition.value()),
          granule);
    }
  }

  /** A row was locked: it counts as read, and for others as written, also if they delete it. */
  public synchronized void locked(long id, Granule row) {
    locked.add(id);
    locked.add(RowIds.partition(row.table(), row.key()));
    if (ConflictUnit.now(row.table()) == ConflictUnit.CELL) {
      locked.add(RowIds.rowSweep(id));
    }
    add(id, row);
    add(RowIds.sweep(row.table(), row.key()), new Granule(row.table(), row.key(), null));
  }

  /** The ids that count as written, though their rows were only locked. */
  public synchronized Set<Long> locked() {
    return Set.copyOf(locked);
  }

  private void add(long id, Granule granule) {
    granules.putIfAbsent(id, granule);
    if (granules.size() > maxReads) {
      throw IsoldeException.of(
          ErrorCode.TRANSACTION_TOO_LARGE,
          "The transaction reads more than "
              + maxReads
              + " rows and ranges; use READ ONLY, or raise transaction_max_reads.",
          "limit",
          "transaction_max_reads");
    }
  }

  public synchronized long[] ids() {
    long[] ids = new long[granules.size()];
    int i = 0;
    for (long id : granules.keySet()) {
      ids[i++] = id;
    }
    return ids;
  }

  public synchronized Set<TableMetadata> tables() {
    Set<TableMetadata> tables = new HashSet<>();
    granules.values().forEach(granule -> tables.add(granule.table()));
    return tables;
  }

  public synchronized int size() {
    return granules.size();
  }

  /** Returns null if nothing with this id was read. */
  public synchronized Granule find(long id) {
    return granules.get(id);
  }
}
