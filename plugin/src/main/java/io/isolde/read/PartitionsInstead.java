// SPDX-License-Identifier: Apache-2.0
package io.isolde.read;

import java.util.Iterator;
import java.util.function.Function;
import org.apache.cassandra.db.DecoratedKey;
import org.apache.cassandra.db.partitions.PartitionIterator;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.db.rows.RowIterator;
import org.apache.cassandra.utils.AbstractIterator;

/**
 * Partitions in the order of their tokens, where some come from elsewhere: those that a transaction
 * has written to come whole, because its writes may make any of their rows match.
 */
final class PartitionsInstead extends AbstractIterator<RowIterator> implements PartitionIterator {
  private final PartitionIterator others;
  private final Iterator<PartitionUpdate> written;
  private final Function<DecoratedKey, PartitionIterator> whole;

  private RowIterator nextOther;
  private PartitionUpdate nextWritten;
  private PartitionIterator current;

  /**
   * Opens nothing yet.
   *
   * @param written in the order of tokens
   * @param whole reads one of these partitions
   */
  PartitionsInstead(
      PartitionIterator others,
      Iterator<PartitionUpdate> written,
      Function<DecoratedKey, PartitionIterator> whole) {
    this.others = others;
    this.written = written;
    this.whole = whole;
    this.nextWritten = written.hasNext() ? written.next() : null;
  }

  @Override
  protected RowIterator computeNext() {
    closeCurrent();
    while (true) {
      if (nextOther == null && others.hasNext()) {
        nextOther = others.next();
      }
      if (nextWritten == null || isOtherFirst()) {
        return nextOther == null ? endOfData() : takeOther();
      }
      DecoratedKey key = nextWritten.partitionKey();
      if (nextOther != null && nextOther.partitionKey().equals(key)) {
        takeOther().close();
      }
      nextWritten = written.hasNext() ? written.next() : null;
      current = whole.apply(key);
      if (current.hasNext()) {
        return current.next();
      }
      closeCurrent();
    }
  }

  private boolean isOtherFirst() {
    return nextOther != null && nextOther.partitionKey().compareTo(nextWritten.partitionKey()) < 0;
  }

  private RowIterator takeOther() {
    RowIterator other = nextOther;
    nextOther = null;
    return other;
  }

  private void closeCurrent() {
    if (current != null) {
      current.close();
      current = null;
    }
  }

  @Override
  public void close() {
    try (PartitionIterator all = others;
        RowIterator other = nextOther) {
      closeCurrent();
    }
  }
}
