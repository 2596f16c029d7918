// SPDX-License-Identifier: Apache-2.0
package io.isolde.staleness;

import java.util.random.RandomGenerator;

/** A random order. */
final class Shuffle {
  private Shuffle() {}

  /** Fills in 0, 1, 2 and so on, in random order (Fisher and Yates). */
  static void fill(int[] order, RandomGenerator random) {
    for (int i = 0; i < order.length; i++) {
      int j = random.nextInt(i + 1);
      order[i] = order[j];
      order[j] = i;
    }
  }
}
