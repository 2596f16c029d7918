// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.oracle;

import io.isolde.bench.charts.Figure;
import io.isolde.bench.charts.Figure.Point;
import io.isolde.bench.kit.Report;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;

/** Draws figures 5 to 10 of the paper from the report of {@link OracleCurves}. */
public final class CurveFigures {
  private static final String LATENCY = "mean latency, ms";
  private static final String ABORTS = "aborted transactions, %";

  private final Report report;

  private CurveFigures(Report report) {
    this.report = report;
  }

  /** Returns those of which there are curves. */
  public static List<Figure> of(Report report) {
    CurveFigures figures = new CurveFigures(report);
    return Stream.of(
            figures.latency("figure-05", "transactions that all write", "fig5_complex"),
            figures.latency("figure-06", "mixed, uniform rows", "fig6_uniform"),
            figures.latency("figure-07", "mixed, Zipfian rows", "fig7_fig8_zipfian"),
            figures.aborts("figure-08", "mixed, Zipfian rows", "fig7_fig8_zipfian"),
            figures.latency("figure-09", "mixed, latest rows", "fig9_fig10_latest"),
            figures.aborts("figure-10", "mixed, latest rows", "fig9_fig10_latest"))
        .filter(figure -> !figure.curves().isEmpty())
        .toList();
  }

  private Figure latency(String file, String what, String cases) {
    return figure(
        file, what, LATENCY, cases, name -> report.median(name, Report.Result::meanMillis));
  }

  private Figure aborts(String file, String what, String cases) {
    return figure(
        file,
        what,
        ABORTS,
        cases,
        name -> report.metrics().getOrDefault(name + "_aborted_percent", 0.0));
  }

  private Figure figure(
      String file, String what, String yAxis, String cases, ToDoubleFunction<String> y) {
    Map<String, List<Point>> curves = new LinkedHashMap<>();
    for (String level : List.of("si", "wsi")) {
      List<Point> points = new ArrayList<>();
      for (String name : namesOf(cases + "_" + level + "_")) {
        points.add(
            new Point(
                report.median(name, Report.Result::operationsPerSecond), y.applyAsDouble(name)));
      }
      if (!points.isEmpty()) {
        curves.put(level.equals("si") ? "SNAPSHOT" : "SERIALIZABLE", points);
      }
    }
    return new Figure(file, what, "transactions per second", yAxis, curves);
  }

  /** The cases of a curve, with ever more clients. */
  private List<String> namesOf(String prefix) {
    return report.cases().stream()
        .filter(name -> name.startsWith(prefix))
        .sorted(Comparator.comparingInt(name -> Integer.parseInt(name.substring(prefix.length()))))
        .toList();
  }
}
