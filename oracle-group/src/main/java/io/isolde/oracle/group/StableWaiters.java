// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.PriorityQueue;

/**
 * Who waits for which timestamp to become stable. Nobody waits for longer than {@link #MAX_MILLIS}
 * at a time, so that what hangs on a lost connection, or asks again and again, does not pile up.
 * Not thread-safe.
 */
final class StableWaiters {
  static final long MAX_MILLIS = 1_000;

  private record Waiter(long timestamp, Request request, long untilMillis) {}

  private final int most;
  private final PriorityQueue<Waiter> waiters =
      new PriorityQueue<>(Comparator.comparingLong(Waiter::timestamp));

  /**
   * @param most who may wait
   */
  StableWaiters(int most) {
    this.most = most;
  }

  /** Takes one in; false if too many wait. */
  boolean add(long timestamp, Request request, long nowMillis) {
    return waiters.size() < most
        && waiters.add(new Waiter(timestamp, request, nowMillis + MAX_MILLIS));
  }

  /** Takes out those whose time has come. */
  List<Request> upTo(long stable) {
    if (waiters.isEmpty() || waiters.peek().timestamp > stable) {
      return List.of();
    }
    List<Request> ready = new ArrayList<>();
    while (!waiters.isEmpty() && waiters.peek().timestamp <= stable) {
      ready.add(waiters.poll().request);
    }
    return ready;
  }

  /** Takes out those who have waited long enough. */
  List<Request> overdue(long nowMillis) {
    List<Request> overdue = new ArrayList<>(0);
    for (Iterator<Waiter> all = waiters.iterator(); all.hasNext(); ) {
      Waiter waiter = all.next();
      if (nowMillis >= waiter.untilMillis) {
        overdue.add(waiter.request);
        all.remove();
      }
    }
    return overdue;
  }

  /** Takes out all. */
  List<Request> all() {
    return upTo(Long.MAX_VALUE);
  }

  int size() {
    return waiters.size();
  }
}
