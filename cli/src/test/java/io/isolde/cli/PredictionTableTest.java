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
import org.junit.jupiter.api.Test;

/** Three replicas whose writes take 20 ms on average. */
class PredictionTableTest {
  private static final int FRESH = 2;
  private static final int WITHIN = 3;
  private static final int MONOTONIC = 4;

  private final Predictor predictor =
      new Predictor(
          new IndependentDelays(
              3, Legs.of(Delay.exponential(20_000), Delay.NONE, Delay.NONE, Delay.NONE)),
          ReadFanOut.PREFERRED,
          2_000,
          () -> RandomGeneratorFactory.of("L64X128MixRandom").create(4));

  private String[] columns(Level read, Level write, double afterMillis) {
    PredictionTable lines =
        new PredictionTable(predictor, predictor.predict(Setting.all(3)), afterMillis, 0.999);
    assertThat(lines.heading()).contains("within 2, 3, %", "monotonic, %", "99.900% fresh after");
    return lines.line(new Setting(read, write)).split(" {2,}", -1);
  }

  @Test
  void whenLevelsAreWeakThenWhatIsShownRisesWithTimeAndVersions() {
    double before = 0;
    for (double afterMillis : List.of(0.0, 10.0, 100.0)) {
      String[] columns = columns(Level.ONE, Level.ONE, afterMillis);
      double fresh = Double.parseDouble(columns[FRESH].replaceAll(" .*", ""));
      String[] within = columns[WITHIN].split(", ", -1);
      assertThat(fresh).isBetween(before, 100.0);
      assertThat(Double.parseDouble(within[0])).isBetween(fresh, 100.0);
      assertThat(Double.parseDouble(within[1])).isBetween(Double.parseDouble(within[0]), 100.0);
      assertThat(Double.parseDouble(columns[MONOTONIC])).isBetween(50.0, 100.0);
      before = fresh;
    }
    assertThat(before).isGreaterThan(99);
  }

  @Test
  void whenReadsMeetWritesThenTheyAreFreshButOnlyReadsThatMeetReadsAreMonotonic() {
    String[] quorums = columns(Level.QUORUM, Level.QUORUM, 0);
    assertThat(quorums[FRESH]).isEqualTo("100 (always)");
    assertThat(quorums[WITHIN]).isEqualTo("100");
    assertThat(quorums[MONOTONIC]).isEqualTo("100.000");
    String[] allWritten = columns(Level.ONE, Level.ALL, 0);
    assertThat(allWritten[FRESH]).isEqualTo("100 (always)");
    assertThat(Double.parseDouble(allWritten[MONOTONIC])).isBetween(50.0, 99.0);
  }
}
