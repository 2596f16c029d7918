// SPDX-License-Identifier: Apache-2.0
package io.isolde.study;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.isolde.study.Results.Point;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.internal.chartpart.Chart;

class ChartsTest {
  private final Map<String, Chart<?, ?>> charts = Charts.of(Samples.study());

  @Test
  void whenErrorsAreDrawnThenSoIsWhatChanceAloneWouldShow() {
    assertThat(((XYChart) charts.get("figure4-error")).getSeriesMap())
        .containsKeys("R1W2", "R1W2 chance, 95%");
    assertThat(Charts.chance(new Point(1, 10_000, 0.6, 0.5, 0.4, 0.6)))
        .isCloseTo(0.0098, within(1e-6));
  }

  @Test
  void whenSomethingWasDoneToNodesThenItsLineSaysWhat() {
    Churn.Timeline churn = Samples.study().churn();
    assertThat(EventMark.of(churn.events(), churn.seconds().size()))
        .extracting(EventMark::words)
        .as("with an end only where it isn't the same moment")
        .containsExactly(
            "node8 is paused",
            "node8 goes on",
            "node7 is killed",
            "node7 is started",
            "node7 is started: done",
            "node9 joins",
            "node9 joins: done");
  }

  @Test
  void whenThereWasChurnThenPercentAndErrorsHaveAxesOfTheirOwn() {
    assertThat(charts.get("figure6-churn-staleness").getSeriesMap())
        .containsOnlyKeys("stale reads");
    assertThat(charts.get("figure7-churn-errors").getSeriesMap())
        .containsOnlyKeys("failed requests");
  }
}
