// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import io.isolde.group.HandOverPolicy.Reason;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/** The last decisions of this node about who leads. */
public final class LeadershipEvents {
  private static final int KEPT = 500;

  /**
   * A decision.
   *
   * @param heir the address of the node to which it was handed over, or would have been; or null
   * @param tookMicros until the other node led, or it had failed; 0 where nothing was done
   */
  public record Event(
      long number,
      long atMillis,
      String keyspace,
      int group,
      String table,
      long workBytes,
      Reason reason,
      String heir,
      boolean hasFailed,
      long tookMicros) {}

  /** At most {@link #KEPT}. */
  private final Deque<Event> events = new ArrayDeque<>();

  private long last;

  synchronized void add(
      long atMillis,
      StrongKeyspaces.Shown group,
      String table,
      long workBytes,
      Reason reason,
      String heir,
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
            table,
            workBytes,
            reason,
            heir,
            hasFailed,
            tookMicros));
  }

  /** The newest last. */
  public synchronized List<Event> all() {
    return List.copyOf(events);
  }
}
