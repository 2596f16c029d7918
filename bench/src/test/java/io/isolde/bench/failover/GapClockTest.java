// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.failover;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class GapClockTest {
  private static final long MILLISECOND = 1_000_000;

  private final GapClock clock = new GapClock();

  @Test
  void whenSuccessesFollowEachOtherThenTheLongestTimeBetweenTwoIsTheGap() {
    clock.restart(0);
    clock.success(2 * MILLISECOND);
    clock.success(9 * MILLISECOND);
    clock.success(10 * MILLISECOND);
    assertThat(clock.longestMillis(11 * MILLISECOND)).isEqualTo(7);
    assertThat(clock.longestEndNanos()).isEqualTo(9 * MILLISECOND);
  }

  @Test
  void whenNothingSucceedsYetThenTheGapGrows() {
    clock.restart(0);
    assertThat(clock.longestMillis(30 * MILLISECOND)).isEqualTo(30);
    assertThat(clock.hasSuccessSince(0)).isFalse();
  }

  @Test
  void whenFewNumbersAreSortedThenHighPercentilesAreTheLargest() {
    double[] gaps = {1, 2, 3, 4};
    assertThat(Gaps.percentile(gaps, 50)).isEqualTo(2);
    assertThat(Gaps.percentile(gaps, 99)).isEqualTo(4);
  }
}
