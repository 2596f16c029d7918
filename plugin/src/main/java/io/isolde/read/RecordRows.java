// SPDX-License-Identifier: Apache-2.0
package io.isolde.read;

import java.util.TreeSet;
import org.apache.cassandra.db.Clustering;
import org.apache.cassandra.db.DecoratedKey;
import org.apache.cassandra.db.filter.ClusteringIndexNamesFilter;
import org.apache.cassandra.db.partitions.PartitionIterator;
import org.apache.cassandra.db.rows.Row;
import org.apache.cassandra.db.rows.RowIterator;
import org.apache.cassandra.db.transform.Transformation;

/** Records the rows that a read finds, one by one; or all of a range if they are too many. */
final class RecordRows extends Transformation<RowIterator> {
  /** So many would take more of the transaction's bound than the range does. */
  private static final int MAX_ROWS = 1000;

  private final SnapshotRangeQuery query;
  private final boolean statics;
  private DecoratedKey key;
  private int recorded;

  private RecordRows(SnapshotRangeQuery query) {
    this.query = query;
    this.statics = !query.columnFilter().fetchedColumns().statics.isEmpty();
  }

  static PartitionIterator of(PartitionIterator rows, SnapshotRangeQuery query) {
    return Transformation.apply(rows, new RecordRows(query));
  }

  @Override
  protected RowIterator applyToPartition(RowIterator partition) {
    key = partition.partitionKey();
    if (statics) {
      record(null);
    }
    return Transformation.apply(partition, this);
  }

  @Override
  protected Row applyToRow(Row row) {
    record(row.clustering());
    return row;
  }

  private void record(Clustering<?> row) {
    recorded++;
    if (recorded == MAX_ROWS) {
      query.recordRange();
    }
    if (recorded >= MAX_ROWS) {
      return;
    }
    TreeSet<Clustering<?>> rows = new TreeSet<>(query.metadata().comparator);
    if (row != null) {
      rows.add(row);
    }
    query
        .snapshot
        .recorder()
        .partition(query.metadata(), key, new ClusteringIndexNamesFilter(rows, false), row == null);
  }
}
