// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench;

import io.isolde.bench.Figure.Point;
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
final class SnapshotFigures {
  private static final String LATENCY = "mean latency of reads, ms";

  private final Map<String, Double> metrics;

  private SnapshotFigures(Map<String, Double> metrics) {
    this.metrics = metrics;
  }

  static List<Figure> of(Report report) {
    SnapshotFigures figures = new SnapshotFigures(report.metrics());
    return Stream.of(
            figures.loads("snapshots-07-read-only", "D"),
            figures.loads("snapshots-08-update-heavy", "A"),
            figures.iterations(),
            figures.distribution(),
            figures.creation())
        .filter(figure -> !figure.curves().isEmpty())
        .toList();
  }

  private Figure loads(String file, String workload) {
    Map<String, List<Point>> curves = new LinkedHashMap<>();
    for (String kind : List.of("live", "snapshot")) {
      Pattern load = Pattern.compile("curve_" + workload + "_" + kind + "_(\\d+)_per_s");
      List<Point> points = new ArrayList<>();
      metrics.forEach(
          (name, perSecond) -> {
            if (load.matcher(name).matches()) {
              points.add(new Point(perSecond, metrics.get(name.replace("_per_s", "_mean_ms"))));
            }
          });
      put(curves, kind.equals("live") ? "the table" : "a snapshot of it", points);
    }
    return new Figure(file, "workload " + workload, "operations per second", LATENCY, curves);
  }

  private Figure iterations() {
    Map<String, List<Point>> curves = new LinkedHashMap<>();
    put(curves, "no snapshots", numbered("iteration_none_(\\d+)_mean_ms"));
    put(curves, "a snapshot each time", numbered("iteration_snapshots_(\\d+)_mean_ms"));
    put(curves, "bounded compaction", numbered("iteration_bounded_(\\d+)_mean_ms"));
    return new Figure(
        "snapshots-12-iterations", "ever more snapshots", "iteration", LATENCY, curves);
  }

  private Figure distribution() {
    Map<String, List<Point>> curves = new LinkedHashMap<>();
    put(curves, "no snapshots", numbered("reads_of_(\\d+)_sstables_none_percent"));
    put(curves, "ten snapshots", numbered("reads_of_(\\d+)_sstables_snapshots_percent"));
    put(curves, "bounded compaction", numbered("reads_of_(\\d+)_sstables_bounded_percent"));
    return new Figure(
        "snapshots-13-sstables", "after ten snapshots", "SSTables of a read", "reads, %", curves);
  }

  private Figure creation() {
    Map<String, List<Point>> curves = new LinkedHashMap<>();
    put(curves, "one node", numbered("creation_of_(\\d+)_sstables_ms"));
    return new Figure(
        "snapshots-creation", "taking a snapshot", "SSTables", "milliseconds", curves);
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

  private static void put(Map<String, List<Point>> curves, String name, List<Point> points) {
    if (!points.isEmpty()) {
      curves.put(name, points);
    }
  }
}
