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
    assertThat(delays.freshAfterMicros(0.6, 0)).isEqualTo(Estimate.exact(0));
    assertThat(delays.freshAfterMicros(0.99, 0).value()).isCloseTo(5_000, within(50.0));
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
    Estimate after = delays.freshAfterMicros(0.99, 0);
    assertThat(after.value()).isCloseTo(mean * Math.log(200 / 3.0), within(2_000.0));
    assertThat(mean * Math.log(200 / 3.0)).isBetween(after.low(), after.high());
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

  @Test
  void whenTooLittleWasSeenThenReadsMayBecomeFreshAtAnyTime() {
    FollowerDelays delays = new FollowerDelays(HALF_LIFE_MILLIS);
    delays.record("f", 1_000, 1_000, 0);
    Estimate after = delays.freshAfterMicros(0.999, 0);
    assertThat(after.value()).isCloseTo(1_000, within(10.0));
    assertThat(delays.freshAfterMicros(0.85, 0).low()).isZero();
    assertThat(after.high()).isEqualTo(120e6);
    assertThat(delays.monotonicReads(1e5, 0, 0).low()).isLessThan(0.9);
  }

  @Test
  void whenALeaderHasOneFollowerThenOnlyReadsOfItAfterTheLeaderGoBack() {
    FollowerDelays delays = new FollowerDelays(HALF_LIFE_MILLIS);
    SplittableRandom random = new SplittableRandom(8);
    double mean = 10_000;
    for (int i = 0; i < 20_000; i++) {
      double delay = -mean * Math.log(1 - random.nextDouble());
      delays.record("a", delay, delay, 0);
    }
    for (double t : new double[] {0, 5_000, 20_000}) {
      double interval = 40_000;
      // The last write is older than g with exp(-g / interval), and not there with exp(-g / mean).
      double expected = 1 - 1 / 4.0 * mean / (mean + interval) * Math.exp(-t / mean);
      Estimate monotonic = delays.monotonicReads(interval, t, 0);
      assertThat(monotonic.value()).isCloseTo(expected, within(1e-3));
      assertThat(expected).isBetween(monotonic.low(), monotonic.high());
    }
  }

  @Test
  void whenDelaysAreKnownRoughlyThenTheIntervalOfMonotonicReadsHoldsBothEnds() {
    Estimate rough = monotonicBetween(1_000, 9_000);
    for (double exactly : new double[] {1_000, 5_000, 9_000}) {
      assertThat(monotonicBetween(exactly, exactly).value()).isBetween(rough.low(), rough.high());
    }
    assertThat(rough.high() - rough.low()).isGreaterThan(0.03);
  }

  private static Estimate monotonicBetween(double least, double most) {
    FollowerDelays delays = new FollowerDelays(HALF_LIFE_MILLIS);
    for (int i = 0; i < 10_000; i++) {
      delays.record("a", least, most, 0);
      delays.record("b", least, most, 0);
    }
    return delays.monotonicReads(50_000, 500, 0);
  }
}
