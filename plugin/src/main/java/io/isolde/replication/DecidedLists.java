// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import io.isolde.apply.ListCellPaths;
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
import org.apache.cassandra.db.rows.BTreeRow;
import org.apache.cassandra.db.rows.Cell;
import org.apache.cassandra.db.rows.ColumnData;
import org.apache.cassandra.db.rows.ComplexColumnData;
import org.apache.cassandra.db.rows.Row;
import org.apache.cassandra.utils.btree.BTreeSet;

/**
 * Elements that a decided statement adds to lists: Cassandra places them by the clock of this node,
 * which may be behind that of an earlier leader. Those that it replaces stay where they are, so the
 * lists are read first.
 */
final class DecidedLists {
  private DecidedLists() {}

  /**
   * The update with what is new in lists at the place of a time.
   *
   * @param micros above all timestamps that the partition has
   */
  static PartitionUpdate placed(PartitionUpdate update, long micros, long nowInSeconds) {
    if (!ListCellPaths.hasLists(update)) {
      return update;
    }
    FilteredPartition before = before(update, nowInSeconds);
    return ListCellPaths.rewritten(
        update,
        row ->
            placed(
                row,
                row.isStatic() ? before.staticRow() : before.getRow(row.clustering()),
                micros));
  }

  private static FilteredPartition before(PartitionUpdate update, long nowInSeconds) {
    BTreeSet.Builder<Clustering<?>> names = BTreeSet.builder(update.metadata().comparator);
    update.forEach(row -> names.add(row.clustering()));
    ClusteringIndexFilter rows =
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
            rows);
    try (ReadExecutionController controller = read.executionController();
        PartitionIterator found = read.executeInternal(controller)) {
      return FilteredPartition.create(PartitionIterators.getOnlyElement(found, read));
    }
  }

  /**
   * The row with its cells in their new order.
   *
   * @param before null if there is none
   */
  private static Row placed(Row row, Row before, long micros) {
    Row.Builder placed = BTreeRow.unsortedBuilder();
    placed.newRow(row.clustering());
    placed.addPrimaryKeyLivenessInfo(row.primaryKeyLivenessInfo());
    placed.addRowDeletion(row.deletion());
    for (ColumnData data : row) {
      if (data instanceof ComplexColumnData complex) {
        placed.addComplexDeletion(complex.column(), complex.complexDeletion());
        int number = 0;
        for (Cell<?> cell : complex) {
          boolean isNew = ListCellPaths.isList(cell.column()) && isNew(cell, before);
          placed.addCell(isNew ? ListCellPaths.placed(cell, micros, number++) : cell);
        }
      } else {
        placed.addCell((Cell<?>) data);
      }
    }
    return placed.build();
  }

  private static boolean isNew(Cell<?> cell, Row before) {
    return !cell.isTombstone()
        && (before == null || before.getCell(cell.column(), cell.path()) == null);
  }
}
