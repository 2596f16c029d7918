// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.failover;

import java.util.ArrayList;
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

  void add(Turnover turnover, GapClock clients) {
    double gap = clients.longestMillis(System.nanoTime());
    OptionalDouble noticed = turnover.noticedMillis();
    OptionalDouble elected = turnover.electedMillis();
    OptionalDouble learned = turnover.learnedMillis(clients);
    millis.get("all").add(gap);
    noticed.ifPresent(millis.get("noticed")::add);
    elected.ifPresent(each -> millis.get("elected").add(each - noticed.orElse(0)));
    learned.ifPresent(millis.get("learned")::add);
    last =
        "%.0f ms (noticed after %s, a leader after %s, known %s later)"
            .formatted(gap, text(noticed), text(elected), text(learned));
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
