// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import io.isolde.group.Layout;
import io.isolde.read.SequentialPartitions;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.cassandra.db.PartitionPosition;
import org.apache.cassandra.db.PartitionRangeReadCommand;
import org.apache.cassandra.db.partitions.PartitionIterator;
import org.apache.cassandra.dht.AbstractBounds;
import org.apache.cassandra.dht.Murmur3Partitioner.LongToken;
import org.apache.cassandra.utils.Pair;

/** The parts of a range in the order of the ring, each read when the one before is used up. */
final class SequentialRanges {
  private record Part(Layout.Group group, AbstractBounds<PartitionPosition> range) {}

  private final StrongKeyspace keyspace;
  private final List<Part> parts = new ArrayList<>();

  /** Reads what lies in one of a group's ranges. */
  interface PartReader {
    PartitionIterator read(Layout.Group group, PartitionRangeReadCommand part);
  }

  private SequentialRanges(StrongKeyspace keyspace) {
    this.keyspace = keyspace;
  }

  static PartitionIterator read(
      StrongKeyspace keyspace, PartitionRangeReadCommand command, PartReader reader) {
    SequentialRanges ranges = new SequentialRanges(keyspace);
    ranges.divide(command.dataRange().keyRange());
    List<SequentialPartitions.Source> sources = new ArrayList<>();
    for (Part part : ranges.parts) {
      boolean isFirst = sources.isEmpty();
      sources.add(() -> reader.read(part.group(), command.forSubRange(part.range(), isFirst)));
    }
    return new SequentialPartitions(sources.iterator());
  }

  /** The numbers of the groups that have parts of a range. */
  static Set<Integer> groups(StrongKeyspace keyspace, AbstractBounds<PartitionPosition> whole) {
    SequentialRanges ranges = new SequentialRanges(keyspace);
    ranges.divide(whole);
    Set<Integer> groups = new HashSet<>();
    ranges.parts.forEach(part -> groups.add(part.group().number()));
    return groups;
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
}
