// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.notifications;

import java.util.Map;

/** How evenly watchers are spread over nodes. */
final class Spreads {
  private Spreads() {}

  /**
   * How many times the mean the node with most watchers has: 1 is even.
   *
   * @param nodes how many there are, those without watchers included
   */
  static double mostPerMean(Map<String, Integer> spread, int nodes) {
    int all = spread.values().stream().mapToInt(Integer::intValue).sum();
    int most = spread.values().stream().mapToInt(Integer::intValue).max().orElse(0);
    return all == 0 ? 1 : (double) most * nodes / all;
  }
}
