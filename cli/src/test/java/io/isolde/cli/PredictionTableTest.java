// SPDX-License-Identifier: Apache-2.0
package io.isolde.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.staleness.Delay;
import io.isolde.staleness.IndependentDelays;
import io.isolde.staleness.Legs;
import io.isolde.staleness.Level;
import io.isolde.staleness.Predictor;
import io.isolde.staleness.ReadFanOut;
import io.isolde.staleness.Setting;
import java.util.List;
import java.util.random.RandomGeneratorFactory;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Three replicas whose writes take 20 ms on average. */
class PredictionTableTest {
  private static final int FRESH = 0;
  private static final int WITHIN_2 = 1;
  private static final int WITHIN_3 = 2;
  private static final int MONOTONIC = 3;
  private static final String NUMBER = "(\\d+\\.\\d+)";
  private static final Pattern COLUMN =
      Pattern.compile(NUMBER + " \\[" + NUMBER + ", " + NUMBER + "]|100|0 \\(always\\)");

  private final Predictor predictor =
      new Predictor(
          new IndependentDelays(
              3, Legs.of(Delay.exponential(20_000), Delay.NONE, Delay.NONE, Delay.NONE)),
          ReadFanOut.PREFERRED,
          2_000,
          () -> RandomGeneratorFactory.of("L64X128MixRandom").create(4));

  private List<List<String>> rows(Level read, Level write, double afterMillis) {
    List<String> lines =
        new PredictionTable(predictor, predictor.predict(Setting.all(3)), afterMillis, 0.999)
            .lines(List.of(new Setting(read, write)));
    assertThat(lines.get(1)).contains("fresh", "within 2", "within 3", "monotonic");
    assertThat(lines.get(5)).contains("99.900% fresh after", "read p50", "write p99");
    assertThat(lines).allMatch(line -> line.length() <= 140);
    return Stream.of(lines.get(2), lines.get(6)).map(PredictionTableTest::columns).toList();
  }

  private static List<String> columns(String line) {
    return COLUMN.matcher(line).results().map(MatchResult::group).toList();
  }

  private static double value(String column) {
    return Double.parseDouble(column.replaceAll(" .*", ""));
  }

  @Test
  void whenLevelsAreWeakThenWhatIsShownRisesWithTimeAndVersions() {
    double before = 0;
    for (double afterMillis : List.of(0.0, 10.0, 100.0)) {
      List<List<String>> rows = rows(Level.ONE, Level.ONE, afterMillis);
      List<String> columns = rows.get(0);
      double fresh = value(columns.get(FRESH));
      assertThat(fresh).isBetween(before, 100.0);
      assertThat(value(columns.get(WITHIN_2))).isBetween(fresh, 100.0);
      assertThat(value(columns.get(WITHIN_3))).isBetween(value(columns.get(WITHIN_2)), 100.0);
      assertThat(value(columns.get(MONOTONIC))).isBetween(50.0, 100.0);
      assertThat(columns).hasSize(4).allSatisfy(PredictionTableTest::isInterval);
      assertThat(rows.get(1)).hasSize(5).allSatisfy(PredictionTableTest::isInterval);
      before = fresh;
    }
    assertThat(before).isGreaterThan(99);
  }

  private static void isInterval(String text) {
    Matcher found = COLUMN.matcher(text);
    assertThat(found.matches()).as(text).isTrue();
    assertThat(Double.parseDouble(found.group(1)))
        .isBetween(Double.parseDouble(found.group(2)), Double.parseDouble(found.group(3)));
  }

  @Test
  void whenReadsMeetWritesThenTheyAreFreshButOnlyReadsThatMeetReadsAreMonotonic() {
    List<List<String>> quorums = rows(Level.QUORUM, Level.QUORUM, 0);
    assertThat(quorums.get(0)).hasSize(4).containsOnly("100");
    assertThat(quorums.get(1).get(FRESH)).isEqualTo("0 (always)");
    List<String> allWritten = rows(Level.ONE, Level.ALL, 0).get(0);
    assertThat(allWritten.get(FRESH)).isEqualTo("100");
    assertThat(value(allWritten.get(MONOTONIC))).isBetween(50.0, 99.0);
  }
}
