// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import org.apache.cassandra.db.DeletionTime;
import org.apache.cassandra.db.filter.ColumnFilter;
import org.apache.cassandra.db.rows.Cell;
import org.apache.cassandra.db.rows.RangeTombstoneBoundMarker;
import org.apache.cassandra.db.rows.RangeTombstoneBoundaryMarker;
import org.apache.cassandra.db.rows.RangeTombstoneMarker;
import org.apache.cassandra.db.rows.Row;
import org.apache.cassandra.db.rows.Rows;
import org.apache.cassandra.db.rows.UnfilteredRowIterator;
import org.apache.cassandra.db.transform.Transformation;
import org.apache.cassandra.schema.TableMetadata;

/**
 * Leaves of what is stored only what is newer than a timestamp: cells, row markers and deletions.
 */
final class NewerThan extends Transformation<UnfilteredRowIterator> {
  private final TableMetadata table;
  private final ColumnFilter all;

  /** A deletion that wins over every other one of its timestamp. */
  private final DeletionTime deletion;

  NewerThan(TableMetadata table, long micros) {
    this.table = table;
    this.all = ColumnFilter.all(table);
    this.deletion = DeletionTime.build(micros, Cell.MAX_DELETION_TIME);
  }

  @Override
  protected UnfilteredRowIterator applyToPartition(UnfilteredRowIterator partition) {
    return Transformation.apply(partition, this);
  }

  @Override
  protected DeletionTime applyToDeletion(DeletionTime found) {
    return isNewer(found) ? found : DeletionTime.LIVE;
  }

  @Override
  protected Row applyToStatic(Row row) {
    Row newer = applyToRow(row);
    return newer == null ? Rows.EMPTY_STATIC_ROW : newer;
  }

  /** Returns null if nothing of the row is left. */
  @Override
  protected Row applyToRow(Row row) {
    DeletionTime ofRow = row.deletion().time();
    return isNewer(ofRow)
        ? row.filter(all, ofRow, true, table)
        : row.filter(all, deletion, false, table);
  }

  @Override
  protected RangeTombstoneMarker applyToMarker(RangeTombstoneMarker marker) {
    if (!marker.isBoundary()) {
      return isNewer(((RangeTombstoneBoundMarker) marker).deletionTime()) ? marker : null;
    }
    RangeTombstoneBoundaryMarker boundary = (RangeTombstoneBoundaryMarker) marker;
    boolean startIsNewer = isNewer(boundary.startDeletionTime());
    boolean endIsNewer = isNewer(boundary.endDeletionTime());
    if (startIsNewer && endIsNewer) {
      return marker;
    }
    if (startIsNewer) {
      return boundary.createCorrespondingOpenMarker(false);
    }
    return endIsNewer ? boundary.createCorrespondingCloseMarker(false) : null;
  }

  private boolean isNewer(DeletionTime found) {
    return found.markedForDeleteAt() > deletion.markedForDeleteAt();
  }
}
