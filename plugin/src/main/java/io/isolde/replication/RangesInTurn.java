// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import io.isolde.group.Layout;
import java.util.ArrayDeque;
import java.util.Deque;
import org.apache.cassandra.db.PartitionPosition;
import org.apache.cassandra.db.PartitionRangeReadCommand;
import org.apache.cassandra.db.partitions.PartitionIterator;
import org.apache.cassandra.db.rows.RowIterator;
import org.apache.cassandra.dht.AbstractBounds;
import org.apache.cassandra.dht.Murmur3Partitioner.LongToken;
import org.apache.cassandra.utils.AbstractIterator;
import org.apache.cassandra.utils.Pair;

/** The parts of a range in the order of the ring, each read when the one before is used up. */
final class RangesInTurn extends AbstractIterator<RowIterator> implements PartitionIterator {
  private record Part(Layout.Group group, AbstractBounds<PartitionPosition> range) {}

  private final StrongKeyspace keyspace;
  private final PartitionRangeReadCommand command;
  private final PartReader reader;
  private final Deque<Part> parts = new ArrayDeque<>();
  private PartitionIterator current;
  private boolean isFirst = true;

  /** Reads what lies in one of a group's ranges. */
  interface PartReader {
    PartitionIterator read(Layout.Group group, PartitionRangeReadCommand part);
  }

  RangesInTurn(StrongKeyspace keyspace, PartitionRangeReadCommand command, PartReader reader) {
    this.keyspace = keyspace;
    this.command = command;
    this.reader = reader;
    divide(command.dataRange().keyRange());
  }

  /** Cuts the range at the ends of the groups' ranges. */
  private void divide(AbstractBounds<PartitionPosition> whole) {
    AbstractBounds<PartitionPosition> rest = whole;
    for (Layout.Range range : keyspace.layout().ranges()) {
      PartitionPosition end = new LongToken(range.end()).maxKeyBound();
      // Null where the end lies outside of what is left.
      Pair<AbstractBounds<PartitionPosition>, AbstractBounds<PartitionPosition>> split =
          rest.contains(end) || rest.left.equals(end) ? rest.split(end) : null;
      if (split != null) {
        parts.add(new Part(keyspace.layout().groups().get(range.group()), split.left));
        rest = split.right;
        if (rest == null) {
          return;
        }
      }
    }
    parts.add(new Part(groupAtEndOf(rest), rest));
  }

  private Layout.Group groupAtEndOf(AbstractBounds<PartitionPosition> rest) {
    long end =
        rest.right.isMinimum()
            ? Long.MAX_VALUE
            : ((LongToken) rest.right.getToken()).getLongValue();
    return keyspace.layout().groupOf(end);
  }

  @Override
  protected RowIterator computeNext() {
    while (current == null || !current.hasNext()) {
      close();
      Part part = parts.poll();
      if (part == null) {
        return endOfData();
      }
      current = reader.read(part.group(), command.forSubRange(part.range(), isFirst));
      isFirst = false;
    }
    return current.next();
  }

  @Override
  public void close() {
    if (current != null) {
      current.close();
      current = null;
    }
  }
}
