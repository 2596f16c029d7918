// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.lock;

import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.HashSet;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;

/** Finds out whether transactions wait in a circle. */
final class Circles {
  /** A larger search is given up; then a circle ends by a time-out. */
  private static final int MAX_STEPS = 100_000;

  private Circles() {}

  /**
   * Whether a transaction would wait, over any number of others, for itself.
   *
   * @param before those that it would wait for
   * @param beforeOthers those that another one waits for
   */
  static boolean isIn(
      UUID transaction, Collection<UUID> before, Function<UUID, Collection<UUID>> beforeOthers) {
    Set<UUID> seen = new HashSet<>();
    Deque<UUID> toSee = new ArrayDeque<>(before);
    int steps = 0;
    while (!toSee.isEmpty() && steps < MAX_STEPS) {
      UUID next = toSee.pop();
      if (next.equals(transaction)) {
        return true;
      }
      if (seen.add(next)) {
        for (UUID other : beforeOthers.apply(next)) {
          steps++;
          if (!seen.contains(other)) {
            toSee.push(other);
          }
        }
      }
    }
    return false;
  }
}
