// SPDX-License-Identifier: Apache-2.0
package io.isolde.version;

import org.apache.cassandra.db.ReadCommand;
import org.apache.cassandra.db.partitions.PartitionIterator;
import org.apache.cassandra.db.rows.RowIterator;
import org.apache.cassandra.utils.AbstractIterator;

/** What matches a filter as the index understands it that a command is answered by. */
public final class IndexFilter {
  private IndexFilter() {}

  /**
   * The live rows that match.
   *
   * @param indexed its filter is asked, and that of its index
   */
  public static PartitionIterator matching(ReadCommand indexed, PartitionIterator live) {
    if (indexed.indexQueryPlan() == null) {
      return indexed.rowFilter().filter(live, indexed.metadata(), indexed.nowInSec());
    }
    return indexed
        .indexQueryPlan()
        .postIndexQueryFilter()
        .filter(
            new Present(indexed.indexSearcher().filterReplicaFilteringProtection(live)),
            indexed.metadata(),
            indexed.nowInSec());
  }

  /** SAI gives null for a partition of which it wants no row. */
  private static final class Present extends AbstractIterator<RowIterator>
      implements PartitionIterator {
    private final PartitionIterator partitions;

    Present(PartitionIterator partitions) {
      this.partitions = partitions;
    }

    @Override
    protected RowIterator computeNext() {
      while (partitions.hasNext()) {
        RowIterator partition = partitions.next();
        if (partition != null) {
          return partition;
        }
      }
      return endOfData();
    }

    @Override
    public void close() {
      partitions.close();
    }
  }
}
