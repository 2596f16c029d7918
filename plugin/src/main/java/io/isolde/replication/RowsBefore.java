// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import org.apache.cassandra.db.Clustering;
import org.apache.cassandra.db.ReadExecutionController;
import org.apache.cassandra.db.SinglePartitionReadCommand;
import org.apache.cassandra.db.Slices;
import org.apache.cassandra.db.filter.ClusteringIndexFilter;
import org.apache.cassandra.db.filter.ClusteringIndexNamesFilter;
import org.apache.cassandra.db.filter.ClusteringIndexSliceFilter;
import org.apache.cassandra.db.filter.ColumnFilter;
import org.apache.cassandra.db.filter.DataLimits;
import org.apache.cassandra.db.filter.RowFilter;
import org.apache.cassandra.db.partitions.FilteredPartition;
import org.apache.cassandra.db.partitions.PartitionIterator;
import org.apache.cassandra.db.partitions.PartitionIterators;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.db.rows.Row;
import org.apache.cassandra.utils.btree.BTreeSet;

/** The rows to which an update writes, as this node has them before it. */
final class RowsBefore {
  private final FilteredPartition rows;

  private RowsBefore(FilteredPartition rows) {
    this.rows = rows;
  }

  /** Reads them from this node alone. */
  static RowsBefore of(PartitionUpdate update, long nowInSeconds) {
    BTreeSet.Builder<Clustering<?>> names = BTreeSet.builder(update.metadata().comparator);
    update.forEach(row -> names.add(row.clustering()));
    ClusteringIndexFilter filter =
        update.hasRows()
            ? new ClusteringIndexNamesFilter(names.build(), false)
            : new ClusteringIndexSliceFilter(Slices.ALL, false);
    SinglePartitionReadCommand read =
        SinglePartitionReadCommand.create(
            update.metadata(),
            nowInSeconds,
            ColumnFilter.all(update.metadata()),
            RowFilter.none(),
            update.hasRows() ? DataLimits.NONE : DataLimits.cqlLimits(1),
            update.partitionKey(),
            filter);
    try (ReadExecutionController controller = read.executionController();
        PartitionIterator found = read.executeInternal(controller)) {
      return new RowsBefore(
          FilteredPartition.create(PartitionIterators.getOnlyElement(found, read)));
    }
  }

  /**
   * The row, or the static one, in whose place a row of the update comes; null if there is none.
   */
  Row of(Row row) {
    return row.isStatic() ? rows.staticRow() : rows.getRow(row.clustering());
  }
}
