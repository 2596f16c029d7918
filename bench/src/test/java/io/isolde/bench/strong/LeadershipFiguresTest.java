// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.strong;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.bench.charts.Picture;
import io.isolde.bench.kit.Report;
import io.isolde.bench.kit.Reports;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LeadershipFiguresTest {
  private static final List<String> POLICIES =
      List.of("off", "least_loaded", "random", "round_robin");

  @TempDir private Path folder;

  @Test
  void eachPolicyHasAPictureOfItsCourseWithWhatHappened() {
    Map<String, List<Double>> series = new LinkedHashMap<>();
    for (String policy : POLICIES) {
      series.put(policy + "_3n_per_s", List.of(1000.0, 400.0, 900.0));
      series.put(policy + "_3n_compacting", List.of(0.0, 2.5, 1.0));
      series.put(policy + "_3n_flushes", List.of(1.0, 0.0, 0.0));
      series.put(policy + "_3n_hand_overs", List.of(0.0, policy.equals("off") ? 0.0 : 1.0, 0.0));
    }
    Report report =
        Reports.of(List.of(new Report.Result("off_3n", 1, 1, 1, 1, 0)), Map.of())
            .withSeries(series);
    List<Picture> figures = LeadershipBenchmark.figures(report);
    assertThat(figures)
        .extracting(Picture::file)
        .containsExactly(
            "leadership-overlap-3",
            "leadership-course-3-off",
            "leadership-course-3-least-loaded",
            "leadership-course-3-random",
            "leadership-course-3-round-robin");
    figures.forEach(figure -> figure.write(folder));
    assertThat(folder.resolve("leadership-course-3-random.svg")).isNotEmptyFile();
    assertThat(figures.get(3).chart().getSeriesMap())
        .containsOnlyKeys(
            "replicas that compact", "writes per s", "flushes", "leadership transfers");
    assertThat(figures.get(1).chart().getSeriesMap()).doesNotContainKey("leadership transfers");
  }
}
