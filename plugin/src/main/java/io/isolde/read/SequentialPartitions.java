// SPDX-License-Identifier: Apache-2.0
package io.isolde.read;

import java.util.Iterator;
import org.apache.cassandra.db.partitions.PartitionIterator;
import org.apache.cassandra.db.rows.RowIterator;
import org.apache.cassandra.utils.AbstractIterator;

/**
 * The partitions of several sources, one source after the other. Each is opened when the one before
 * is used up and closed, so whoever stops early, as at a LIMIT, leaves none open: a read that is
 * left open keeps a table from being dropped and its memtables from being freed.
 */
public final class SequentialPartitions extends AbstractIterator<RowIterator>
    implements PartitionIterator {
  private final Iterator<? extends Source> sources;
  private PartitionIterator current;

  /** Something that can be read. */
  public interface Source {
    /** Opens it; closed by {@link SequentialPartitions}. */
    PartitionIterator open();
  }

  public SequentialPartitions(Iterator<? extends Source> sources) {
    this.sources = sources;
  }

  @Override
  protected RowIterator computeNext() {
    while (current == null || !current.hasNext()) {
      close();
      if (!sources.hasNext()) {
        return endOfData();
      }
      current = sources.next().open();
    }
    return current.next();
  }

  @Override
  public void close() {
    if (current != null) {
      PartitionIterator used = current;
      current = null;
      used.close();
    }
  }
}
