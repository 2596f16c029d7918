// SPDX-License-Identifier: Apache-2.0
package io.isolde.history;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.history.HistoryChecker.Level;
import io.isolde.history.SimulatedDatabase.Isolation;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The checker against databases of which it is known what they allow. */
class SimulatedHistoriesTest {
  private static final int SEEDS = 200;
  private static final int TRANSACTIONS = 120;

  @ParameterizedTest
  @CsvSource({
    "SERIALIZABLE, SERIALIZABLE",
    "SNAPSHOT, SNAPSHOT",
  })
  void whenADatabaseKeepsItsLevelThenNothingIsFound(Isolation isolation, Level level) {
    for (long seed = 0; seed < SEEDS; seed++) {
      assertThat(check(isolation, level, seed)).as("seed %d", seed).isEmpty();
    }
  }

  @Test
  void whenSnapshotIsolationIsTakenForSerializableThenWriteSkewIsFoundAndNothingElse() {
    assertThat(allFound(Isolation.SNAPSHOT)).containsExactly(Phenomenon.G2_ITEM);
  }

  @Test
  void whenReadCommittedIsTakenForSerializableThenMuchIsFound() {
    assertThat(allFound(Isolation.READ_COMMITTED))
        .contains(Phenomenon.INTERNAL, Phenomenon.G_SINGLE, Phenomenon.G2_ITEM)
        .doesNotContain(Phenomenon.G0, Phenomenon.G1A, Phenomenon.G1B, Phenomenon.LOST_WRITE);
  }

  private static Set<Phenomenon> allFound(Isolation isolation) {
    Set<Phenomenon> found = new TreeSet<>();
    for (long seed = 0; seed < SEEDS; seed++) {
      check(isolation, Level.SERIALIZABLE, seed).forEach(each -> found.add(each.phenomenon()));
    }
    return found;
  }

  private static List<Anomaly> check(Isolation isolation, Level level, long seed) {
    return HistoryChecker.check(
        new SimulatedDatabase(isolation, seed).run(TRANSACTIONS), level, false);
  }
}
