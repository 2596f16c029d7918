// SPDX-License-Identifier: Apache-2.0
package io.isolde.staleness;

import java.util.Arrays;

/** Simulated values of one kind, to be asked for shares and quantiles. */
final class Sorted {
  private final double[] values;

  /** How many independent values they count for. */
  private final double weight;

  /** Sorts the array, which must not be changed any more. */
  Sorted(double[] values, double weight) {
    Arrays.sort(values);
    this.values = values;
    this.weight = weight;
  }

  /** Which share of the values is at most this. */
  Estimate shareUpTo(double bound) {
    return Estimate.ofShare((double) countUpTo(bound) / values.length, weight);
  }

  private int countUpTo(double bound) {
    int low = 0;
    int high = values.length;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (values[middle] <= bound) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  /** The least value that this share does not exceed, between the values at the share's bounds. */
  Estimate quantile(double share) {
    Estimate where = Estimate.ofShare(share, weight);
    return new Estimate(at(share), at(where.low()), at(where.high()));
  }

  private double at(double share) {
    int index = (int) Math.ceil(share * values.length) - 1;
    return values[Math.max(0, Math.min(values.length - 1, index))];
  }
}
