// SPDX-License-Identifier: Apache-2.0
package io.isolde.transaction;

import io.isolde.apply.ListCellPaths;
import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import io.isolde.read.OwnWrites;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.apache.cassandra.db.DecoratedKey;
import org.apache.cassandra.db.PartitionPosition;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.dht.AbstractBounds;
import org.apache.cassandra.schema.TableId;

/** The uncommitted writes of one transaction. Thread-safe and bounded. */
final class WriteBuffer implements OwnWrites {
  private final long maxBytes;
  private final CommitMemory memory;
  private final Map<TableId, NavigableMap<PartitionPosition, Partition>> tables = new HashMap<>();
  private long bytes;

  /** Of these bytes, given back. */
  private long released;

  /** Provisional timestamps that were given away. */
  private int issued;

  /** All writes, oldest first, those before the first mark merged; null without marks. */
  private List<PartitionUpdate> history;

  /** A moment that the writes can be taken back to. */
  record Mark(int updates, long bytes) {}

  /** Updates of one partition, merged when somebody wants to see them. */
  private static final class Partition {
    private final List<PartitionUpdate> updates = new ArrayList<>(2);

    PartitionUpdate merged() {
      if (updates.size() > 1) {
        PartitionUpdate merged = PartitionUpdate.merge(updates);
        updates.clear();
        updates.add(merged);
      }
      return updates.get(0);
    }
  }

  /**
   * @param maxBytes for this transaction
   * @param memory for all of them
   */
  WriteBuffer(long maxBytes, CommitMemory memory) {
    this.maxBytes = maxBytes;
    this.memory = memory;
  }

  /**
   * Adds what a statement writes, or nothing if that would be too much.
   *
   * @throws IsoldeException TRANSACTION_TOO_LARGE, ORACLE_OVERLOADED
   */
  synchronized void add(Collection<PartitionUpdate> updates) {
    long added = updates.stream().mapToLong(PartitionUpdate::dataSize).sum();
    if (bytes + added > maxBytes) {
      throw IsoldeException.of(
          ErrorCode.TRANSACTION_TOO_LARGE,
          "The transaction would write more than "
              + maxBytes
              + " bytes; write less in one, or raise transaction_max_write_size.",
          "limit",
          "transaction_max_write_size");
    }
    memory.take(added);
    bytes += added;
    updates.forEach(this::put);
    if (history != null) {
      history.addAll(updates);
    }
  }

  private void put(PartitionUpdate update) {
    tables
        .computeIfAbsent(update.metadata().id, table -> new TreeMap<>())
        .computeIfAbsent(update.partitionKey(), key -> new Partition())
        .updates
        .add(update);
  }

  /** Marks this moment. From now on writes are kept twice: one by one, and merged. */
  synchronized Mark mark() {
    if (history == null) {
      history = all();
    }
    return new Mark(history.size(), bytes);
  }

  /** Takes back what was written since a mark. Timestamps of statements go on. */
  synchronized void backTo(Mark mark) {
    assert mark.bytes() <= bytes && mark.updates() <= history.size() : mark;
    history.subList(mark.updates(), history.size()).clear();
    tables.clear();
    history.forEach(this::put);
    memory.give(bytes - mark.bytes());
    bytes = mark.bytes();
  }

  /** No mark will be gone back to any more. */
  synchronized void forgetMarks() {
    history = null;
  }

  /**
   * The provisional timestamp of the next statement, which no other gets, also if they run side by
   * side: above all that the transaction reads, and above its statements before. Even, since a
   * deletion inside of a statement takes one less, and {@link ListCellPaths#keepsPlace} one more.
   */
  synchronized long nextTimestamp(long startTimestamp) {
    return (startTimestamp & ~1L) + 2L * ++issued;
  }

  @Override
  public synchronized PartitionUpdate of(TableId table, DecoratedKey key) {
    NavigableMap<PartitionPosition, Partition> partitions = tables.get(table);
    Partition partition = partitions == null ? null : partitions.get(key);
    return partition == null ? null : partition.merged();
  }

  @Override
  public synchronized Collection<PartitionUpdate> in(
      TableId table, AbstractBounds<PartitionPosition> range) {
    List<PartitionUpdate> in = new ArrayList<>();
    NavigableMap<PartitionPosition, Partition> partitions = tables.get(table);
    if (partitions != null) {
      for (Map.Entry<PartitionPosition, Partition> entry : partitions.entrySet()) {
        if (range.contains(entry.getKey())) {
          in.add(entry.getValue().merged());
        }
      }
    }
    return in;
  }

  synchronized List<PartitionUpdate> all() {
    List<PartitionUpdate> all = new ArrayList<>();
    tables.values().forEach(table -> table.values().forEach(p -> all.add(p.merged())));
    return all;
  }

  synchronized boolean isEmpty() {
    return tables.isEmpty();
  }

  /** How many statements have written. */
  synchronized int statements() {
    return issued;
  }

  synchronized long bytes() {
    return bytes;
  }

  /** The transaction has ended: the memory is free for others, once. */
  synchronized void release() {
    long held = bytes - released;
    released = bytes;
    history = null;
    memory.give(held);
  }
}
