// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.kit;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Numbers of several rounds, by the name of the metric that has their median. */
public final class Medians {
  private final Map<String, List<Double>> rounds = new LinkedHashMap<>();

  /** Adds what a round has found. */
  public void add(String name, double number) {
    rounds.computeIfAbsent(name, unused -> new ArrayList<>()).add(number);
  }

  /** Returns the spread of a metric over the rounds so far. */
  public Spread spread(String name) {
    return Spread.of(rounds.get(name));
  }

  /** Returns all metrics. */
  public Map<String, Double> toMap() {
    Map<String, Double> medians = new LinkedHashMap<>();
    rounds.forEach((name, numbers) -> medians.put(name, Spread.median(numbers)));
    return medians;
  }
}
