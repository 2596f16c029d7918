// SPDX-License-Identifier: Apache-2.0
package io.isolde.version;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.apache.cassandra.db.BufferDecoratedKey;
import org.apache.cassandra.db.DecoratedKey;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.db.rows.Row;
import org.apache.cassandra.utils.ByteBufferUtil;

/**
 * The versions of one table that its memtables no longer hold, in memory.
 *
 * <p>After the non-persistent version store of pH1 (F. Coelho, Implementation and test of
 * transactional primitives over Cassandra, Universidade do Minho, section 3.2.2), moved to where
 * the data is: nothing is sent for it and nothing is read for it, since a write's index hook is
 * handed what the write replaces.
 *
 * <p>A writer puts a version here <em>before</em> the memtable lets go of it. So a reader that
 * looks at the memtable first and here second misses nothing; finding it twice does no harm.
 */
public final class VersionStore {
  private final VersionBudget budget;
  private final Horizon horizon;

  /**
   * Not in token order: a range read comes by every key that is in here. The write that replaced a
   * version is newer than any reader of the version, and so still in a source of the read. For
   * that, sources are not left out of range reads because they are newer.
   */
  private final ConcurrentHashMap<DecoratedKey, PartitionVersions> partitions =
      new ConcurrentHashMap<>();

  VersionStore(VersionBudget budget, Horizon horizon) {
    this.budget = budget;
    this.horizon = horizon;
  }

  Horizon horizon() {
    return horizon;
  }

  /**
   * Keeps what a write replaced in a row.
   *
   * @param isBorrowed whether the row refers to memory of a memtable that is there for longer
   *     anyway; {@link #takeOver} must be called when it goes
   */
  void addRow(DecoratedKey key, Row row, boolean isBorrowed, long supersededAt) {
    add(key, partition -> Version.ofRow(partition, row, isBorrowed, supersededAt));
  }

  /** Copies all that is borrowed: a memtable goes, and a cell of it would hold on to all of it. */
  void takeOver() {
    for (PartitionVersions partition : partitions.values()) {
      budget.grown(partition.takeOver());
    }
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
      long added = version.bytes(); // before it can be found and taken over
      if (partition.add(version)) {
        budget.added(version, added);
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

  /**
   * The table was truncated. What replaced a version may be gone with the rest, so from then on no
   * reader may find the version.
   */
  void truncated(long timestamp) {
    partitions.values().forEach(partition -> partition.supersededBy(timestamp));
  }

  /** Returns the bytes that are free now. */
  long remove(Version version) {
    PartitionVersions partition = version.partition;
    long freed = partition.remove(version);
    if (partition.isRetired()) {
      partitions.remove(partition.key, partition);
    }
    return freed;
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

  int partitionCount() {
    return partitions.size();
  }
}
