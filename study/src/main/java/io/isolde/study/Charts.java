// SPDX-License-Identifier: Apache-2.0
package io.isolde.study;

import io.isolde.study.Results.Point;
import io.isolde.study.Results.SettingResult;
import io.isolde.study.Results.Versions;
import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Font;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.knowm.xchart.CategoryChart;
import org.knowm.xchart.CategoryChartBuilder;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.XYSeries;
import org.knowm.xchart.internal.chartpart.Chart;
import org.knowm.xchart.style.Styler;
import org.knowm.xchart.style.Styler.LegendPosition;
import org.knowm.xchart.style.markers.SeriesMarkers;

/** The figures of a study. */
final class Charts {
  private static final int WIDTH = 760;
  private static final int HEIGHT = 420;

  /** Told apart also by who sees few colours (Okabe and Ito). */
  static final Color[] COLORS = {
    new Color(0x0072B2), new Color(0xD55E00), new Color(0x009E73), new Color(0xCC79A7)
  };

  /** Of a normal distribution, 95% are within so many standard deviations. */
  private static final double DEVIATIONS = 1.96;

  private static final int BAND_ALPHA = 40;

  private Charts() {}

  /** By file name, in the order of the report. */
  static Map<String, Chart<?, ?>> of(Results results) {
    Map<String, Chart<?, ?>> charts = new LinkedHashMap<>();
    if (results.settings().isEmpty()) {
      return charts;
    }
    List<SettingResult> weak = results.settings().stream().filter(each -> !each.strong()).toList();
    charts.put("figure1-latency", latencies(results.settings()));
    if (!weak.isEmpty()) {
      charts.put("figure2-visibility", visibility(weak));
      charts.put("figure3-versions", versions(weak));
      charts.put("figure4-error", errors(weak));
    }
    if (results.churn() != null) {
      charts.putAll(ChurnCharts.of(results.churn()));
    }
    return charts;
  }

  private static Chart<?, ?> latencies(List<SettingResult> settings) {
    CategoryChart chart =
        new CategoryChartBuilder()
            .width(WIDTH)
            .height(HEIGHT)
            .title("Figure 1: latency of reads and writes")
            .xAxisTitle("replicas read and written")
            .yAxisTitle("mean, ms")
            .build();
    style(chart.getStyler());
    List<String> names = settings.stream().map(SettingResult::name).toList();
    chart
        .addSeries("read", names, settings.stream().map(each -> each.read().mean()).toList())
        .setFillColor(COLORS[0]);
    chart
        .addSeries("write", names, settings.stream().map(each -> each.write().mean()).toList())
        .setFillColor(COLORS[1]);
    return chart;
  }

  private static Chart<?, ?> visibility(List<SettingResult> weak) {
    XYChart chart =
        lines(
            "Figure 2: probability that a read sees the last write",
            "time from the write's answer to the read, ms",
            "probability");
    for (int i = 0; i < weak.size(); i++) {
      SettingResult each = weak.get(i);
      double[] after = each.visibility().stream().mapToDouble(Point::afterMillis).toArray();
      line(chart, each.name() + " predicted", after, predictions(each), COLORS[i]);
      dots(
          chart,
          each.name() + " measured",
          after,
          each.visibility().stream().mapToDouble(Point::measured).toArray(),
          COLORS[i]);
    }
    return chart;
  }

  private static double[] predictions(SettingResult result) {
    return result.visibility().stream().mapToDouble(Point::predicted).toArray();
  }

  private static Chart<?, ?> versions(List<SettingResult> weak) {
    XYChart chart =
        lines(
            "Figure 3: probability to see one of the last k versions",
            "k, read %.1f ms after the last write's answer"
                .formatted(weak.get(0).versionsAfterMillis()),
            "probability");
    for (int i = 0; i < weak.size(); i++) {
      SettingResult each = weak.get(i);
      double[] ks = each.versions().stream().mapToDouble(Versions::k).toArray();
      band(
          chart,
          each.name() + " predicted, 95%",
          ks,
          each.versions().stream().mapToDouble(Versions::low).toArray(),
          each.versions().stream().mapToDouble(Versions::high).toArray(),
          COLORS[i]);
      line(
          chart,
          each.name() + " predicted",
          ks,
          each.versions().stream().mapToDouble(Versions::predicted).toArray(),
          COLORS[i]);
      dots(
          chart,
          each.name() + " measured",
          ks,
          each.versions().stream().mapToDouble(Versions::measured).toArray(),
          COLORS[i]);
    }
    return chart;
  }

  private static Chart<?, ?> errors(List<SettingResult> weak) {
    XYChart chart =
        lines(
            "Figure 4: error of the prediction",
            "time from the write's answer to the read, ms",
            "predicted - measured, percentage points");
    for (int i = 0; i < weak.size(); i++) {
      chanceBand(chart, weak.get(i), COLORS[i]);
    }
    for (int i = 0; i < weak.size(); i++) {
      SettingResult each = weak.get(i);
      line(
          chart,
          each.name(),
          each.visibility().stream().mapToDouble(Point::afterMillis).toArray(),
          each.visibility().stream()
              .mapToDouble(point -> 100 * (point.predicted() - point.measured()))
              .toArray(),
          COLORS[i]);
    }
    return chart;
  }

  /** Where 95% of the errors would be if the prediction were perfect, from so few reads. */
  private static void chanceBand(XYChart chart, SettingResult result, Color color) {
    List<Point> points = result.visibility();
    double[] chance = points.stream().mapToDouble(point -> 100 * chance(point)).toArray();
    band(
        chart,
        result.name() + " chance, 95%",
        points.stream().mapToDouble(Point::afterMillis).toArray(),
        Arrays.stream(chance).map(each -> -each).toArray(),
        chance,
        color);
  }

  private static void band(
      XYChart chart, String name, double[] x, double[] low, double[] high, Color color) {
    int count = x.length;
    double[] around = new double[2 * count];
    double[] y = new double[2 * count];
    for (int i = 0; i < count; i++) {
      int back = 2 * count - 1 - i;
      around[i] = x[i];
      around[back] = x[i];
      y[i] = high[i];
      y[back] = low[i];
    }
    XYSeries series = chart.addSeries(name, around, y);
    series.setXYSeriesRenderStyle(XYSeries.XYSeriesRenderStyle.PolygonArea);
    series.setMarker(SeriesMarkers.NONE);
    series.setLineColor(translucent(color));
    series.setFillColor(translucent(color));
  }

  /** Half of the 95% interval of the measured share, if the predicted one is the true one. */
  static double chance(Point point) {
    return DEVIATIONS * Math.sqrt(point.predicted() * (1 - point.predicted()) / point.reads());
  }

  private static Color translucent(Color color) {
    return new Color(color.getRed(), color.getGreen(), color.getBlue(), BAND_ALPHA);
  }

  static XYChart lines(String title, String x, String y) {
    XYChart chart =
        new XYChartBuilder()
            .width(WIDTH)
            .height(HEIGHT)
            .title(title)
            .xAxisTitle(x)
            .yAxisTitle(y)
            .build();
    style(chart.getStyler());
    return chart;
  }

  private static void style(Styler styler) {
    styler
        .setChartBackgroundColor(Color.WHITE)
        .setPlotBackgroundColor(Color.WHITE)
        .setChartTitleFont(new Font(Font.SANS_SERIF, Font.BOLD, 15))
        .setLegendPosition(LegendPosition.OutsideE)
        .setLegendBorderColor(Color.WHITE)
        .setChartTitleBoxVisible(false)
        .setPlotBorderColor(Color.LIGHT_GRAY);
  }

  static void line(XYChart chart, String name, double[] x, double[] y, Color color) {
    XYSeries series = chart.addSeries(name, x, y);
    series.setLineColor(color);
    series.setMarker(SeriesMarkers.NONE);
    series.setLineStyle(new BasicStroke(1.6f));
  }

  private static void dots(XYChart chart, String name, double[] x, double[] y, Color color) {
    XYSeries series = chart.addSeries(name, x, y);
    series.setXYSeriesRenderStyle(XYSeries.XYSeriesRenderStyle.Scatter);
    series.setMarker(SeriesMarkers.CIRCLE);
    series.setMarkerColor(color);
  }
}
