// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;

/**
 * Who waits for which timestamp to become stable. Bounded by the requests that connections may have
 * in flight. Not thread-safe.
 */
final class StableWaiters {
  private record Waiter(long timestamp, Request request) {}

  private final PriorityQueue<Waiter> waiters =
      new PriorityQueue<>(Comparator.comparingLong(Waiter::timestamp));

  void add(long timestamp, Request request) {
    waiters.add(new Waiter(timestamp, request));
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

  /** Takes out all. */
  List<Request> all() {
    return upTo(Long.MAX_VALUE);
  }

  int size() {
    return waiters.size();
  }
}
