// SPDX-License-Identifier: Apache-2.0
package io.isolde.operations;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class LagTest {
  private final Lag lag = new Lag();

  @Test
  void whenNothingIsCommittedThenThereIsNoLagHoweverOldTheSnapshotIs() {
    assertThat(lag.look(0, 100, 100)).isZero();
    assertThat(lag.look(3_600_000, 100, 100)).isZero();
  }

  @Test
  void whenACommitIsNotAppliedThenTheLagGrowsUntilItIs() {
    assertThat(lag.look(1_000, 100, 200)).isZero();
    assertThat(lag.look(2_000, 100, 300)).isEqualTo(1_000);
    assertThat(lag.look(6_000, 199, 900)).isEqualTo(5_000);
    assertThat(lag.look(7_000, 900, 900)).isZero();
  }

  @Test
  void whenCommitsFollowOneAnotherThenEachIsAwaitedByItself() {
    assertThat(lag.look(1_000, 100, 200)).isZero();
    assertThat(lag.look(2_000, 250, 300)).isZero();
    assertThat(lag.look(3_000, 350, 400)).isZero();
    assertThat(lag.look(4_000, 399, 500)).isEqualTo(1_000);
  }
}
