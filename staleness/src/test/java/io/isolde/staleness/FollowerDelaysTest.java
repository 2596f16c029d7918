// SPDX-License-Identifier: Apache-2.0
package io.isolde.staleness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class FollowerDelaysTest {
  private static final long HALF_LIFE_MILLIS = 60_000;

  @Test
  void whenOneFollowerIsAtOnceAndOneLateThenReadsAreFreshAsOftenAsTheyMeetTheOthers() {
    FollowerDelays delays = new FollowerDelays(HALF_LIFE_MILLIS);
    for (int i = 0; i < 1000; i++) {
      delays.record("quick", 0, 0, 0);
      delays.record("late", 5_000, 5_000, 0);
    }
    assertThat(delays.freshAfter(0, 0).value()).isCloseTo(2 / 3.0, within(1e-9));
    assertThat(delays.freshAfter(4_900, 0).value()).isCloseTo(2 / 3.0, within(1e-9));
    assertThat(delays.freshAfter(5_100, 0).value()).isEqualTo(1);
    assertThat(delays.freshAfterMicros(0.6, 0)).isZero();
    assertThat(delays.freshAfterMicros(0.99, 0)).isCloseTo(5_000, within(50.0));
  }

  @Test
  void whenDelaysAreExponentialThenTheClosedFormIsMet() {
    FollowerDelays delays = new FollowerDelays(HALF_LIFE_MILLIS);
    SplittableRandom random = new SplittableRandom(7);
    double mean = 10_000;
    for (int i = 0; i < 50_000; i++) {
      for (String follower : new String[] {"a", "b"}) {
        double delay = -mean * Math.log(1 - random.nextDouble());
        delays.record(follower, delay, delay, 0);
      }
    }
    for (double after : new double[] {1_000, 10_000, 30_000}) {
      double expected = (1 + 2 * (1 - Math.exp(-after / mean))) / 3;
      Estimate fresh = delays.freshAfter(after, 0);
      assertThat(fresh.value()).isCloseTo(expected, within(0.005));
      assertThat(fresh.low()).isLessThan(fresh.value());
      assertThat(fresh.high()).isGreaterThan(fresh.value());
    }
    // 1 - (2/3) e^(-t/mean) = 0.99
    assertThat(delays.freshAfterMicros(0.99, 0))
        .isCloseTo(mean * Math.log(200 / 3.0), within(2_000.0));
  }

  @Test
  void whenADelayIsKnownRoughlyThenTheIntervalHoldsBothEnds() {
    FollowerDelays delays = new FollowerDelays(HALF_LIFE_MILLIS);
    for (int i = 0; i < 10_000; i++) {
      delays.record("f", 1_000, 3_000, 0);
    }
    Estimate between = delays.freshAfter(1_500, 0);
    assertThat(between.low()).isLessThan(0.51);
    assertThat(between.high()).isEqualTo(1);
    assertThat(delays.observations(0)).isEqualTo(10_000);
  }

  @Test
  void whenAFollowerIsGoneForLongThenTheOthersAreStillTold() {
    FollowerDelays delays = new FollowerDelays(HALF_LIFE_MILLIS);
    delays.record("gone", 9_000, 9_000, 0);
    long later = 10 * HALF_LIFE_MILLIS;
    delays.record("there", 0, 0, later);
    assertThat(delays.followers(later)).isEqualTo(1);
    assertThat(delays.observations(later)).isEqualTo(1);
    assertThat(delays.freshAfter(1_000, later).value()).isEqualTo(1);
  }

  @Test
  void whenNothingWasSeenThenNothingIsObserved() {
    FollowerDelays delays = new FollowerDelays(HALF_LIFE_MILLIS);
    assertThat(delays.followers(0)).isZero();
    assertThat(delays.observations(0)).isZero();
  }
}
