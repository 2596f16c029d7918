// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.charts;

import java.util.List;
import java.util.Map;
import java.util.stream.DoubleStream;
import org.knowm.xchart.CategoryChart;
import org.knowm.xchart.CategoryChartBuilder;
import org.knowm.xchart.style.Styler;

/**
 * Numbers side by side; on a logarithmic axis, which then says so, if they differ by far.
 *
 * @param series by their names, which go into the legend; each by what stands below the bars, the
 *     same for all
 */
public record Bars(String file, String title, String yAxis, Map<String, Map<String, Double>> series)
    implements Picture {
  private static final int LABEL_DEGREES = 90;
  private static final double FAR = 20;

  @Override
  public CategoryChart chart() {
    CategoryChart chart =
        new CategoryChartBuilder()
            .width(WIDTH)
            .height(HEIGHT)
            .title(title)
            .yAxisTitle(isFarApart() ? yAxis + ", on a logarithmic axis" : yAxis)
            .theme(Styler.ChartTheme.GGPlot2)
            .build();
    chart.getStyler().setYAxisLogarithmic(isFarApart()).setYAxisMin(isFarApart() ? bottom() : 0.0);
    chart.getStyler().setXAxisLabelRotation(LABEL_DEGREES);
    chart.getStyler().setLegendVisible(series.size() > 1);
    series.forEach(
        (name, bars) ->
            chart.addSeries(name, List.copyOf(bars.keySet()), List.copyOf(bars.values())));
    return chart;
  }

  private boolean isFarApart() {
    return values().max().orElse(1) > FAR * values().min().orElse(1);
  }

  /** A power of ten below all bars: they can't begin at zero. */
  private double bottom() {
    return Math.pow(10, Math.floor(Math.log10(values().min().orElse(1))));
  }

  private DoubleStream values() {
    return series.values().stream()
        .flatMap(bars -> bars.values().stream())
        .mapToDouble(Double::doubleValue);
  }
}
