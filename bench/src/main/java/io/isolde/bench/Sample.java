// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench;

import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * A case in one round, with what else is known of the round.
 *
 * @param cpu processor time that was used meanwhile
 * @param stormPerSecond requests of the storm that were answered; 0 without a storm
 */
record Sample(Measurement measurement, CpuClock.Usage cpu, double stormPerSecond) {

  Sample withStorm(double perSecond) {
    return new Sample(measurement, cpu, perSecond);
  }

  /**
   * Returns the processor time of the node for one operation, that of its housekeeping included.
   */
  double nodeMicrosPerOperation() {
    return cpu.nodeNanos() / 1e3 / measurement.operations();
  }

  /** Returns the median of something over the rounds of a case. */
  static double median(List<Sample> rounds, ToDoubleFunction<Sample> number) {
    return Spread.of(rounds.stream().map(number::applyAsDouble).toList()).median();
  }

  /** Returns the processor time of this process for one operation. */
  double clientMicrosPerOperation() {
    return cpu.clientNanos() / 1e3 / measurement.operations();
  }
}
