// SPDX-License-Identifier: Apache-2.0
package io.isolde.staleness;

/**
 * How long after the acknowledgement of a write reads see it, or one of the k last ones. Intervals
 * are for the number of trials or observations, whichever is smaller, and span what the clocks'
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
    return byClock.length == 0
        ? Estimate.exact(1)
        : byClock[0]
            .shareUpTo(micros)
            .spanning(byClock[1].shareUpTo(micros))
            .spanning(byClock[2].shareUpTo(micros));
  }

  /** The time after the acknowledgement at which it is seen with that probability. */
  public Estimate micros(double probability) {
    return byClock.length == 0
        ? Estimate.exact(0)
        : byClock[0]
            .quantile(probability)
            .spanning(byClock[1].quantile(probability))
            .spanning(byClock[2].quantile(probability));
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
