// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.notifications;

import io.isolde.bench.charts.Bars;
import io.isolde.bench.kit.Report;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** How latency grows with the number of watchers, as in section 6.7 of the thesis. */
public final class NotificationFigures {
  /**
   * A curve.
   *
   * @param name of its case with the most watchers
   * @param text for people
   */
  private record Kind(String name, String text) {}

  private static final List<Kind> ONE_NODE =
      List.of(
          new Kind(NotificationsBenchmark.ONE, "one node"),
          new Kind(
              NotificationsBenchmark.ZOOKEEPER + NotificationsBenchmark.ONE,
              "ZooKeeper, one server"));

  private static final List<Kind> THREE_NODES =
      List.of(
          new Kind(NotificationsBenchmark.UNBALANCED, "at one"),
          new Kind(NotificationsBenchmark.BALANCED, "balanced"),
          new Kind(
              NotificationsBenchmark.ZOOKEEPER + NotificationsBenchmark.UNBALANCED,
              "ZooKeeper, at one"),
          new Kind(
              NotificationsBenchmark.ZOOKEEPER + NotificationsBenchmark.BALANCED,
              "ZooKeeper, balanced"));

  private NotificationFigures() {}

  /** Draws mean latencies, of one server and of three. */
  public static List<Bars> of(Report report) {
    return List.of(
        figure("notifications-1", ONE_NODE, report),
        figure("notifications-3", THREE_NODES, report));
  }

  private static Bars figure(String file, List<Kind> kinds, Report report) {
    Map<String, Map<String, Double>> series = new LinkedHashMap<>();
    kinds.stream()
        .filter(kind -> report.cases().contains(kind.name))
        .forEach(kind -> series.put(kind.text, bars(kind.name, report)));
    return new Bars(file, "from a change to its notification, by watchers", "mean, ms", series);
  }

  private static Map<String, Double> bars(String kind, Report report) {
    int all = report.metrics().get(NotificationsBenchmark.WATCHERS).intValue();
    Map<String, Double> bars = new LinkedHashMap<>();
    for (int some = 1; some < all; some *= 10) {
      bars.put(text(some), meanMillis(NotificationsBenchmark.withWatchers(kind, some), report));
    }
    bars.put(text(all), meanMillis(kind, report));
    return bars;
  }

  private static String text(int watchers) {
    return String.format(Locale.ROOT, "%,d", watchers);
  }

  private static double meanMillis(String name, Report report) {
    return report.median(name, Report.Result::meanMillis);
  }
}
