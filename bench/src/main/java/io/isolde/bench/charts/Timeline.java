// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.charts;

import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.XYSeries;
import org.knowm.xchart.style.Styler;
import org.knowm.xchart.style.markers.SeriesMarkers;

/**
 * How fast something was over time, with what happened meanwhile.
 *
 * @param rate of each step; its axis is on the left
 * @param background of each step, on the axis on the right
 * @param events how many there were in each step, by their names; a step without has no mark
 */
public record Timeline(
    String file,
    String title,
    double stepSeconds,
    String rateAxis,
    List<Double> rate,
    String backgroundAxis,
    List<Double> background,
    Map<String, List<Double>> events)
    implements Picture {
  private static final int WIDE = 960;

  @Override
  public XYChart chart() {
    XYChart chart =
        new XYChartBuilder()
            .width(WIDE)
            .height(HEIGHT)
            .title(title)
            .xAxisTitle("s")
            .theme(Styler.ChartTheme.GGPlot2)
            .build();
    chart.getStyler().setXAxisMin(0.0).setYAxisMin(0, 0.0).setYAxisMin(1, 0.0);
    chart.getStyler().setYAxisGroupPosition(1, Styler.YAxisPosition.Right);
    chart.setYAxisGroupTitle(0, rateAxis);
    chart.setYAxisGroupTitle(1, backgroundAxis);
    XYSeries behind = chart.addSeries(backgroundAxis, seconds(background), numbers(background));
    behind.setXYSeriesRenderStyle(XYSeries.XYSeriesRenderStyle.StepArea);
    behind.setMarker(SeriesMarkers.NONE);
    behind.setYAxisGroup(1);
    chart.addSeries(rateAxis, seconds(rate), numbers(rate)).setMarker(SeriesMarkers.NONE);
    events.forEach((name, counts) -> addMarks(chart, name, counts));
    return chart;
  }

  /** On the curve of the rate, where there were some. */
  private void addMarks(XYChart chart, String name, List<Double> counts) {
    int[] steps = IntStream.range(0, counts.size()).filter(step -> counts.get(step) > 0).toArray();
    if (steps.length > 0) {
      chart
          .addSeries(
              name,
              IntStream.of(steps).mapToDouble(this::second).toArray(),
              IntStream.of(steps).mapToDouble(rate::get).toArray())
          .setXYSeriesRenderStyle(XYSeries.XYSeriesRenderStyle.Scatter);
    }
  }

  private double[] seconds(List<Double> series) {
    return IntStream.range(0, series.size()).mapToDouble(this::second).toArray();
  }

  private double second(int step) {
    return step * stepSeconds;
  }

  private static double[] numbers(List<Double> series) {
    return series.stream().mapToDouble(Double::doubleValue).toArray();
  }
}
