// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.oracle;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.bench.charts.Figure;
import io.isolde.bench.kit.MachineDescription;
import io.isolde.bench.kit.Report;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CurveFiguresTest {
  private static final MachineDescription MACHINE = new MachineDescription(2, 1024, "jvm", "5.0");

  @TempDir Path folder;

  @Test
  void whenAReportHasCurvesThenTheirPointsAreInOrderOfTheClients() {
    Figure figure = figures().get(0);

    assertThat(figure.file()).isEqualTo("figure-07");
    assertThat(figure.curves().get("SNAPSHOT"))
        .containsExactly(new Figure.Point(500, 2), new Figure.Point(900, 8));
    assertThat(figures().get(1).curves().get("SNAPSHOT"))
        .containsExactly(new Figure.Point(500, 0.5), new Figure.Point(900, 7.5));
  }

  @Test
  void whenAFigureIsWrittenThenItIsAPicture() throws Exception {
    figures().get(0).write(folder);

    assertThat(Files.readString(folder.resolve("figure-07.svg")))
        .contains("<svg", "<path", "</svg>");
  }

  @Test
  void whenAReportHasNoCurvesThenThereAreNoFigures() {
    assertThat(CurveFigures.of(report(List.of(), Map.of()))).isEmpty();
  }

  private static List<Figure> figures() {
    return CurveFigures.of(
        report(
            List.of(
                result("fig7_fig8_zipfian_si_80", 900, 8),
                result("fig7_fig8_zipfian_si_5", 500, 2)),
            Map.of(
                "fig7_fig8_zipfian_si_5_aborted_percent", 0.5,
                "fig7_fig8_zipfian_si_80_aborted_percent", 7.5)));
  }

  private static Report report(List<Report.Result> results, Map<String, Double> metrics) {
    return new Report("oracle-curves", MACHINE, 1, results, metrics, Map.of());
  }

  private static Report.Result result(String name, double perSecond, double meanMillis) {
    return new Report.Result(name, perSecond, meanMillis, 0, 0, 0);
  }
}
