// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle;

import static io.isolde.oracle.IsolationLevel.SERIALIZABLE;
import static io.isolde.oracle.IsolationLevel.SNAPSHOT;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Histories 1 to 7 of sections 3 and 4, at both levels, and the anomalies that they stand for. */
class HistoriesOfTheCritiqueTest {
  @Test
  void whenWritesAreSkewedThenOnlySerializableAborts() {
    String h1 = "r1[x] r2[y] w1[y] w2[x] c1 c2";
    assertThat(History.run(SNAPSHOT, h1)).isEqualTo("c1 c2");
    assertThat(History.run(SERIALIZABLE, h1)).isEqualTo("c1 a2");
  }

  @Test
  void whenAConstraintOverTwoRowsIsAtStakeThenOnlySerializableKeepsIt() {
    String h2 = "r1[x] r1[y] r2[x] r2[y] w1[x] w2[y] c1 c2";
    assertThat(History.run(SNAPSHOT, h2)).isEqualTo("c1 c2");
    assertThat(History.run(SERIALIZABLE, h2)).isEqualTo("c1 a2");
  }

  @Test
  void whenAnUpdateWouldBeLostThenBothLevelsAbort() {
    String h3 = "r1[x] r2[x] w2[x] w1[x] c1 c2";
    assertThat(History.run(SNAPSHOT, h3)).isEqualTo("c1 a2");
    assertThat(History.run(SERIALIZABLE, h3)).isEqualTo("c1 a2");
  }

  @Test
  void whenAWriteIsBlindThenOnlySnapshotAbortsInVain() {
    String h4 = "r1[x] w2[x] w1[x] c1 c2";
    assertThat(History.run(SNAPSHOT, h4)).isEqualTo("c1 a2");
    assertThat(History.run(SERIALIZABLE, h4)).isEqualTo("c1 c2");
  }

  @Test
  void whenTheBlindWriteComesLaterThenBothLevelsCommit() {
    String h5 = "r1[x] w1[x] c1 w2[x] c2";
    assertThat(History.run(SNAPSHOT, h5)).isEqualTo("c1 c2");
    assertThat(History.run(SERIALIZABLE, h5)).isEqualTo("c1 c2");
  }

  @Test
  void whenSomethingReadIsReplacedThenSerializableAbortsThoughAnOrderExists() {
    String h6 = "r1[x] r2[z] w2[x] w1[y] c2 c1";
    assertThat(History.run(SNAPSHOT, h6)).isEqualTo("c2 c1");
    assertThat(History.run(SERIALIZABLE, h6)).isEqualTo("c2 a1");
  }

  @Test
  void whenThatOrderIsTakenThenBothLevelsCommit() {
    String h7 = "r1[x] w1[y] c1 r2[z] w2[x] c2";
    assertThat(History.run(SNAPSHOT, h7)).isEqualTo("c1 c2");
    assertThat(History.run(SERIALIZABLE, h7)).isEqualTo("c1 c2");
  }

  @Test
  void whenWritesDependOnConditionsThenSnapshotsAreNotSkewed() {
    String skew = "%s1[x] %s1[y] %s2[x] %s2[y] w1[x] w2[y] c1 c2";
    assertThat(History.run(SNAPSHOT, skew.replace("%s", "r"))).isEqualTo("c1 c2");
    assertThat(History.run(SNAPSHOT, skew.replace("%s", "i"))).isEqualTo("c1 a2");
    assertThat(History.run(SERIALIZABLE, skew.replace("%s", "i"))).isEqualTo("c1 a2");
  }

  @Test
  void whenATransactionOnlyReadsThenItNeverAborts() {
    String history = "r1[x] r2[x] w2[x] c2 r1[y] c1";
    assertThat(History.run(SNAPSHOT, history)).isEqualTo("c2 c1");
    assertThat(History.run(SERIALIZABLE, history)).isEqualTo("c2 c1");
  }

  @Test
  void whenTheOtherTransactionIsRolledBackThenThereIsNoConflict() {
    String history = "r1[x] r2[x] w2[x] a2 w1[x] c1";
    assertThat(History.run(SNAPSHOT, history)).isEqualTo("c1");
    assertThat(History.run(SERIALIZABLE, history)).isEqualTo("c1");
  }
}
