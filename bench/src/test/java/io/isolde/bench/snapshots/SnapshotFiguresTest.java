// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.snapshots;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.bench.charts.Figure;
import io.isolde.bench.charts.Figure.Point;
import io.isolde.bench.kit.MachineDescription;
import io.isolde.bench.kit.Report;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SnapshotFiguresTest {
  private static Report report(Map<String, Double> metrics) {
    return new Report(
            "snapshots",
            new MachineDescription(2, 1024, "jvm", "5.0"),
            1,
            List.of(),
            Map.of(),
            Map.of())
        .with(metrics);
  }

  @Test
  void whenNothingWasMeasuredThenThereIsNothingToDraw() {
    assertThat(SnapshotFigures.of(report(Map.of()))).isEmpty();
  }

  @Test
  void whenThereAreNumbersThenTheyBecomePointsAndAPicture(@TempDir Path folder) {
    List<Figure> figures =
        SnapshotFigures.of(
            report(
                Map.of(
                    "iteration_none_0_mean_ms", 1.5,
                    "curve_D_live_4_per_s", 2000.0,
                    "curve_D_live_4_mean_ms", 2.5,
                    "creation_of_8_sstables_ms", 170.0)));
    assertThat(figures)
        .extracting(Figure::file)
        .containsExactly("snapshots-07-read-only", "snapshots-12-iterations", "snapshots-creation");
    assertThat(figures.get(0).curves()).containsValue(List.of(new Point(2000, 2.5)));
    assertThat(figures.get(1).curves()).containsValue(List.of(new Point(0, 1.5)));
    assertThat(figures.get(2).curves()).containsValue(List.of(new Point(8, 170)));
    figures.forEach(figure -> figure.write(folder));
    assertThat(folder.resolve("snapshots-creation.svg")).isNotEmptyFile();
  }
}
