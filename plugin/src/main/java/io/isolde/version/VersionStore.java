// SPDX-License-Identifier: Apache-2.0
package io.isolde.version;

import java.nio.ByteBuffer;
import java.util.Iterator;
import java.util.List;
import java.util.NavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.Function;
import org.apache.cassandra.db.BufferDecoratedKey;
import org.apache.cassandra.db.DecoratedKey;
import org.apache.cassandra.db.PartitionPosition;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.db.rows.Row;
import org.apache.cassandra.dht.AbstractBounds;
import org.apache.cassandra.dht.Bounds;
import org.apache.cassandra.dht.IncludingExcludingBounds;
import org.apache.cassandra.dht.Range;
import org.apache.cassandra.utils.ByteBufferUtil;

/**
 * The versions of one table that its memtables no longer hold, in memory.
 *
 * <p>After the non-persistent version store of pH1 (F. Coelho, Implementation and test of
 * transactional primitives over Cassandra, Universidade do Minho, section 3.2.2), moved to where
 * the data is: nothing is sent for it and nothing is read for it, since a write's index hook is
 * handed what the write replaces.
 *
 * <p>A writer puts a version here <em>before</em> the memtable lets go of it, so a reader that
 * looks at the memtable first and here second misses nothing; finding it twice does no harm.
 */
public final class VersionStore {
  private final VersionBudget budget;
  private final Horizon horizon;
  private final ConcurrentSkipListMap<PartitionPosition, PartitionVersions> partitions =
      new ConcurrentSkipListMap<>();

  VersionStore(VersionBudget budget, Horizon horizon) {
    this.budget = budget;
    this.horizon = horizon;
  }

  Horizon horizon() {
    return horizon;
  }

  /** Keeps what a write replaced in a row. The row must not refer to a memtable's memory. */
  void addRow(DecoratedKey key, Row row, long supersededAt) {
    add(key, partition -> Version.ofRow(partition, row, supersededAt));
  }

  /** Keeps what a deletion hides. The content must not refer to a memtable's memory. */
  void addContent(DecoratedKey key, PartitionUpdate content, long supersededAt) {
    add(key, partition -> Version.ofContent(partition, content, supersededAt));
  }

  private void add(DecoratedKey key, Function<PartitionVersions, Version> make) {
    while (true) {
      PartitionVersions partition = partitions.get(key);
      if (partition == null) {
        PartitionVersions made = new PartitionVersions(this, onHeap(key));
        partition = partitions.putIfAbsent(made.key, made);
        partition = partition == null ? made : partition;
      }
      Version version = make.apply(partition);
      if (partition.add(version)) {
        budget.added(version);
        return;
      }
      // The last version of the partition was evicted meanwhile; it is about to leave the map.
      partitions.remove(partition.key, partition);
    }
  }

  private static DecoratedKey onHeap(DecoratedKey key) {
    ByteBuffer copy = ByteBuffer.wrap(ByteBufferUtil.getArray(key.getKey()).clone());
    return new BufferDecoratedKey(key.getToken(), copy);
  }

  void remove(Version version) {
    PartitionVersions partition = version.partition;
    if (partition.remove(version)) {
      partitions.remove(partition.key, partition);
    }
  }

  /** Whether a reader as of {@code asOf} might need versions of this partition. */
  boolean hasSupersededAfter(DecoratedKey key, long asOf) {
    PartitionVersions partition = partitions.get(key);
    return partition != null && partition.hasSupersededAfter(asOf);
  }

  List<Version> neededBy(DecoratedKey key, long asOf) {
    PartitionVersions partition = partitions.get(key);
    return partition == null || !partition.hasSupersededAfter(asOf)
        ? List.of()
        : partition.neededBy(asOf);
  }

  /** The partitions in a range that have versions, in token order. Weakly consistent. */
  Iterator<PartitionVersions> partitionsIn(AbstractBounds<PartitionPosition> range) {
    boolean leftInclusive = range instanceof Bounds || range instanceof IncludingExcludingBounds;
    boolean rightInclusive = range instanceof Bounds || range instanceof Range;
    NavigableMap<PartitionPosition, PartitionVersions> in = partitions;
    if (!range.left.isMinimum()) {
      in = in.tailMap(range.left, leftInclusive);
    }
    if (!range.right.isMinimum()) {
      in = in.headMap(range.right, rightInclusive);
    }
    return in.values().iterator();
  }

  int partitionCount() {
    return partitions.size();
  }
}
