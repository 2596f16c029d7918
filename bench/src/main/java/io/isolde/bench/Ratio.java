// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The throughput of a case, measured by that of another in the same round.
 *
 * @param key its name in the report
 */
record Ratio(String key, String of, String to) {

  /** Returns the spread over the rounds. */
  Spread in(Map<String, List<Sample>> samples) {
    List<Sample> dividends = samples.get(of);
    List<Sample> divisors = samples.get(to);
    List<Double> quotients = new ArrayList<>();
    for (int round = 0; round < dividends.size(); round++) {
      quotients.add(throughput(dividends.get(round)) / throughput(divisors.get(round)));
    }
    return Spread.of(quotients);
  }

  private static double throughput(Sample sample) {
    return sample.measurement().operationsPerSecond();
  }
}
