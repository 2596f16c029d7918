// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import io.isolde.apply.ListCellPaths;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.db.rows.BTreeRow;
import org.apache.cassandra.db.rows.Cell;
import org.apache.cassandra.db.rows.ColumnData;
import org.apache.cassandra.db.rows.ComplexColumnData;
import org.apache.cassandra.db.rows.Row;

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
    RowsBefore before = RowsBefore.of(update, nowInSeconds);
    return ListCellPaths.rewritten(update, row -> placed(row, before.of(row), micros));
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
