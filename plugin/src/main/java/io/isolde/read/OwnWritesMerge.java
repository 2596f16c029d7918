// SPDX-License-Identifier: Apache-2.0
package io.isolde.read;

import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import org.apache.cassandra.db.DeletionTime;
import org.apache.cassandra.db.partitions.AbstractUnfilteredPartitionIterator;
import org.apache.cassandra.db.partitions.PartitionIterator;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.db.partitions.UnfilteredPartitionIterator;
import org.apache.cassandra.db.partitions.UnfilteredPartitionIterators;
import org.apache.cassandra.db.rows.AbstractUnfilteredRowIterator;
import org.apache.cassandra.db.rows.EncodingStats;
import org.apache.cassandra.db.rows.RowIterator;
import org.apache.cassandra.db.rows.Unfiltered;
import org.apache.cassandra.db.rows.UnfilteredRowIterator;
import org.apache.cassandra.schema.TableMetadata;

/** Merges a transaction's own writes into what it reads, then filters and counts. */
record OwnWritesMerge(SnapshotQuery<?> query, Collection<PartitionUpdate> ownWrites) {

  PartitionIterator apply(PartitionIterator snapshotRows) {
    UnfilteredPartitionIterator merged = new Unfilter(query.metadata(), snapshotRows);
    if (!ownWrites.isEmpty()) {
      merged =
          UnfilteredPartitionIterators.merge(
              List.of(merged, new Own(ownWrites.iterator())),
              UnfilteredPartitionIterators.MergeListener.NOOP);
    }
    PartitionIterator live =
        UnfilteredPartitionIterators.filter(
            query.rowFilter().filter(merged, query.nowInSec()), query.nowInSec());
    return query
        .limits()
        .filter(
            live,
            query.nowInSec(),
            query.selectsFullPartition(),
            query.metadata().enforceStrictLiveness());
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

  /** Live rows in a form that can be merged with deletions. */
  private static final class Unfilter extends AbstractUnfilteredPartitionIterator {
    private final TableMetadata table;
    private final PartitionIterator partitions;

    Unfilter(TableMetadata table, PartitionIterator partitions) {
      this.table = table;
      this.partitions = partitions;
    }

    @Override
    public TableMetadata metadata() {
      return table;
    }

    @Override
    public boolean hasNext() {
      return partitions.hasNext();
    }

    @Override
    public UnfilteredRowIterator next() {
      return new UnfilteredRows(partitions.next());
    }

    @Override
    public void close() {
      partitions.close();
    }
  }

  private static final class UnfilteredRows extends AbstractUnfilteredRowIterator {
    private final RowIterator rows;

    UnfilteredRows(RowIterator rows) {
      super(
          rows.metadata(),
          rows.partitionKey(),
          DeletionTime.LIVE,
          rows.columns(),
          rows.staticRow(),
          rows.isReverseOrder(),
          EncodingStats.NO_STATS);
      this.rows = rows;
    }

    @Override
    protected Unfiltered computeNext() {
      return rows.hasNext() ? rows.next() : endOfData();
    }

    @Override
    public void close() {
      rows.close();
    }
  }
}
