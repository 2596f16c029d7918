// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.kit;

import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * A case in one round, with what else is known of the round.
 *
 * @param cpu processor time that was used meanwhile
 * @param stormPerSecond requests of the storm that were answered; 0 without a storm
 */
public record Sample(Measurement measurement, CpuClock.Usage cpu, double stormPerSecond) {

  /** Returns the median of something over the rounds of a case. */
  public static double median(List<Sample> rounds, ToDoubleFunction<Sample> number) {
    return Spread.median(rounds.stream().map(number::applyAsDouble).toList());
  }

  /** Returns the median throughput over the rounds of a case. */
  public static double perSecond(List<Sample> rounds) {
    return median(rounds, sample -> sample.measurement.operationsPerSecond());
  }

  /** Returns the nodes' processor time for one operation, that of their housekeeping included. */
  public double nodeMicrosPerOperation() {
    return cpu.nodeNanos() / 1e3 / measurement.operations();
  }

  /** Returns the processor time of this process for one operation. */
  public double clientMicrosPerOperation() {
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
