// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.kit;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Who used the processors in each case, as metrics of a report. */
final class CpuMetrics {
  private CpuMetrics() {}

  /** Under a storm, the processor time is for the storm, too, and says nothing. */
  static Map<String, Double> of(Map<String, List<Sample>> samples) {
    Map<String, Double> metrics = new LinkedHashMap<>();
    samples.forEach(
        (name, rounds) -> {
          if (rounds.get(0).stormPerSecond() > 0) {
            metrics.put(name + "_storm_per_s", Sample.median(rounds, Sample::stormPerSecond));
          } else {
            addPerOperation(metrics, name, rounds);
          }
          metrics.put(
              name + "_compiler_percent",
              Sample.median(rounds, sample -> 100 * sample.cpu().compilerShare()));
          metrics.put(
              name + "_cpu_elsewhere_percent",
              Sample.median(rounds, sample -> 100 * sample.cpu().elsewhere()));
        });
    return metrics;
  }

  private static void addPerOperation(
      Map<String, Double> metrics, String name, List<Sample> rounds) {
    double nodeMicros = Sample.median(rounds, Sample::nodeMicrosPerOperation);
    metrics.put("cpu_us_" + name, nodeMicros);
    metrics.put(name + "_node_cpu_us", nodeMicros);
    metrics.put(name + "_client_cpu_us", Sample.median(rounds, Sample::clientMicrosPerOperation));
    metrics.put("switches_" + name, Sample.median(rounds, Sample::nodeSwitchesPerOperation));
    metrics.put(
        "switches_client_" + name, Sample.median(rounds, Sample::clientSwitchesPerOperation));
  }
}
