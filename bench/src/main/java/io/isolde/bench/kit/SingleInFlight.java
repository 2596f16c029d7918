// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.kit;

import java.time.Duration;
import java.util.Map;

/**
 * The latency of a client that sends one request after the other, against that of a peer: what it
 * costs where nothing else goes on. The two alternate, each first in every other round.
 *
 * @param prefix of the metrics' names
 * @param peer what the other is called in them
 * @param suffix of the metrics' names
 */
public record SingleInFlight(String prefix, String peer, String suffix) {

  /** Returns the metrics. */
  public Map<String, Double> measure(Workload ours, Workload theirs, Run run) {
    String name = prefix + "single_in_flight_";
    String ourMetric = name + "p50_ms" + suffix;
    String theirMetric = name + peer + "_p50_ms" + suffix;
    Medians medians = new Medians();
    Duration each = Duration.ofSeconds(Math.max(1, run.options().seconds() / 2));
    for (int round = 0; round < run.options().rounds(); round++) {
      boolean areWeFirst = round % 2 == 0;
      double first = (areWeFirst ? ours : theirs).run(1, each).p50Millis();
      double second = (areWeFirst ? theirs : ours).run(1, each).p50Millis();
      double ourMillis = areWeFirst ? first : second;
      double theirMillis = areWeFirst ? second : first;
      medians.add(ourMetric, ourMillis);
      medians.add(theirMetric, theirMillis);
      medians.add(name + "p50_vs_" + peer + suffix, ourMillis / theirMillis);
    }
    run.say(
        "  %sone in flight: p50 %.2f ms against %.2f ms %s"
            .formatted(
                prefix.replace('_', ' '),
                medians.spread(ourMetric).median(),
                medians.spread(theirMetric).median(),
                peer));
    return medians.toMap();
  }
}
