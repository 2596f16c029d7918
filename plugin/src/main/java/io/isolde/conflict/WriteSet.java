// SPDX-License-Identifier: Apache-2.0
package io.isolde.conflict;

import io.isolde.version.ConflictUnit;
import io.isolde.version.NodeVersions;
import io.isolde.version.VersionIndex;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.apache.cassandra.db.DecoratedKey;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.db.rows.Cell;
import org.apache.cassandra.db.rows.ColumnData;
import org.apache.cassandra.db.rows.Row;
import org.apache.cassandra.schema.ColumnMetadata;
import org.apache.cassandra.schema.TableMetadata;

/** What a transaction writes, as ids for the oracle; see {@link RowIds}. */
public final class WriteSet {
  /** Ids whose earlier commits this one replaces, and what each stands for. */
  private final Map<Long, Granule> overwrites = new HashMap<>();

  /** Ids that this commit updates. */
  private final Set<Long> writes = new HashSet<>();

  private WriteSet() {}

  /**
   * What updates write.
   *
   * @param locked ids that count as written, too
   */
  public static WriteSet of(Collection<PartitionUpdate> updates, Set<Long> locked) {
    WriteSet set = new WriteSet();
    set.writes.addAll(locked);
    updates.forEach(set::add);
    return set;
  }

  private void add(PartitionUpdate update) {
    TableMetadata table = update.metadata();
    DecoratedKey key = update.partitionKey();
    long partition = RowIds.partition(table, key);
    long sweep = RowIds.sweep(table, key);
    writes.add(RowIds.bucket(table, key));
    writes.add(partition);
    if (update.deletionInfo().isLive()) {
      overwrites.put(sweep, new Granule(table, key, null));
    } else {
      writes.add(sweep);
      overwrites.put(partition, new Granule(table, key, null));
    }
    VersionIndex versions = NodeVersions.ofThisNode().of(table.id);
    Set<ByteBuffer> reported = versions == null ? Set.of() : versions.indexedColumns().reported();
    boolean isByCell = ConflictUnit.now(table) == ConflictUnit.CELL;
    if (!update.staticRow().isEmpty()) {
      addRow(table, key, update.staticRow(), isByCell, reported);
    }
    for (Row row : update) {
      addRow(table, key, row, isByCell, reported);
    }
  }

  private void addRow(
      TableMetadata table, DecoratedKey key, Row row, boolean isByCell, Set<ByteBuffer> reported) {
    long id = RowIds.row(table, key, row.clustering());
    Granule granule = new Granule(table, key, row.clustering());
    writes.add(id);
    if (!isByCell) {
      overwrites.put(id, granule);
    } else if (row.deletion().isLive()) {
      addCells(id, row, granule);
    } else {
      overwrites.put(id, granule);
      writes.add(RowIds.rowSweep(id));
    }
    if (!reported.isEmpty()) {
      addValues(table, row, reported);
    }
  }

  private void addCells(long id, Row row, Granule granule) {
    overwrites.put(RowIds.rowSweep(id), granule);
    if (!row.primaryKeyLivenessInfo().isEmpty()) {
      addCell(RowIds.rowMarker(id), granule);
    }
    for (ColumnData data : row) {
      addCell(RowIds.cell(id, data.column()), granule);
    }
  }

  private void addCell(long id, Granule granule) {
    writes.add(id);
    overwrites.put(id, granule);
  }

  /** What is deleted is not among them: whoever has seen a row by its value has read the row. */
  private void addValues(TableMetadata table, Row row, Set<ByteBuffer> reported) {
    for (ColumnData data : row) {
      ColumnMetadata column = data.column();
      if (reported.contains(column.name.bytes)) {
        writes.add(RowIds.column(table, column));
        if (data instanceof Cell<?> cell && !cell.isTombstone()) {
          writes.add(RowIds.value(table, column, cell.buffer()));
        }
      }
    }
  }

  public long[] overwrites() {
    return toArray(overwrites.keySet());
  }

  public long[] writes() {
    return toArray(writes);
  }

  /** Returns null if nothing with this id is written. */
  public Granule find(long id) {
    return overwrites.get(id);
  }

  private static long[] toArray(Collection<Long> ids) {
    long[] array = new long[ids.size()];
    int i = 0;
    for (long id : ids) {
      array[i++] = id;
    }
    Arrays.sort(array); // the same request for the same writes, whatever the order of a hash set
    return array;
  }
}
