// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench;

import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * A case in one round, with what else is known of the round.
 *
 * @param cpu processor time that was used meanwhile
 * @param compilerShare of one core that the compilers of nodes and clients had meanwhile: what was
 *     measured with much of it was partly an interpreter. NaN if that is not known
 * @param stormPerSecond requests of the storm that were answered; 0 without a storm
 */
record Sample(
    Measurement measurement, CpuClock.Usage cpu, double compilerShare, double stormPerSecond) {

  /** A sample without a storm, whose compilers nobody has looked at. */
  Sample(Measurement measurement, CpuClock.Usage cpu) {
    this(measurement, cpu, Double.NaN, 0);
  }

  Sample withStorm(double perSecond) {
    return new Sample(measurement, cpu, compilerShare, perSecond);
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

  /** Returns the context switches of the nodes for one operation. */
  double nodeSwitchesPerOperation() {
    return (double) cpu.nodeSwitches() / measurement.operations();
  }

  /** Returns the context switches of this process for one operation. */
  double clientSwitchesPerOperation() {
    return (double) cpu.clientSwitches() / measurement.operations();
  }
}
