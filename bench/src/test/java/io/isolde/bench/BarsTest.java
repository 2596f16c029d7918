// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.bench.charts.Bars;
import io.isolde.bench.charts.Picture;
import io.isolde.bench.kit.MachineDescription;
import io.isolde.bench.kit.Report;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BarsTest {
  @TempDir private Path folder;

  private static Report report(Map<String, Double> metrics, String... cases) {
    return new Report(
        "any",
        new MachineDescription(2, 1024, "jvm", "5.0"),
        1,
        Stream.of(cases)
            .map(name -> name.split("="))
            .map(parts -> new Report.Result(parts[0], Double.parseDouble(parts[1]), 1, 1, 1, 0))
            .toList(),
        metrics,
        Map.of());
  }

  private static List<? extends Picture> figures(String bench, Report report) {
    return Benches.named(bench).figures().apply(report);
  }

  @Test
  void throughputIsTheMedianOfTheRoundsByCluster() {
    Report report =
        report(Map.of(), "strong_write=3", "strong_write=9", "strong_write=4", "lwt_write_5n=7");

    List<? extends Picture> figures = figures("replication", report);

    assertThat(figures).extracting(Picture::file).containsExactly("replication-3", "replication-5");
    assertThat(((Bars) figures.get(0)).series())
        .isEqualTo(Map.of("median", Map.of("strong write", 4.0)));
    assertThat(((Bars) figures.get(1)).series())
        .isEqualTo(Map.of("median", Map.of("lwt write", 7.0)));
  }

  @Test
  void gapsAreAllInMilliseconds() {
    Report report =
        report(
            Map.of(
                "planned_p50_ms",
                80.0,
                "planned_p99_ms",
                170.0,
                "kill_p50_s",
                0.5,
                "kill_p99_s",
                1.1));

    Bars gaps = (Bars) figures("failover-strong", report).get(0);

    assertThat(gaps.series())
        .isEqualTo(
            Map.of(
                "p50", Map.of("planned", 80.0, "kill", 500.0),
                "p99", Map.of("planned", 170.0, "kill", 1100.0)));
    assertThat(figures("failover-oracle", report)).isEmpty();
  }

  @Test
  void theyAreWrittenAsSvg() throws Exception {
    figures("replication-3n", report(Map.of(), "a_write=1000", "b_write=20")).get(0).write(folder);

    assertThat(Files.readString(folder.resolve("replication-3.svg"))).contains("<svg");
  }
}
