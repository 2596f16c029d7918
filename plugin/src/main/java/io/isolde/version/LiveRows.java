// SPDX-License-Identifier: Apache-2.0
package io.isolde.version;

import org.apache.cassandra.db.DeletionTime;
import org.apache.cassandra.db.partitions.AbstractUnfilteredPartitionIterator;
import org.apache.cassandra.db.partitions.PartitionIterator;
import org.apache.cassandra.db.rows.AbstractUnfilteredRowIterator;
import org.apache.cassandra.db.rows.EncodingStats;
import org.apache.cassandra.db.rows.RowIterator;
import org.apache.cassandra.db.rows.Unfiltered;
import org.apache.cassandra.db.rows.UnfilteredRowIterator;
import org.apache.cassandra.schema.TableMetadata;

/** Live rows in a form that can be merged with deletions. */
public final class LiveRows extends AbstractUnfilteredPartitionIterator {
  private final TableMetadata table;
  private final PartitionIterator partitions;

  public LiveRows(TableMetadata table, PartitionIterator partitions) {
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
    return new OfPartition(partitions.next());
  }

  @Override
  public void close() {
    partitions.close();
  }

  private static final class OfPartition extends AbstractUnfilteredRowIterator {
    private final RowIterator rows;

    OfPartition(RowIterator rows) {
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
