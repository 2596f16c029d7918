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
  }

  @Test
  void whenNothingSucceedsYetThenTheGapGrows() {
    clock.restart(0);
    assertThat(clock.longestMillis(30 * MILLISECOND)).isEqualTo(30);
    assertThat(clock.hasSuccessSince(0)).isFalse();
  }

  @Test
  void whenALongerGapComesLaterThenTheFirstSuccessAfterTheMarkCountsAllTheSame() {
    clock.restart(0);
    clock.success(2 * MILLISECOND);
    clock.mark(60 * MILLISECOND);
    clock.success(64 * MILLISECOND);
    clock.success(900 * MILLISECOND);
    assertThat(clock.longestMillis(901 * MILLISECOND)).isEqualTo(836);
    assertThat(clock.afterMarkMillis(901 * MILLISECOND)).hasValue(4);
  }

  @Test
  void whenNothingSucceedsAfterTheMarkThenTheTimeGrows() {
    clock.restart(0);
    assertThat(clock.afterMarkMillis(5 * MILLISECOND)).isEmpty();
    clock.success(2 * MILLISECOND);
    clock.mark(3 * MILLISECOND);
    assertThat(clock.afterMarkMillis(33 * MILLISECOND)).hasValue(30);
    clock.restart(40 * MILLISECOND);
    assertThat(clock.afterMarkMillis(50 * MILLISECOND)).isEmpty();
  }

  @Test
  void whenFewNumbersAreSortedThenHighPercentilesAreTheLargest() {
    double[] gaps = {1, 2, 3, 4};
    assertThat(Gaps.percentile(gaps, 50)).isEqualTo(2);
    assertThat(Gaps.percentile(gaps, 99)).isEqualTo(4);
  }
}
