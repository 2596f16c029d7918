// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.failover;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;

/** Of what the gaps of clients consist that know the leader, for events of one kind. */
final class Parts {
  private final Map<String, List<Double>> millis = new LinkedHashMap<>();
  private String last = "";

  Parts() {
    for (String part : List.of("all", "noticed", "elected", "learned")) {
      millis.put(part, new ArrayList<>());
    }
  }

  /**
   * An event is over.
   *
   * @param together of all clients: how long none succeeded
   * @param each of each client: how long after the election it has not succeeded
   */
  void add(Turnover turnover, GapClock together, List<GapClock> each) {
    long now = System.nanoTime();
    double gap = together.longestMillis(now);
    OptionalDouble noticed = turnover.noticedMillis();
    OptionalDouble elected = turnover.electedMillis();
    double[] learned =
        each.stream().flatMapToDouble(clock -> clock.afterMarkMillis(now).stream()).toArray();
    millis.get("all").add(gap);
    noticed.ifPresent(millis.get("noticed")::add);
    elected.ifPresent(after -> millis.get("elected").add(after - noticed.orElse(0)));
    Arrays.stream(learned).forEach(millis.get("learned")::add);
    last =
        "%.0f ms (noticed after %s, a leader after %s, known to all %s later)"
            .formatted(gap, text(noticed), text(elected), text(Arrays.stream(learned).max()));
  }

  private static String text(OptionalDouble millis) {
    return millis.isPresent() ? "%.0f ms".formatted(millis.getAsDouble()) : "-";
  }

  /** What the last event was like. */
  String last() {
    return last;
  }

  /** The medians and 99th percentiles, in milliseconds. */
  Map<String, Double> metrics(String event, String clients) {
    Map<String, Double> metrics = new LinkedHashMap<>();
    millis.forEach(
        (part, seen) -> {
          if (!seen.isEmpty()) {
            double[] all = seen.stream().mapToDouble(each -> each).toArray();
            String name = event + "_" + clients + "_" + part;
            metrics.put(name + "_p50_ms", Gaps.percentile(all, 50));
            metrics.put(name + "_p99_ms", Gaps.percentile(all, 99));
          }
        });
    return metrics;
  }
}
