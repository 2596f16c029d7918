// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench;

/** Statistics of a few events. */
final class Gaps {
  private Gaps() {}

  /** The smallest number that so many percent of all are not above. */
  static double percentile(double[] sorted, int percent) {
    int rank = (int) Math.ceil(percent / 100.0 * sorted.length);
    return sorted[Math.max(0, rank - 1)];
  }
}
