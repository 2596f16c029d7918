// SPDX-License-Identifier: Apache-2.0
package io.isolde.client.routing;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * How many requests may be sent to a second node. A cluster may be slow because it has too much to
 * do; it must not get twice as much then.
 *
 * <p>A hundred requests earn {@value #PERCENT} hedges. At most {@value #MAX_HEDGES} are saved up:
 * so many requests may be under way to a leader that hangs. It starts with all of them. Those that
 * are due when the budget is empty are still sent, and the debt is bounded in the same way; no
 * further ones become due until it is paid back.
 */
final class HedgeBudget {
  static final int PERCENT = 5;
  static final int MAX_HEDGES = 256;

  private static final int HEDGE = 100;
  private static final int MAX_SAVED = MAX_HEDGES * HEDGE;

  private final AtomicInteger saved = new AtomicInteger(MAX_SAVED);

  /** A request was sent. */
  void earn() {
    // Nearly always it is full, and then threads need not write to what they share.
    if (saved.get() < MAX_SAVED) {
      saved.updateAndGet(now -> Math.min(MAX_SAVED, now + PERCENT));
    }
  }

  /** A request was sent to a second node. */
  void spend() {
    saved.updateAndGet(now -> Math.max(-MAX_SAVED, now - HEDGE));
  }

  boolean isLeft() {
    return saved.get() >= HEDGE;
  }
}
