// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import io.isolde.group.HandOverPolicy.Reason;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/** The last decisions of this node about who leads. */
public final class LeadershipEvents {
  private static final int KEPT = 500;

  /** Why a leader would rather not lead. */
  public enum Cause {
    /** A heavy compaction is due. */
    COMPACTION,
    /** Memtables fill faster than they are flushed. */
    FLUSHES,
    /** The heap fills up with old objects. */
    COLLECTION,
    /** Its keyspace wants leaders in another datacenter. */
    DATACENTER
  }

  /**
   * What would slow a leader down.
   *
   * @param table null unless it is that of one table
   * @param bytes 0 if it is no work
   */
  record Work(Cause cause, String table, long bytes) {}

  /**
   * A decision.
   *
   * @param table null unless the work is that of one table
   * @param transferTarget the address of the node to which it was handed over, or would have been;
   *     or null
   * @param tookMicros until the other node led, or it had failed; 0 where nothing was done
   */
  public record Event(
      long number,
      long atMillis,
      String keyspace,
      int group,
      Cause cause,
      String table,
      long workBytes,
      Reason reason,
      String transferTarget,
      boolean hasFailed,
      long tookMicros) {}

  /** At most {@link #KEPT}. */
  private final Deque<Event> events = new ArrayDeque<>();

  private long last;

  synchronized void add(
      long atMillis,
      StrongKeyspaces.Shown group,
      Work work,
      Reason reason,
      String transferTarget,
      boolean hasFailed,
      long tookMicros) {
    if (events.size() == KEPT) {
      events.removeFirst();
    }
    last++;
    events.add(
        new Event(
            last,
            atMillis,
            group.keyspace(),
            group.group().number(),
            work.cause(),
            work.table(),
            work.bytes(),
            reason,
            transferTarget,
            hasFailed,
            tookMicros));
  }

  /** The newest last. */
  public synchronized List<Event> all() {
    return List.copyOf(events);
  }
}
