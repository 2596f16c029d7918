// SPDX-License-Identifier: Apache-2.0
package io.isolde.staleness;

import java.util.OptionalDouble;

/**
 * What an application needs.
 *
 * @param freshProbability of a read to see a write, between 0 and 1
 * @param afterMicros how long after the write's acknowledgement
 * @param readP99Micros what 99% of the reads must not exceed, at the coordinator
 * @param writeP99Micros the same for writes
 */
public record Target(
    double freshProbability,
    double afterMicros,
    OptionalDouble readP99Micros,
    OptionalDouble writeP99Micros) {

  private static final double P99 = 0.99;

  public Target {
    if (!(freshProbability >= 0 && freshProbability <= 1)) {
      throw new IllegalArgumentException(
          "A probability is between 0 and 1, not " + freshProbability + ".");
    }
  }

  /** Whether it is met even at the worse ends of the intervals. */
  boolean isMetBy(Prediction prediction) {
    return prediction.freshAfter(afterMicros).low() >= freshProbability
        && readP99Micros.orElse(Double.MAX_VALUE) >= prediction.readMicros(P99).high()
        && writeP99Micros.orElse(Double.MAX_VALUE) >= prediction.writeMicros(P99).high();
  }

  /** Whether just more observations might show that it is met. */
  boolean mayBeMetBy(Prediction prediction) {
    return prediction.freshAfter(afterMicros).high() >= freshProbability
        && readP99Micros.orElse(Double.MAX_VALUE) >= prediction.readMicros(P99).low()
        && writeP99Micros.orElse(Double.MAX_VALUE) >= prediction.writeMicros(P99).low();
  }
}
