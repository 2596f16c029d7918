// SPDX-License-Identifier: Apache-2.0
package io.isolde.version;

import java.util.NoSuchElementException;
import org.apache.cassandra.db.rows.RangeTombstoneBoundaryMarker;
import org.apache.cassandra.db.rows.RangeTombstoneMarker;
import org.apache.cassandra.db.rows.Unfiltered;
import org.apache.cassandra.db.rows.UnfilteredRowIterator;
import org.apache.cassandra.db.rows.WrappingUnfilteredRowIterator;
import org.apache.cassandra.db.transform.Transformation;

/**
 * Takes away a range tombstone that opens behind the last row of a GROUP BY.
 *
 * <p>Only the next group's first row tells a GROUP BY that its last group is whole. That row is
 * left out; a range tombstone in front of it was passed on already, and nothing closes it. {@code
 * RTBoundCloser} closes at a row, and fails where there is none. What the tombstone deletes is
 * behind the end of this read.
 */
final class OpenEnds extends Transformation<UnfilteredRowIterator> {
  @Override
  protected UnfilteredRowIterator applyToPartition(UnfilteredRowIterator partition) {
    return new Ended(partition);
  }

  private static final class Ended implements WrappingUnfilteredRowIterator {
    private final UnfilteredRowIterator partition;
    private Unfiltered next;

    Ended(UnfilteredRowIterator partition) {
      this.partition = partition;
    }

    @Override
    public UnfilteredRowIterator wrapped() {
      return partition;
    }

    @Override
    public boolean hasNext() {
      if (next == null && partition.hasNext()) {
        next = partition.next();
        if (next instanceof RangeTombstoneMarker marker
            && marker.isOpen(isReverseOrder())
            && !partition.hasNext()) {
          next = withoutOpening(marker);
        }
      }
      return next != null;
    }

    @Override
    public Unfiltered next() {
      if (!hasNext()) {
        throw new NoSuchElementException();
      }
      Unfiltered given = next;
      next = null;
      return given;
    }

    /** Null if it closes nothing. */
    private Unfiltered withoutOpening(RangeTombstoneMarker marker) {
      return marker instanceof RangeTombstoneBoundaryMarker boundary
          ? boundary.createCorrespondingCloseMarker(isReverseOrder())
          : null;
    }
  }
}
