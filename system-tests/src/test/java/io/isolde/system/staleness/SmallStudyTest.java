// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.staleness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.isolde.cluster.ToolException;
import io.isolde.study.Churn;
import io.isolde.study.Profile;
import io.isolde.study.Results;
import io.isolde.study.Results.SettingResult;
import io.isolde.study.Study;
import io.isolde.study.StudyOptions;
import io.isolde.study.StudyPage;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A study of seconds on three real nodes with slow writes: all of it, from the sinks to the report.
 */
class SmallStudyTest {
  @TempDir Path folder;
  private final List<String> said = new ArrayList<>();

  private StudyOptions options(int rate) {
    return new StudyOptions(3, Profile.of("disks"), 3, 1, rate, 60, true, 320, 1, Optional.empty());
  }

  @Test
  void whenASmallClusterIsStudiedThenWhatIsPredictedIsWhatHappens() throws Exception {
    Results results = new Study(options(15), folder, said::add).run();

    assertThat(results.settings())
        .extracting(SettingResult::name)
        .containsExactly("R1W3", "R2W2", "R3W1", "R1W2", "R2W1", "R1W1");
    assertThat(results.summary().staleStrongReads()).isZero();
    assertThat(of(results, "R1W1").staleReads()).isPositive();
    for (SettingResult each : results.settings()) {
      assertThat(each.reads()).as("reads at %s", each.name()).isPositive();
      // Few reads on a machine that others may use: a sign error would be far beyond this.
      assertThat(each.rmse()).as("error at %s", each.name()).isLessThan(0.25);
    }
    assertThat(of(results, "R1W3").write().p50()).isGreaterThan(of(results, "R3W1").write().p50());

    assertThat(results.churn().events())
        .extracting(Churn.Event::what)
        .contains(
            "node3 goes on: done",
            "node2 is killed: done",
            "node2 is started: done",
            "node4 joins: done");
    assertThat(results.churn().seconds())
        .as("the load lasts until the new node has joined")
        .hasSizeGreaterThan(5)
        .hasSizeGreaterThanOrEqualTo((int) lastEvent(results).atSeconds());

    Path report = new StudyPage(results).write(folder);
    assertThat(Files.readString(report)).contains("<svg", "Figure 2").doesNotContain("<?xml");
    assertThat(folder.resolve("figure4-error.png")).isNotEmptyFile();

    assertGoesOnWhereItWas(results);
  }

  /** No node starts for what is done; another study in the same folder is refused. */
  private void assertGoesOnWhereItWas(Results results) throws InterruptedException {
    said.clear();
    assertThat(new Study(options(15), folder, said::add).run()).isEqualTo(results);
    assertThat(said).singleElement().asString().contains("done already");
    assertThatThrownBy(() -> new Study(options(16), folder, said::add).run())
        .isInstanceOf(ToolException.class)
        .hasMessageContaining("other options");
  }

  private static Churn.Event lastEvent(Results results) {
    List<Churn.Event> events = results.churn().events();
    return events.get(events.size() - 1);
  }

  private static SettingResult of(Results results, String name) {
    return results.settings().stream()
        .filter(each -> each.name().equals(name))
        .findFirst()
        .orElseThrow();
  }
}
