// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.kit;

import java.util.Collection;

/** The smallest, the middle and the largest of some numbers. */
public record Spread(double min, double median, double max) {

  /**
   * Returns the spread of numbers; the median of an even count is the mean of the two in the
   * middle.
   *
   * @throws IllegalArgumentException if there are none
   */
  public static Spread of(Collection<Double> numbers) {
    double[] sorted = numbers.stream().mapToDouble(Double::doubleValue).sorted().toArray();
    if (sorted.length == 0) {
      throw new IllegalArgumentException("There are no numbers.");
    }
    return new Spread(sorted[0], medianOf(sorted), sorted[sorted.length - 1]);
  }

  /** Returns the median alone. */
  public static double median(Collection<Double> numbers) {
    return of(numbers).median;
  }

  private static double medianOf(double[] sorted) {
    int middle = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }
}
