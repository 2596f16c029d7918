// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.kit;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ReportTest {
  private static final BenchOptions TWO_ROUNDS =
      new BenchOptions(
          2, 4, 3, 50, 20_000, 1024, 3000, 2048, 0, NodeShare.ALL, 1, List.of(), 1000, false);

  private static Report report() {
    Map<String, List<Sample>> samples = new LinkedHashMap<>();
    samples.put("plain", List.of(Samples.of(100), Samples.of(50)));
    samples.put("ours", List.of(Samples.of(90), Samples.of(40)));
    return Report.of(
            "example",
            new MachineDescription(2, 4096, "A JVM", "5.0.6"),
            TWO_ROUNDS,
            samples,
            List.of(new Ratio("ours_vs_plain", "ours", "plain")))
        .with(Map.of("heap_mb_first", 100.0004));
  }

  @Test
  void whenWrittenAsJsonThenItHasExactlyTheAgreedShape() {
    assertThat(report().toJson().replaceAll("\\s", ""))
        .isEqualTo(
            """
            {"bench":"example",
             "machine":{"cores":2,"memory_mb":4096,"jvm":"A JVM","cassandra":"5.0.6"},
             "rounds":2,
             "results":[
              {"case":"plain","ops_per_s":100.0,"mean_ms":1.5,"p50_ms":1.25,"p99_ms":7.125,"errors":2},
              {"case":"plain","ops_per_s":50.0,"mean_ms":1.5,"p50_ms":1.25,"p99_ms":7.125,"errors":2},
              {"case":"ours","ops_per_s":90.0,"mean_ms":1.5,"p50_ms":1.25,"p99_ms":7.125,"errors":2},
              {"case":"ours","ops_per_s":40.0,"mean_ms":1.5,"p50_ms":1.25,"p99_ms":7.125,"errors":2}],
             "metrics":{"heap_mb_first":100.0},
             "ratios":{"ours_vs_plain":{"min":0.8,"median":0.85,"max":0.9}}}
            """
                .replaceAll("\\s", ""));
  }

  @Test
  void whenShownAsATableThenCasesHaveMediansAndAllErrors() {
    assertThat(report().toTable())
        .containsPattern("plain +75 +1.50 +1.25 +7.1[23] +4")
        .containsPattern("ours_vs_plain +0.85 +0.80 +0.90")
        .containsPattern("heap_mb_first +100.0");
  }

  @Test
  void whenTwoPartsAreJoinedThenNothingIsLost() {
    Report joined = report().and(report().with(Map.of("more", 1.0)));
    assertThat(joined.results()).hasSize(8);
    assertThat(joined.metrics()).containsKeys("heap_mb_first", "more");
    assertThat(joined.ratios()).containsKey("ours_vs_plain");
  }

  @Test
  void whenABenchmarkRunsSeveralTimesThenRatiosSpreadOverTheRuns() {
    Report other =
        new Report(
            "example",
            report().machine(),
            2,
            report().results(),
            Map.of("heap_mb_first", 300.0),
            Map.of("ours_vs_plain", new Spread(0.1, 0.65, 2)));
    Report both = Report.ofRuns(List.of(report(), other));
    assertThat(both.rounds()).isEqualTo(4);
    assertThat(both.results()).hasSize(8);
    assertThat(both.metrics()).containsEntry("heap_mb_first", 200.0);
    assertThat(both.ratios()).containsEntry("ours_vs_plain", new Spread(0.65, 0.75, 0.85));
  }

  @Test
  void whenNamesGetASuffixThenItStandsBesideTheOtherAndTheNumbersStay() {
    Report joined = report().and(report().withSuffix("_5n"));
    assertThat(joined.results()).extracting(Report.Result::name).contains("plain", "plain_5n");
    assertThat(joined.metrics().get("heap_mb_first_5n"))
        .isEqualTo(joined.metrics().get("heap_mb_first"));
    assertThat(joined.ratios().get("ours_vs_plain_5n"))
        .isEqualTo(joined.ratios().get("ours_vs_plain"));
  }

  @Test
  void numbersOverTimeGoWithTheReportAndTheJsonHasThemIfThereAreAny() {
    assertThat(report().toJson()).doesNotContain("series");
    Report timed = report().withSeries(Map.of("per_s", List.of(1.0, 2.5)));
    assertThat(timed.toJson()).contains("\"series\"", "[ 1.0, 2.5 ]");
    assertThat(timed.and(timed.withSuffix("_5n")).series()).containsOnlyKeys("per_s", "per_s_5n");
    assertThat(timed.with(Map.of("more", 1.0)).series()).isEqualTo(timed.series());
    assertThat(Report.ofRuns(List.of(report(), timed)).series()).isEqualTo(timed.series());
  }
}
