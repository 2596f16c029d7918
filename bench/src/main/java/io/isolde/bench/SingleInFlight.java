// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench;

import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The latency of a client that sends one request after the other, against that of a peer: what it
 * costs where nothing else goes on. They take turns, each first in every other round.
 *
 * @param prefix of the metrics' names
 * @param peer what the other is called in them
 * @param suffix of the metrics' names
 */
record SingleInFlight(String prefix, String peer, String suffix) {
  Map<String, Double> measure(
      Workload ours, Workload theirs, BenchOptions options, PrintWriter out) {
    List<Double> ourMillis = new ArrayList<>();
    List<Double> theirMillis = new ArrayList<>();
    List<Double> quotients = new ArrayList<>();
    Duration each = Duration.ofSeconds(Math.max(1, options.seconds() / 2));
    for (int round = 0; round < options.rounds(); round++) {
      boolean areWeFirst = round % 2 == 0;
      double first = ClosedLoop.run(areWeFirst ? ours : theirs, 1, each).p50Millis();
      double second = ClosedLoop.run(areWeFirst ? theirs : ours, 1, each).p50Millis();
      ourMillis.add(areWeFirst ? first : second);
      theirMillis.add(areWeFirst ? second : first);
      quotients.add(ourMillis.get(round) / theirMillis.get(round));
    }
    double ourMedian = Spread.of(ourMillis).median();
    double theirMedian = Spread.of(theirMillis).median();
    out.printf(
        "  %sone in flight: p50 %.2f ms against %.2f ms %s%n",
        prefix.replace('_', ' '), ourMedian, theirMedian, peer);
    return Map.of(
        prefix + "single_in_flight_p50_ms" + suffix, ourMedian,
        prefix + "single_in_flight_" + peer + "_p50_ms" + suffix, theirMedian,
        prefix + "single_in_flight_p50_vs_" + peer + suffix, Spread.of(quotients).median());
  }
}
