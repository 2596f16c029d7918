// SPDX-License-Identifier: Apache-2.0
package io.isolde.staleness;

import java.util.random.RandomGenerator;

/** The distribution of a delay. */
@FunctionalInterface
public interface Delay {

  /** No delay at all. */
  Delay NONE = random -> 0;

  /** Of a distribution that is known rather than observed. */
  long KNOWN = Long.MAX_VALUE;

  /** Draws one delay: microseconds, finite, not negative. */
  double drawMicros(RandomGenerator random);

  /** How many observations this is made from; {@link #KNOWN} if it isn't. */
  default long observations() {
    return KNOWN;
  }

  /** Always the same. */
  static Delay constant(double micros) {
    require(micros, "constant delay");
    return random -> micros;
  }

  /** Exponentially distributed. */
  static Delay exponential(double meanMicros) {
    require(meanMicros, "mean");
    return random -> meanMicros * random.nextExponential();
  }

  /** Uniform between the two. */
  static Delay uniform(double lowMicros, double highMicros) {
    require(lowMicros, "lower bound");
    require(highMicros - lowMicros, "range");
    return random -> lowMicros + (highMicros - lowMicros) * random.nextDouble();
  }

  /** This and then the other, independent of it. */
  default Delay then(Delay other) {
    Delay first = this;
    return new Delay() {
      @Override
      public double drawMicros(RandomGenerator random) {
        return first.drawMicros(random) + other.drawMicros(random);
      }

      @Override
      public long observations() {
        return Math.min(first.observations(), other.observations());
      }
    };
  }

  private static void require(double micros, String what) {
    if (!(micros >= 0) || Double.isInfinite(micros)) {
      throw new IllegalArgumentException(
          "A %s must be finite and not negative, not %s.".formatted(what, micros));
    }
  }
}
