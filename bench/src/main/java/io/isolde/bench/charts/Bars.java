// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.charts;

import java.util.List;
import java.util.Map;
import org.knowm.xchart.CategoryChart;
import org.knowm.xchart.CategoryChartBuilder;
import org.knowm.xchart.style.Styler;

/**
 * Numbers side by side, on a logarithmic axis, as they differ by far.
 *
 * @param series by their names, which go into the legend; each by what stands below the bars, the
 *     same for all
 */
public record Bars(String file, String title, String yAxis, Map<String, Map<String, Double>> series)
    implements Picture {
  private static final int LABEL_DEGREES = 90;

  @Override
  public CategoryChart chart() {
    CategoryChart chart =
        new CategoryChartBuilder()
            .width(WIDTH)
            .height(HEIGHT)
            .title(title)
            .yAxisTitle(yAxis)
            .theme(Styler.ChartTheme.GGPlot2)
            .build();
    chart.getStyler().setYAxisLogarithmic(true).setYAxisMin(bottom());
    chart.getStyler().setXAxisLabelRotation(LABEL_DEGREES);
    chart.getStyler().setLegendVisible(series.size() > 1);
    series.forEach(
        (name, bars) ->
            chart.addSeries(name, List.copyOf(bars.keySet()), List.copyOf(bars.values())));
    return chart;
  }

  /** A power of ten below all bars: they can't begin at zero. */
  private double bottom() {
    double least =
        series.values().stream()
            .flatMap(bars -> bars.values().stream())
            .mapToDouble(Double::doubleValue)
            .min()
            .orElse(1);
    return Math.pow(10, Math.floor(Math.log10(least)));
  }
}
