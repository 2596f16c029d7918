// SPDX-License-Identifier: Apache-2.0
package io.isolde.operations;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.OptionalDouble;
import java.util.concurrent.TimeUnit;

/** How fast a counter has grown in the last minute, as far as somebody looked. Thread-safe. */
final class Rate {
  private static final long WINDOW_MILLIS = TimeUnit.MINUTES.toMillis(1);

  /** Looks that follow one another faster say nothing new; so there are at most 61. */
  private static final long STEP_MILLIS = 1_000;

  private record Look(long atMillis, long count) {}

  private final Deque<Look> looks = new ArrayDeque<>();

  /**
   * Remembers what the counter says.
   *
   * @param nowMillis must not go back
   */
  synchronized void look(long nowMillis, long count) {
    Look newest = looks.peekLast();
    if (newest != null && count < newest.count) {
      looks.clear(); // another counter
    } else if (newest != null && nowMillis - newest.atMillis < STEP_MILLIS) {
      return;
    }
    looks.addLast(new Look(nowMillis, count));
    while (looks.getFirst().atMillis < nowMillis - WINDOW_MILLIS) {
      looks.removeFirst();
    }
  }

  /** Empty if there were not two looks within the last minute. */
  synchronized OptionalDouble perSecond() {
    if (looks.size() < 2) {
      return OptionalDouble.empty();
    }
    Look first = looks.getFirst();
    Look last = looks.getLast();
    return OptionalDouble.of(
        1000.0 * (last.count - first.count) / (last.atMillis - first.atMillis));
  }
}
