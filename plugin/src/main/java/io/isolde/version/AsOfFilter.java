// SPDX-License-Identifier: Apache-2.0
package io.isolde.version;

import org.apache.cassandra.db.DeletionTime;
import org.apache.cassandra.db.LivenessInfo;
import org.apache.cassandra.db.rows.Cell;
import org.apache.cassandra.db.rows.ColumnData;
import org.apache.cassandra.db.rows.ComplexColumnData;
import org.apache.cassandra.db.rows.RangeTombstoneBoundMarker;
import org.apache.cassandra.db.rows.RangeTombstoneBoundaryMarker;
import org.apache.cassandra.db.rows.RangeTombstoneMarker;
import org.apache.cassandra.db.rows.Row;
import org.apache.cassandra.db.rows.Rows;
import org.apache.cassandra.db.rows.Unfiltered;
import org.apache.cassandra.db.rows.UnfilteredRowIterator;
import org.apache.cassandra.db.transform.Transformation;

/**
 * Takes from one source (a memtable, an SSTable, kept versions) all that is newer than a timestamp.
 * Sources are filtered before they are merged: merging drops what a newer write replaces.
 */
final class AsOfFilter extends Transformation<UnfilteredRowIterator> {
  private final long asOf;

  AsOfFilter(long asOf) {
    this.asOf = asOf;
  }

  @Override
  protected UnfilteredRowIterator applyToPartition(UnfilteredRowIterator partition) {
    return Transformation.apply(partition, this);
  }

  @Override
  protected DeletionTime applyToDeletion(DeletionTime deletion) {
    return isNewer(deletion) ? DeletionTime.LIVE : deletion;
  }

  @Override
  protected Row applyToStatic(Row row) {
    Row filtered = applyToRow(row);
    return filtered == null ? Rows.EMPTY_STATIC_ROW : filtered;
  }

  /** Returns null if nothing of the row is left. */
  @Override
  protected Row applyToRow(Row row) {
    if (!hasNewer(row, asOf)) {
      return row;
    }
    LivenessInfo liveness = row.primaryKeyLivenessInfo();
    return row.transformAndFilter(
        liveness.timestamp() > asOf ? LivenessInfo.EMPTY : liveness,
        isNewer(row.deletion().time()) ? Row.Deletion.LIVE : row.deletion(),
        this::upTo);
  }

  private ColumnData upTo(ColumnData data) {
    if (data instanceof Cell<?> cell) {
      return cell.timestamp() > asOf ? null : cell;
    }
    ComplexColumnData complex = (ComplexColumnData) data;
    DeletionTime deletion = complex.complexDeletion();
    return complex.transformAndFilter(
        isNewer(deletion) ? DeletionTime.LIVE : deletion,
        cell -> cell.timestamp() > asOf ? null : cell);
  }

  @Override
  protected RangeTombstoneMarker applyToMarker(RangeTombstoneMarker marker) {
    if (!marker.isBoundary()) {
      return isNewer(((RangeTombstoneBoundMarker) marker).deletionTime()) ? null : marker;
    }
    RangeTombstoneBoundaryMarker boundary = (RangeTombstoneBoundaryMarker) marker;
    boolean startIsNewer = isNewer(boundary.startDeletionTime());
    boolean endIsNewer = isNewer(boundary.endDeletionTime());
    if (startIsNewer && endIsNewer) {
      return null;
    }
    // In the order of the clustering, not of the iteration: the start opens, the end closes.
    if (startIsNewer) {
      return boundary.createCorrespondingCloseMarker(false);
    }
    return endIsNewer ? boundary.createCorrespondingOpenMarker(false) : marker;
  }

  private boolean isNewer(DeletionTime deletion) {
    return !deletion.isLive() && deletion.markedForDeleteAt() > asOf;
  }

  static boolean hasNewer(Unfiltered unfiltered, long asOf) {
    if (unfiltered.isRow()) {
      return hasNewer((Row) unfiltered, asOf);
    }
    RangeTombstoneMarker marker = (RangeTombstoneMarker) unfiltered;
    return (marker.isOpen(false) && marker.openDeletionTime(false).markedForDeleteAt() > asOf)
        || (marker.isClose(false) && marker.closeDeletionTime(false).markedForDeleteAt() > asOf);
  }

  static boolean hasNewer(Row row, long asOf) {
    if (row.primaryKeyLivenessInfo().timestamp() > asOf
        || row.deletion().time().markedForDeleteAt() > asOf) {
      return true;
    }
    for (ColumnData data : row) {
      if (data.maxTimestamp() > asOf) {
        return true;
      }
    }
    return false;
  }
}
