// SPDX-License-Identifier: Apache-2.0
package io.isolde.staleness;

import java.util.Arrays;
import java.util.random.RandomGenerator;

/** What was observed, as buckets of a histogram; uniform inside of a bucket. */
public final class ObservedDelay implements Delay {
  private final double[] lowMicros;
  private final double[] highMicros;

  /** Increasing; the last is the number of all. */
  private final double[] cumulative;

  private final long observations;

  private ObservedDelay(double[] low, double[] high, double[] weights, long observations) {
    this.lowMicros = low;
    this.highMicros = high;
    this.observations = observations;
    this.cumulative = new double[weights.length];
    double sum = 0;
    for (int i = 0; i < weights.length; i++) {
      sum += weights[i];
      cumulative[i] = sum;
    }
    if (!(sum > 0)) {
      throw new IllegalArgumentException("A distribution needs at least one observation.");
    }
  }

  /** Single observations, each as likely as the others. */
  public static ObservedDelay of(double... micros) {
    double[] sorted = micros.clone();
    Arrays.sort(sorted);
    double[] weights = new double[sorted.length];
    Arrays.fill(weights, 1);
    return new ObservedDelay(sorted, sorted, weights, sorted.length);
  }

  /**
   * Buckets with their weights.
   *
   * @param observations how many observations stand behind all of them
   */
  public static ObservedDelay ofBuckets(
      double[] lowMicros, double[] highMicros, double[] weights, long observations) {
    return new ObservedDelay(
        lowMicros.clone(), highMicros.clone(), weights, Math.max(1, observations));
  }

  @Override
  public double drawMicros(RandomGenerator random) {
    double rank = random.nextDouble() * cumulative[cumulative.length - 1];
    int found = Arrays.binarySearch(cumulative, rank);
    // A rank that hits a boundary belongs to the bucket above it.
    int bucket = Math.min(found < 0 ? -found - 1 : found + 1, cumulative.length - 1);
    double low = lowMicros[bucket];
    double high = highMicros[bucket];
    return low == high ? low : low + (high - low) * random.nextDouble();
  }

  /** Which share of the delays is at most so long. */
  double shareUpTo(double micros) {
    int found = Arrays.binarySearch(highMicros, micros);
    // Of equal ones the last; those before the bucket are over.
    int bucket = found < 0 ? -found - 1 : found + 1;
    while (bucket < highMicros.length && highMicros[bucket] <= micros) {
      bucket++;
    }
    double before = bucket == 0 ? 0 : cumulative[bucket - 1];
    double within = 0;
    if (bucket < lowMicros.length && micros > lowMicros[bucket]) {
      within =
          (micros - lowMicros[bucket])
              / (highMicros[bucket] - lowMicros[bucket])
              * (cumulative[bucket] - before);
    }
    return (before + within) / cumulative[cumulative.length - 1];
  }

  @Override
  public long observations() {
    return observations;
  }
}
