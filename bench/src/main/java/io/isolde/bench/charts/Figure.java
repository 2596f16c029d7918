// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.charts;

import java.util.List;
import java.util.Map;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.style.Styler;

/**
 * Curves of what was measured.
 *
 * @param curves by their names; each in the order in which its points were measured
 */
public record Figure(
    String file, String title, String xAxis, String yAxis, Map<String, List<Point>> curves)
    implements Picture {

  /** A point of a curve. */
  public record Point(double x, double y) {}

  @Override
  public XYChart chart() {
    XYChart chart =
        new XYChartBuilder()
            .width(WIDTH)
            .height(HEIGHT)
            .title(title)
            .xAxisTitle(xAxis)
            .yAxisTitle(yAxis)
            .theme(Styler.ChartTheme.GGPlot2)
            .build();
    chart.getStyler().setYAxisMin(0.0).setXAxisMin(0.0);
    curves.forEach(
        (name, points) ->
            chart.addSeries(
                name,
                points.stream().mapToDouble(Point::x).toArray(),
                points.stream().mapToDouble(Point::y).toArray()));
    return chart;
  }
}
