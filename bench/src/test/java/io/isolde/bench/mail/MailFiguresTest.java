// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.mail;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.isolde.bench.charts.Bars;
import io.isolde.bench.kit.Ratio;
import io.isolde.bench.kit.Report;
import io.isolde.bench.kit.Reports;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MailFiguresTest {
  @TempDir private Path folder;

  private static Report report(String... cases) {
    return Reports.of(
        Stream.of(cases)
            .map(name -> name.split("="))
            .map(parts -> new Report.Result(parts[0], Double.parseDouble(parts[1]), 1, 1, 1, 0))
            .toList(),
        Map.of());
  }

  @Test
  void whenRatiosAreNamedThenThoseOfTheFirstSizesDoNotSayTheSize() {
    List<Ratio> ratios =
        MailFigures.ratios(
            new MailBenchmark.Plan(
                List.of(MailKind.STRONG, MailKind.QUORUM),
                1,
                List.of(LetterSizes.SMALL, LetterSizes.LARGE)),
            "_3n");

    assertThat(ratios)
        .containsExactly(
            new Ratio("strong_vs_quorum_3n", "strong_small", "quorum_small"),
            new Ratio("strong_large_vs_quorum_3n", "strong_large", "quorum_large"));
  }

  @Test
  void whenOneClusterWasMeasuredThenItsThroughputStandsBesideThatOfTheThesis() {
    Report report =
        report(
            "strong_small_5n=6",
            "quorum_small_5n=4",
            "serial_small_5n=2",
            "transactional_small_5n=5");

    List<Bars> figures = MailFigures.of(report);

    assertThat(figures).extracting(Bars::file).containsExactly("mail-small-5");
    Map<String, Map<String, Double>> series = figures.get(0).series();
    assertThat(series.get("here"))
        .containsExactly(
            Map.entry("strong", 1.5),
            Map.entry("quorum", 1.0),
            Map.entry("serial", 0.5),
            Map.entry("transactional", 1.25));
    assertThat(series.get("thesis, leaders step aside").get("strong"))
        .isCloseTo(1.26, within(1e-9));
    assertThat(series.get("thesis, leaders step aside").get("serial"))
        .isCloseTo(1.26 / 2.64, within(1e-9));
    assertThat(series.get("thesis, leaders stay").get("strong"))
        .isCloseTo(1.26 / 1.32, within(1e-9));
  }

  @Test
  void whenTheThesisHasFewerKindsThenAFigureIsDrawnAllTheSame() throws Exception {
    Report report =
        report("strong_large=6", "quorum_large=4", "serial_large=2", "transactional_large=5");

    MailFigures.of(report).forEach(figure -> figure.write(folder));

    assertThat(Files.readString(folder.resolve("mail-large-3.svg"))).contains("<svg");
  }
}
