// SPDX-License-Identifier: Apache-2.0
package io.isolde.version;

import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import org.apache.cassandra.db.DeletionTime;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.db.rows.Cell;
import org.apache.cassandra.db.rows.ColumnData;
import org.apache.cassandra.db.rows.ComplexColumnData;
import org.apache.cassandra.db.rows.Row;
import org.apache.cassandra.utils.memory.HeapCloner;

/**
 * Something that a write replaced: cells of one row, or, under a partition or range deletion, all
 * that a memtable held there. Needed by readers as of timestamps below {@link #supersededAt}.
 */
final class Version {
  /** Instead of when it was superseded, until that is known; any reader may need it. */
  static final long NOT_KNOWN_YET = Long.MAX_VALUE;

  /** After which nobody tells any more what timestamps are in use. */
  private static final long MAX_UNKNOWN_NANOS = TimeUnit.SECONDS.toNanos(5);

  final PartitionVersions partition;

  /** Exactly one of row and content is set. Guarded by the partition, as are the next two. */
  private Row row;

  /** Whether the row's values are in the memory of a memtable. */
  private boolean isBorrowed;

  private long bytes;

  final PartitionUpdate content;

  /** If {@link #supersededAt} was not known then; else 0. */
  private final long addedNanos;

  private volatile long supersededAt;

  /** Nothing in here is older: readers as of an earlier timestamp can pass it by. */
  final long oldestTimestamp;

  private Version(
      PartitionVersions partition,
      Row row,
      boolean isBorrowed,
      PartitionUpdate content,
      long supersededAt,
      long oldestTimestamp,
      long bytes) {
    assert (row == null) != (content == null);
    this.partition = partition;
    this.row = row;
    this.isBorrowed = isBorrowed;
    this.content = content;
    this.supersededAt = supersededAt;
    this.addedNanos = supersededAt == NOT_KNOWN_YET ? System.nanoTime() : 0;
    this.oldestTimestamp = oldestTimestamp;
    this.bytes = bytes;
  }

  static Version ofRow(
      PartitionVersions partition, Row row, boolean isBorrowed, long supersededAt) {
    long size = isBorrowed ? row.unsharedHeapSizeExcludingData() : row.unsharedHeapSize();
    return new Version(
        partition, row, isBorrowed, null, supersededAt, oldestTimestamp(row), OVERHEAD + size);
  }

  static Version ofContent(
      PartitionVersions partition, PartitionUpdate content, long supersededAt) {
    long bytes = OVERHEAD + content.unsharedHeapSize();
    return new Version(partition, null, false, content, supersededAt, Long.MIN_VALUE, bytes);
  }

  /** Null if this is not of one row. */
  Row row() {
    return row;
  }

  long bytes() {
    return bytes;
  }

  /** Copies what is borrowed, and returns how many bytes more this takes. */
  long takeOver() {
    if (!isBorrowed) {
      return 0;
    }
    long before = bytes;
    row = row.clone(HeapCloner.instance);
    isBorrowed = false;
    bytes = OVERHEAD + row.unsharedHeapSize();
    return bytes - before;
  }

  long supersededAt() {
    return supersededAt;
  }

  /** It was superseded at a timestamp, or before. */
  synchronized void supersededBy(long timestamp) {
    supersededAt = Math.min(supersededAt, timestamp);
  }

  /** Whether it is known when it was superseded, now that some time has passed. */
  boolean isDecided(VersionClock clock) {
    if (supersededAt == NOT_KNOWN_YET) {
      OptionalLong newest = clock.newestBefore(addedNanos);
      if (newest.isPresent()) {
        supersededBy(newest.getAsLong());
        partition.decided();
      } else if (System.nanoTime() - addedNanos > MAX_UNKNOWN_NANOS) {
        supersededBy(clock.latestTimestamp() + VersionClock.MAX_AHEAD_MICROS);
        partition.decided();
      }
    }
    return supersededAt != NOT_KNOWN_YET;
  }

  boolean isNeededBy(long asOf) {
    return asOf < supersededAt && oldestTimestamp <= asOf;
  }

  private static long oldestTimestamp(Row row) {
    long oldest = Long.MAX_VALUE;
    if (!row.primaryKeyLivenessInfo().isEmpty()) {
      oldest = row.primaryKeyLivenessInfo().timestamp();
    }
    oldest = Math.min(oldest, orMax(row.deletion().time()));
    for (ColumnData data : row) {
      if (data instanceof ComplexColumnData complex) {
        oldest = Math.min(oldest, orMax(complex.complexDeletion()));
      }
    }
    for (Cell<?> cell : row.cells()) {
      oldest = Math.min(oldest, cell.timestamp());
    }
    return oldest;
  }

  private static long orMax(DeletionTime deletion) {
    return deletion.isLive() ? Long.MAX_VALUE : deletion.markedForDeleteAt();
  }

  /** This object, its places in two queues, and its share of the partition's entry; an estimate. */
  private static final long OVERHEAD = 160;
}
