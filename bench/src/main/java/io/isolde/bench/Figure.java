// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.knowm.xchart.VectorGraphicsEncoder;
import org.knowm.xchart.VectorGraphicsEncoder.VectorGraphicsFormat;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.style.Styler;

/**
 * A picture of what was measured.
 *
 * @param file its name, without the ending
 * @param curves by their names; each in the order in which its points were measured
 */
record Figure(
    String file, String title, String xAxis, String yAxis, Map<String, List<Point>> curves) {
  private static final int WIDTH = 640;
  private static final int HEIGHT = 420;

  /** A point of a curve. */
  record Point(double x, double y) {}

  /** Writes it into a folder as SVG. */
  void write(Path folder) {
    XYChart chart =
        new XYChartBuilder()
            .width(WIDTH)
            .height(HEIGHT)
            .title(title)
            .xAxisTitle(xAxis)
            .yAxisTitle(yAxis)
            .theme(Styler.ChartTheme.GGPlot2)
            .build();
    chart.getStyler().setLegendPosition(Styler.LegendPosition.OutsideS);
    chart.getStyler().setLegendLayout(Styler.LegendLayout.Horizontal);
    chart.getStyler().setYAxisMin(0.0).setXAxisMin(0.0);
    curves.forEach(
        (name, points) ->
            chart.addSeries(
                name,
                points.stream().mapToDouble(Point::x).toArray(),
                points.stream().mapToDouble(Point::y).toArray()));
    Path target = folder.resolve(file);
    try {
      Files.createDirectories(folder);
      VectorGraphicsEncoder.saveVectorGraphic(chart, target.toString(), VectorGraphicsFormat.SVG);
    } catch (IOException e) {
      throw new BenchException("The figure can't be written to %s: %s.".formatted(target, e), e);
    }
  }
}
