// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.group;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.PriorityQueue;

/**
 * Who waits until a position is reached: an entry of a log, or a timestamp. Each has a time limit,
 * so that what hangs on a lost connection, or asks again and again, does not pile up. Thread-safe;
 * refuses too many.
 */
public final class PositionWaiters<W> {
  private record Waiting<W>(long position, W waiter, long untilMillis) {}

  private final int maxWaiters;

  /** Guarded by this. */
  private final PriorityQueue<Waiting<W>> queue =
      new PriorityQueue<>(Comparator.comparingLong(Waiting::position));

  /** The first position that somebody waits for. Written under the lock of this. */
  private volatile long first = Long.MAX_VALUE;

  /** Takes so many at most. */
  public PositionWaiters(int maxWaiters) {
    this.maxWaiters = maxWaiters;
  }

  /**
   * Takes one in; false if too many wait.
   *
   * @param untilMillis when {@link #overdue} takes it out
   */
  public synchronized boolean add(long position, W waiter, long untilMillis) {
    boolean isTaken =
        queue.size() < maxWaiters && queue.add(new Waiting<>(position, waiter, untilMillis));
    lookAtFirst();
    return isTaken;
  }

  /** Takes out those whose position is reached, in its order. Cheap while there are none. */
  public List<W> reached(long position) {
    return position < first ? List.of() : take(position);
  }

  private synchronized List<W> take(long position) {
    List<W> reached = new ArrayList<>();
    while (!queue.isEmpty() && queue.peek().position <= position) {
      reached.add(queue.poll().waiter);
    }
    lookAtFirst();
    return reached;
  }

  /** Takes out those who have waited long enough. */
  public synchronized List<W> overdue(long nowMillis) {
    List<W> overdue = new ArrayList<>(0);
    for (Iterator<Waiting<W>> all = queue.iterator(); all.hasNext(); ) {
      Waiting<W> one = all.next();
      if (nowMillis >= one.untilMillis) {
        overdue.add(one.waiter);
        all.remove();
      }
    }
    lookAtFirst();
    return overdue;
  }

  private void lookAtFirst() {
    first = queue.isEmpty() ? Long.MAX_VALUE : queue.peek().position;
  }

  /** Takes out all. */
  public List<W> all() {
    return reached(Long.MAX_VALUE);
  }
}
