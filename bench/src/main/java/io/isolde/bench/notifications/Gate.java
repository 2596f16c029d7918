// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.notifications;

import java.util.ArrayDeque;
import java.util.Deque;

/** Lets only some of many connect at once, as they would not all do in the same moment. */
final class Gate {
  static final int MAX_CONNECTING = 64;

  /** Guarded by this; as many as there are connections at most. */
  private final Deque<Runnable> waiting = new ArrayDeque<>();

  private int inside;

  /** Runs it now, or when others have left. */
  void enter(Runnable connect) {
    synchronized (this) {
      if (inside == MAX_CONNECTING) {
        waiting.add(connect);
        return;
      }
      inside++;
    }
    connect.run();
  }

  /** One is connected, or failed. */
  void leave() {
    Runnable next;
    synchronized (this) {
      next = waiting.poll();
      if (next == null) {
        inside--;
      }
    }
    if (next != null) {
      next.run();
    }
  }
}
