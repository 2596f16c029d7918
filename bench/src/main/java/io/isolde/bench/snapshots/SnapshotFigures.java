// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.snapshots;

import io.isolde.bench.charts.Figure;
import io.isolde.bench.charts.Figure.Point;
import io.isolde.bench.kit.Report;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Draws what {@link SnapshotsBenchmark} has measured; numbered as in the paper where it has such.
 */
public final class SnapshotFigures {
  private static final String LATENCY = "mean latency of reads, ms";

  private final Map<String, Double> metrics;

  private SnapshotFigures(Map<String, Double> metrics) {
    this.metrics = metrics;
  }

  /** Returns those of which there are numbers. */
  public static List<Figure> of(Report report) {
    SnapshotFigures figures = new SnapshotFigures(report.metrics());
    return Stream.of(
            figures.loads("snapshots-07-read-only", "D"),
            figures.loads("snapshots-08-update-heavy", "A"),
            new Figure(
                "snapshots-12-iterations",
                "ever more snapshots",
                "iteration",
                LATENCY,
                figures.ofThreeTables("iteration_%s_(\\d+)_mean_ms", "a snapshot each time")),
            new Figure(
                "snapshots-13-sstables",
                "after ten snapshots",
                "SSTables of a read",
                "reads, %",
                figures.ofThreeTables("reads_of_(\\d+)_sstables_%s_percent", "ten snapshots")),
            new Figure(
                "snapshots-creation",
                "taking a snapshot",
                "SSTables",
                "milliseconds",
                withPoints(Map.of("one node", figures.numbered("creation_of_(\\d+)_sstables_ms")))))
        .filter(figure -> !figure.curves().isEmpty())
        .toList();
  }

  private Figure loads(String file, String workload) {
    Map<String, List<Point>> curves = new LinkedHashMap<>();
    curves.put("the table", load("curve_" + workload + "_live_\\d+_per_s"));
    curves.put("a snapshot of it", load("curve_" + workload + "_snapshot_\\d+_per_s"));
    return new Figure(
        file, "workload " + workload, "operations per second", LATENCY, withPoints(curves));
  }

  private List<Point> load(String regex) {
    List<Point> points = new ArrayList<>();
    metrics.forEach(
        (name, perSecond) -> {
          if (name.matches(regex)) {
            points.add(new Point(perSecond, metrics.get(name.replace("_per_s", "_mean_ms"))));
          }
        });
    return points;
  }

  private Map<String, List<Point>> ofThreeTables(String regex, String withSnapshots) {
    Map<String, List<Point>> curves = new LinkedHashMap<>();
    curves.put("no snapshots", numbered(regex.replace("%s", "none")));
    curves.put(withSnapshots, numbered(regex.replace("%s", "snapshots")));
    curves.put("bounded compaction", numbered(regex.replace("%s", "bounded")));
    return withPoints(curves);
  }

  /** The metrics of a pattern, in their order; x is the number in the name. */
  private List<Point> numbered(String regex) {
    Pattern pattern = Pattern.compile(regex);
    List<Point> points = new ArrayList<>();
    metrics.forEach(
        (name, value) -> {
          Matcher matcher = pattern.matcher(name);
          if (matcher.matches()) {
            points.add(new Point(Double.parseDouble(matcher.group(1)), value));
          }
        });
    return points;
  }

  private static Map<String, List<Point>> withPoints(Map<String, List<Point>> curves) {
    Map<String, List<Point>> some = new LinkedHashMap<>(curves);
    some.values().removeIf(List::isEmpty);
    return some;
  }
}
