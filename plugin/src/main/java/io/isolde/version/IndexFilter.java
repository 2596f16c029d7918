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
    Given given = new Given(live);
    return indexed
        .indexQueryPlan()
        .postIndexQueryFilter()
        .filter(
            new Present(indexed.indexSearcher().filterReplicaFilteringProtection(given), given),
            indexed.metadata(),
            indexed.nowInSec());
  }

  /** Remembers the partition that it has given out last. */
  private static final class Given implements PartitionIterator {
    private final PartitionIterator partitions;
    private RowIterator last;

    Given(PartitionIterator partitions) {
      this.partitions = partitions;
    }

    @Override
    public boolean hasNext() {
      return partitions.hasNext();
    }

    @Override
    public RowIterator next() {
      last = partitions.next();
      return last;
    }

    @Override
    public void close() {
      partitions.close();
    }
  }

  /** SAI gives null for a partition of which it wants no row, and leaves it open. */
  private static final class Present extends AbstractIterator<RowIterator>
      implements PartitionIterator {
    private final PartitionIterator matching;
    private final Given given;

    Present(PartitionIterator matching, Given given) {
      this.matching = matching;
      this.given = given;
    }

    @Override
    protected RowIterator computeNext() {
      while (matching.hasNext()) {
        RowIterator partition = matching.next();
        if (partition != null) {
          return partition;
        }
        given.last.close();
      }
      return endOfData();
    }

    @Override
    public void close() {
      matching.close();
    }
  }
}
