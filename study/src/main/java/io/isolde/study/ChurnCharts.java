// SPDX-License-Identifier: Apache-2.0
package io.isolde.study;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.internal.chartpart.Chart;

/** The figures of churn: what clients saw each second, and what was done to the nodes meanwhile. */
final class ChurnCharts {
  /** Seconds of three digits would touch one another if they lay. */
  private static final int LABELS_UPRIGHT_DEGREES = 90;

  /** The height of the plot against that of the curve, below the words at the events. */
  private static final double ROOM_FOR_WORDS = 1.5;

  private ChurnCharts() {}

  /** By file name, in the order of the report. */
  static Map<String, Chart<?, ?>> of(Churn.Timeline timeline) {
    Map<String, Chart<?, ?>> charts = new LinkedHashMap<>();
    charts.put("figure5-churn-latency", latency(timeline));
    charts.put("figure6-churn-staleness", staleReads(timeline));
    charts.put("figure7-churn-errors", errors(timeline));
    return charts;
  }

  private static Chart<?, ?> latency(Churn.Timeline timeline) {
    XYChart chart =
        chart(timeline, "Figure 5: latency while nodes come and go", "mean of the second, ms");
    chart.getStyler().setYAxisLogarithmic(true);
    overTime(chart, timeline, "read", 0, second -> positive(second.readMeanMillis()));
    overTime(chart, timeline, "write", 1, second -> positive(second.writeMeanMillis()));
    return chart;
  }

  /** A second in which nothing was answered has no mean, and is left out. */
  private static double positive(double mean) {
    return mean > 0 ? mean : Double.NaN;
  }

  private static Chart<?, ?> staleReads(Churn.Timeline timeline) {
    XYChart chart =
        chart(timeline, "Figure 6: stale reads while nodes come and go", "percent of reads");
    fromZero(chart, timeline, "stale reads", 2, ChurnCharts::stalePercent);
    return chart;
  }

  private static double stalePercent(Churn.Second second) {
    return 100.0 * second.staleReads() / Math.max(1, second.reads());
  }

  private static Chart<?, ?> errors(Churn.Timeline timeline) {
    XYChart chart =
        chart(timeline, "Figure 7: failed requests while nodes come and go", "per second");
    fromZero(chart, timeline, "failed requests", 3, Churn.Second::errors);
    return chart;
  }

  private static XYChart chart(Churn.Timeline timeline, String title, String y) {
    XYChart chart = Charts.lines(title, "second", y);
    chart.getStyler().setXAxisLabelRotation(LABELS_UPRIGHT_DEGREES);
    EventMark.of(timeline.events(), timeline.seconds().size()).forEach(chart::addAnnotation);
    return chart;
  }

  private static void fromZero(
      XYChart chart,
      Churn.Timeline timeline,
      String name,
      int color,
      ToDoubleFunction<Churn.Second> value) {
    double most = timeline.seconds().stream().mapToDouble(value).max().orElse(0);
    chart.getStyler().setYAxisMin(0.0).setYAxisMax(ROOM_FOR_WORDS * Math.max(1, most));
    overTime(chart, timeline, name, color, value);
  }

  private static void overTime(
      XYChart chart,
      Churn.Timeline timeline,
      String name,
      int color,
      ToDoubleFunction<Churn.Second> value) {
    double[] at = timeline.seconds().stream().mapToDouble(Churn.Second::second).toArray();
    double[] values = timeline.seconds().stream().mapToDouble(value).toArray();
    Charts.line(chart, name, at, values, Charts.COLORS[color]);
  }
}
