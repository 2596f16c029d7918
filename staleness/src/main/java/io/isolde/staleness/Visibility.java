// SPDX-License-Identifier: Apache-2.0
package io.isolde.staleness;

import java.util.Arrays;
import java.util.function.Function;

/**
 * How long after the acknowledgement of a write reads see it, or one of the k last ones. Intervals
 * are for the number of trials or observations, whichever is smaller. They span what the clocks'
 * unknown offsets may do for the better and for the worse.
 */
public final class Visibility {
  /** Of reads that must meet all writes. */
  static final Visibility ALWAYS = new Visibility(new Sorted[0]);

  /** As is estimated; at the freshest that the clocks allow, and at the stalest. */
  static final int[] CLOCKS = {0, -1, 1};

  /** In this order. Empty if all is visible always. */
  private final Sorted[] byClock;

  private Visibility(Sorted[] byClock) {
    this.byClock = byClock;
  }

  /** The probability to see it at a time after the acknowledgement. */
  public Estimate after(double micros) {
    return spanning(1, sorted -> sorted.shareUpTo(micros));
  }

  /** The time after the acknowledgement at which it is seen with that probability. */
  public Estimate micros(double probability) {
    return spanning(0, sorted -> sorted.quantile(probability));
  }

  private Estimate spanning(double ifAlways, Function<Sorted, Estimate> estimate) {
    return Arrays.stream(byClock)
        .map(estimate)
        .reduce(Estimate::spanning)
        .orElse(Estimate.exact(ifAlways));
  }

  /** Of each trial, the least time after which the read is fresh. */
  static final class Trials {
    private final double[][] micros;

    Trials(int trials) {
      micros = new double[CLOCKS.length][trials];
    }

    /** For the clocks at that index of {@link #CLOCKS}. */
    void record(int trial, int index, double least) {
      micros[index][trial] = Math.max(0, least);
    }

    Visibility toVisibility(double weight) {
      Sorted[] sorted = new Sorted[CLOCKS.length];
      for (int i = 0; i < sorted.length; i++) {
        sorted[i] = new Sorted(micros[i], weight);
      }
      return new Visibility(sorted);
    }
  }
}
