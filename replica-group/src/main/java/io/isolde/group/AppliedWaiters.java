// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.concurrent.CompletableFuture;

/** Those who wait until an entry of the log is applied here. Thread-safe; refuses too many. */
final class AppliedWaiters {
  private static final int MOST = 1024;

  private record Waiter(long index, CompletableFuture<Void> answer) {}

  /** Guarded by itself. */
  private final PriorityQueue<Waiter> waiters =
      new PriorityQueue<>(Comparator.comparingLong(Waiter::index));

  /** The first that somebody waits for. */
  private volatile long awaited = Long.MAX_VALUE;

  /** Completes when the entry is applied; fails at once if too many wait. */
  CompletableFuture<Void> await(long index) {
    CompletableFuture<Void> answer = new CompletableFuture<>();
    synchronized (waiters) {
      if (waiters.size() >= MOST) {
        answer.completeExceptionally(
            new GroupFailure(
                GroupFailure.Reason.OVERLOADED, "More than " + MOST + " wait for entries."));
        return answer;
      }
      waiters.add(new Waiter(index, answer));
      awaited = waiters.peek().index();
    }
    return answer;
  }

  /** Up to and with this entry all are applied. Cheap while nobody waits. */
  void applied(long index) {
    if (index < awaited) {
      return;
    }
    List<Waiter> done = new ArrayList<>();
    synchronized (waiters) {
      while (!waiters.isEmpty() && waiters.peek().index() <= index) {
        done.add(waiters.poll());
      }
      awaited = waiters.isEmpty() ? Long.MAX_VALUE : waiters.peek().index();
    }
    done.forEach(waiter -> waiter.answer().complete(null));
  }
}
