// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** What logs and queues may keep in memory. */
class MemoryBoundsTest {
  private static final int MIB = 1 << 20;

  @Test
  void whenThereIsLittleMemoryThenALogKeepsLess() {
    RaftSettings settings = RaftSettings.defaults().withinMemory(16 * MIB, 8 * MIB);

    assertThat(settings.pendingBytes()).isEqualTo(16 * MIB);
    assertThat(settings.outstandingBytes()).isEqualTo(4 * MIB);
    assertThat(settings.segmentBytes()).isEqualTo(8 * MIB);
  }

  @Test
  void whenThereIsHardlyAnyMemoryThenTheLargestMessageStillFits() {
    RaftSettings settings = RaftSettings.defaults().withinMemory(0, 0);

    assertThat(settings.pendingBytes()).isEqualTo(2 * settings.appendBytes());
    assertThat(settings.segmentBytes()).isEqualTo(settings.appendBytes());
  }

  @Test
  void whenThereIsMuchMemoryThenTheSettingsStayAsTheyAre() {
    RaftSettings defaults = RaftSettings.defaults();

    assertThat(defaults.withinMemory(Long.MAX_VALUE, Long.MAX_VALUE)).isEqualTo(defaults);
  }

  @Test
  void whenSeveralShareABudgetThenOneGetsWhatAnotherGivesBack() {
    ByteBudget budget = new ByteBudget(10);
    assertThat(budget.take(6)).isTrue();
    assertThat(budget.take(5)).isFalse();
    assertThat(budget.take(4)).isTrue();

    budget.give(6);

    assertThat(budget.take(5)).isTrue();
  }
}
