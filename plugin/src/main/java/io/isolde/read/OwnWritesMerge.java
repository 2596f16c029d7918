// SPDX-License-Identifier: Apache-2.0
package io.isolde.read;

import io.isolde.version.IndexFilter;
import io.isolde.version.LiveRows;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import org.apache.cassandra.db.partitions.AbstractUnfilteredPartitionIterator;
import org.apache.cassandra.db.partitions.PartitionIterator;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.db.partitions.UnfilteredPartitionIterator;
import org.apache.cassandra.db.partitions.UnfilteredPartitionIterators;
import org.apache.cassandra.db.rows.UnfilteredRowIterator;
import org.apache.cassandra.schema.TableMetadata;

/** Merges a transaction's own writes into what it reads, then filters and counts. */
record OwnWritesMerge(SnapshotQuery<?> query, Collection<PartitionUpdate> ownWrites) {

  PartitionIterator apply(PartitionIterator snapshotRows) {
    UnfilteredPartitionIterator merged = new LiveRows(query.metadata(), snapshotRows);
    if (!ownWrites.isEmpty()) {
      merged =
          UnfilteredPartitionIterators.merge(
              List.of(merged, new Own(ownWrites.iterator())),
              UnfilteredPartitionIterators.MergeListener.NOOP);
    }
    PartitionIterator live =
        IndexFilter.matching(
            query.command, UnfilteredPartitionIterators.filter(merged, query.nowInSec()));
    FoundRows found = query.snapshot.found();
    return FoundRows.report(
        found,
        query
            .limits()
            .filter(
                FoundRows.exclude(found, live),
                query.nowInSec(),
                query.selectsFullPartition(),
                query.metadata().enforceStrictLiveness()));
  }

  /** The transaction's writes, as far as the query selects them. */
  private final class Own extends AbstractUnfilteredPartitionIterator {
    private final Iterator<PartitionUpdate> partitions;

    Own(Iterator<PartitionUpdate> partitions) {
      this.partitions = partitions;
    }

    @Override
    public TableMetadata metadata() {
      return query.metadata();
    }

    @Override
    public boolean hasNext() {
      return partitions.hasNext();
    }

    @Override
    public UnfilteredRowIterator next() {
      PartitionUpdate own = partitions.next();
      boolean reversed = query.command.isReversed();
      return own.unfilteredIterator(
          query.columnFilter(), query.slices(own.partitionKey()), reversed);
    }
  }
}
