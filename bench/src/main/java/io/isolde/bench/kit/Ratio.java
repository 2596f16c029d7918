// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.kit;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The throughput of a case, measured by that of another in the same round.
 *
 * @param key its name in the report
 */
public record Ratio(String key, String of, String to) {

  /** Returns the spread over the rounds. */
  Spread in(Map<String, List<Sample>> samples) {
    List<Sample> dividends = samples.get(of);
    List<Sample> divisors = samples.get(to);
    List<Double> quotients = new ArrayList<>();
    for (int round = 0; round < dividends.size(); round++) {
      quotients.add(
          dividends.get(round).measurement().operationsPerSecond()
              / divisors.get(round).measurement().operationsPerSecond());
    }
    return Spread.of(quotients);
  }

  /** Returns the same of cases with longer names. */
  public Ratio withSuffix(String suffix) {
    return new Ratio(key + suffix, of + suffix, to + suffix);
  }
}
