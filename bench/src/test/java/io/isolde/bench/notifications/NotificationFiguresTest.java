// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.notifications;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.bench.charts.Bars;
import io.isolde.bench.kit.Report;
import io.isolde.bench.kit.Reports;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NotificationFiguresTest {
  @TempDir private Path folder;

  private static Report report(Map<String, Double> meanMillis, double watchers) {
    return Reports.of(
        meanMillis.entrySet().stream()
            .map(each -> new Report.Result(each.getKey(), 1, each.getValue(), 1, 1, 0))
            .toList(),
        Map.of("watchers", watchers));
  }

  @Test
  void whenThereWereSeveralNumbersOfWatchersThenBarsStandInTheirOrder() throws Exception {
    List<Bars> figures =
        NotificationFigures.of(
            report(
                Map.of(
                    "one_server", 9.0,
                    "one_server_1", 1.0,
                    "one_server_10", 2.0,
                    "one_server_100", 3.0,
                    "balanced", 12.0,
                    "balanced_1", 4.0,
                    "balanced_10", 5.0,
                    "balanced_100", 6.0),
                250));

    assertThat(figures)
        .extracting(Bars::file)
        .containsExactly("notifications-1", "notifications-3");
    assertThat(figures.get(0).series().get("one node"))
        .containsExactly(
            Map.entry("1", 1.0),
            Map.entry("10", 2.0),
            Map.entry("100", 3.0),
            Map.entry("250", 9.0));
    assertThat(figures.get(1).series().keySet()).containsExactly("balanced");
    for (Bars each : figures) {
      each.write(folder);
      assertThat(Files.readString(folder.resolve(each.file() + ".svg"))).contains("<svg");
    }
  }

  @Test
  void whenThereIsOneWatcherThenThereIsOneBar() {
    List<Bars> figures = NotificationFigures.of(report(Map.of("one_server", 9.0), 1));

    assertThat(Stream.of(figures.get(0).series().get("one node")))
        .containsExactly(Map.of("1", 9.0));
  }
}
