// SPDX-License-Identifier: Apache-2.0
package io.isolde.version;

import java.lang.ref.Reference;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import org.apache.cassandra.db.Clustering;
import org.apache.cassandra.db.DecoratedKey;
import org.apache.cassandra.db.Keyspace;
import org.apache.cassandra.db.lifecycle.View;
import org.apache.cassandra.db.memtable.Memtable;
import org.apache.cassandra.utils.concurrent.OpOrder;

/**
 * Which rows of a table were written lately, in the order of their arrival on this replica. An
 * index says what rows have now. Together with the rows that were written after T it says which
 * rows may have had a value at T.
 *
 * <p>A writer adds a change <em>before</em> its memtable publishes it. So a reader that asks the
 * index first, and this second, misses nothing.
 *
 * <p>Changes are kept for as long as a reader may ask for the past before them. At the bound the
 * oldest go, and readers of that past do without indexes. Only tables that have indexes need it:
 * else it is off, and empty.
 */
public final class ChangeLog {
  /** A write to a memtable takes some microseconds, unless its thread is put aside. */
  private static final long WRITER_PATIENCE_NANOS = 1_000_000;

  /** This object, its share of the key, and its place in the list; an estimate. */
  private static final long OVERHEAD_BYTES = 160;

  /**
   * One row that was written.
   *
   * @param row null if it is more than a row: a partition, or a range of rows
   * @param timestamp of the newest that was written, or above (microseconds)
   */
  record Change(DecoratedKey key, Clustering<?> row, long timestamp) {
    private long bytes() {
      return OVERHEAD_BYTES + key.getKey().remaining() + (row == null ? 0 : row.unsharedHeapSize());
    }
  }

  /** A place in the order of arrival. */
  static final class Node {
    final Change change;

    /** The newest timestamp of this change and all before it. */
    private final long newestSoFar;

    private volatile Node previous;
    private volatile Node next;

    private Node(Change change, Node previous) {
      this.change = change;
      this.previous = previous;
      this.newestSoFar =
          previous == null ? change.timestamp : Math.max(previous.newestSoFar, change.timestamp);
    }

    /** The change that came next; null if there is none yet. */
    Node next() {
      return next;
    }
  }

  private enum Phase {
    OFF,
    /** The table is gone; it stays off. */
    CLOSED,
    /** Writers that have begun before this log was on may not have been seen. */
    WRITERS_UNSEEN,
    /** All of them are done, but nobody knows yet how new their writes are. */
    AGE_UNKNOWN,
    COVERING
  }

  private final VersionClock clock;
  private final AtomicLong nodeBytes;
  private final long maxNodeBytes;

  private volatile Phase phase = Phase.OFF;

  /** Guarded by this, as are the next four. */
  private OpOrder.Barrier writersBefore;

  private long writersDoneNanos;
  private Node oldest;
  private long bytes;

  /** The newest timestamp of which changes are missing. */
  private long givenUp = Long.MIN_VALUE;

  /** As of an earlier timestamp, changes may be missing. */
  private volatile long coversFrom = Long.MAX_VALUE;

  /** Memtables that may have what expires; a memtable may be a large part of the heap. */
  private volatile List<Reference<Memtable>> expiring = List.of();

  /** The partitions that are being written; as many as there are threads that write. */
  private final Map<Object, DecoratedKey> writing = new ConcurrentHashMap<>();

  /** Never null while the log is on: it begins with a change of nothing. */
  private volatile Node newest;

  /**
   * A log that is off.
   *
   * @param nodeBytes what all logs of this node hold
   * @param maxNodeBytes its bound: a table that adds above it gives up its own oldest changes
   */
  ChangeLog(VersionClock clock, AtomicLong nodeBytes, long maxNodeBytes) {
    this.clock = clock;
    this.nodeBytes = nodeBytes;
    this.maxNodeBytes = maxNodeBytes;
  }

  boolean isOn() {
    return phase != Phase.OFF && phase != Phase.CLOSED;
  }

  /**
   * A table has its first index, or has none any more.
   *
   * @param view what the table has now
   */
  synchronized void setOn(boolean on, View view) {
    if (on == isOn() || phase == Phase.CLOSED) {
      return;
    }
    if (on) {
      sawExpiring(view.getCurrentMemtable()); // Nobody has looked so far.
      newest = new Node(new Change(null, null, Long.MIN_VALUE), null);
      oldest = newest;
      phase = Phase.WRITERS_UNSEEN;
      writersBefore = Keyspace.writeOrder.newBarrier();
      writersBefore.issue();
    } else {
      phase = Phase.OFF;
      coversFrom = Long.MAX_VALUE;
      nodeBytes.addAndGet(-bytes);
      bytes = 0;
      newest = null;
      oldest = null;
    }
  }

  /** The table is gone. */
  synchronized void close() {
    setOn(false, null);
    phase = Phase.CLOSED;
  }

  /** Whether all rows that were written after a timestamp are here. Does not wait. */
  boolean covers(long asOf) {
    if (phase == Phase.WRITERS_UNSEEN || phase == Phase.AGE_UNKNOWN) {
      learnAge();
    }
    return asOf >= coversFrom;
  }

  private synchronized void learnAge() {
    if (phase == Phase.WRITERS_UNSEEN && writersBefore.getSyncPoint().isFinished()) {
      writersDoneNanos = System.nanoTime();
      phase = Phase.AGE_UNKNOWN;
    }
    if (phase == Phase.AGE_UNKNOWN) {
      OptionalLong known = clock.newestBefore(writersDoneNanos);
      if (known.isPresent()) {
        coversFrom = Math.max(known.getAsLong(), givenUp);
        phase = Phase.COVERING;
      }
    }
  }

  /** Something with a TTL is written to a memtable, or may have been. */
  void sawExpiring(Memtable memtable) {
    if (!isExpiring(memtable)) {
      addExpiring(memtable);
    }
  }

  private boolean isExpiring(Memtable memtable) {
    for (Reference<Memtable> known : expiring) {
      if (known.refersTo(memtable)) {
        return true;
      }
    }
    return false;
  }

  private synchronized void addExpiring(Memtable memtable) {
    List<Reference<Memtable>> all = new ArrayList<>();
    for (Reference<Memtable> known : expiring) {
      if (!known.refersTo(null)) {
        all.add(known);
      }
    }
    all.add(new WeakReference<>(memtable));
    expiring = List.copyOf(all);
  }

  /** Whether memtables may have what expires. */
  boolean hasExpiring(View view) {
    for (Memtable memtable : view.getAllMemtables()) {
      if (isExpiring(memtable)) {
        return true;
      }
    }
    return false;
  }

  /** Data came in that was not written here, like a stream: what it replaced is not known. */
  synchronized void missed(long newestTimestamp) {
    givenUpTo(newestTimestamp);
  }

  /**
   * A partition is about to be written. An index may let go of what it had of a row before this log
   * has the row.
   *
   * @return whether the writer has to {@link #end}
   */
  boolean begin(Object writer, DecoratedKey key) {
    if (!isOn()) {
      return false;
    }
    writing.put(writer, key);
    return true;
  }

  /** All that was written is in this log. */
  void end(Object writer) {
    writing.remove(writer);
  }

  /**
   * Waits for those who write to some partitions now; to be called <em>before</em> changes are
   * looked at.
   *
   * @return the partitions that are still being written after a moment
   */
  Collection<DecoratedKey> awaitWriting(Predicate<DecoratedKey> selected) {
    long start = System.nanoTime();
    Set<DecoratedKey> late = new HashSet<>();
    for (Map.Entry<Object, DecoratedKey> writer : writing.entrySet()) {
      if (!selected.test(writer.getValue())) {
        continue;
      }
      while (writing.containsKey(writer.getKey())) {
        if (System.nanoTime() - start > WRITER_PATIENCE_NANOS) {
          late.add(writer.getValue());
          break;
        }
        Thread.onSpinWait();
      }
    }
    return late;
  }

  /** To be called before the write can be seen. */
  synchronized void add(Change change) {
    if (!isOn()) {
      return;
    }
    Node node = new Node(change, newest);
    newest.next = node;
    newest = node;
    bytes += change.bytes();
    if (nodeBytes.addAndGet(change.bytes()) > maxNodeBytes && oldest.next != node) {
      giveUp(oldest.next);
    }
  }

  /** Lets go of what no reader needs. */
  synchronized void release(long lowWatermark) {
    if (!isOn()) {
      return;
    }
    Node last = oldest;
    while (last.next != null && last.next.newestSoFar <= lowWatermark) {
      last = last.next;
    }
    giveUp(last);
  }

  private void givenUpTo(long timestamp) {
    givenUp = Math.max(givenUp, timestamp);
    if (phase == Phase.COVERING) {
      coversFrom = Math.max(coversFrom, givenUp);
    }
  }

  /** Up to a node, which stays as the beginning of the list. */
  private void giveUp(Node last) {
    givenUpTo(last.newestSoFar);
    long freed = 0;
    while (oldest != last) {
      oldest = oldest.next;
      freed += oldest.change.bytes();
    }
    last.previous = null;
    bytes -= freed;
    assert bytes >= 0 : bytes;
    nodeBytes.addAndGet(-freed);
  }

  /**
   * The place before all changes that are newer than a timestamp. Older ones may follow it, too.
   *
   * @return null if some are missing: the log does not cover this timestamp
   */
  Node before(long asOf) {
    Node node = newest;
    if (node == null) {
      return null;
    }
    while (node.newestSoFar > asOf && node.previous != null) {
      node = node.previous;
    }
    // Only now: who gives up changes says so before it cuts the list.
    return covers(asOf) ? node : null;
  }
}
