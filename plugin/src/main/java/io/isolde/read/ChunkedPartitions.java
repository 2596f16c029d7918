// SPDX-License-Identifier: Apache-2.0
package io.isolde.read;

import java.util.NoSuchElementException;
import java.util.function.UnaryOperator;
import org.apache.cassandra.db.DecoratedKey;
import org.apache.cassandra.db.RegularAndStaticColumns;
import org.apache.cassandra.db.partitions.PartitionIterator;
import org.apache.cassandra.db.rows.Row;
import org.apache.cassandra.db.rows.RowIterator;
import org.apache.cassandra.schema.TableMetadata;

/**
 * All that an unlimited command selects, fetched a bounded number of rows at a time. A partition
 * that is cut by the end of a chunk comes out whole.
 */
final class ChunkedPartitions implements PartitionIterator {
  /** Small enough for memory, large enough that a chunk costs more than its round trip. */
  static final int ROWS_PER_CHUNK = 1000;

  private final ReadFor.Pages pages;
  private final int rowsPerChunk;
  private final UnaryOperator<PartitionIterator> instead;

  private PartitionIterator chunk;

  /** The partition that comes next; it may be the rest of the one that was given out last. */
  private RowIterator next;

  private DecoratedKey lastKey;

  /**
   * Opens nothing yet.
   *
   * @param instead makes the rows that come out of each chunk, in the same order; uses it up
   */
  ChunkedPartitions(
      ReadFor.Pages pages, int rowsPerChunk, UnaryOperator<PartitionIterator> instead) {
    this.pages = pages;
    this.rowsPerChunk = rowsPerChunk;
    this.instead = instead;
  }

  @Override
  public boolean hasNext() {
    while (peek() && next.partitionKey().equals(lastKey)) {
      drain(next); // the rest of a partition that nobody wants to see to its end
      next = null;
    }
    return next != null;
  }

  @Override
  public RowIterator next() {
    if (!hasNext()) {
      throw new NoSuchElementException();
    }
    RowIterator partition = next;
    next = null;
    lastKey = partition.partitionKey();
    return new WholePartition(partition);
  }

  private boolean peek() {
    while (next == null) {
      if (chunk == null) {
        if (pages.areExhausted()) {
          return false;
        }
        chunk = instead.apply(pages.next(rowsPerChunk));
      }
      if (chunk.hasNext()) {
        next = chunk.next();
      } else {
        chunk.close();
        chunk = null;
      }
    }
    return true;
  }

  /** The pager counts what is taken from it: rows left in a chunk would look like its end. */
  private static void drain(RowIterator rows) {
    try (rows) {
      while (rows.hasNext()) {
        rows.next();
      }
    }
  }

  @Override
  public void close() {
    try (RowIterator rest = next;
        PartitionIterator read = chunk) {
      next = null;
      chunk = null;
    }
  }

  /** A partition that goes on in the next chunk. */
  private final class WholePartition implements RowIterator {
    private final RowIterator first;
    private RowIterator current;

    WholePartition(RowIterator first) {
      this.first = first;
      this.current = first;
    }

    @Override
    public TableMetadata metadata() {
      return first.metadata();
    }

    @Override
    public boolean isReverseOrder() {
      return first.isReverseOrder();
    }

    @Override
    public RegularAndStaticColumns columns() {
      return first.columns();
    }

    @Override
    public DecoratedKey partitionKey() {
      return first.partitionKey();
    }

    @Override
    public Row staticRow() {
      return first.staticRow();
    }

    @Override
    public boolean hasNext() {
      while (!current.hasNext()) {
        current.close();
        if (!peek() || !next.partitionKey().equals(lastKey)) {
          return false;
        }
        current = next;
        next = null;
      }
      return true;
    }

    @Override
    public Row next() {
      if (!hasNext()) {
        throw new NoSuchElementException();
      }
      return current.next();
    }

    @Override
    public void close() {
      drain(current);
    }
  }
}
