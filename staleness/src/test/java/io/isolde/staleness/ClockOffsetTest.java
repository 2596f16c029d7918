// SPDX-License-Identifier: Apache-2.0
package io.isolde.staleness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ClockOffsetTest {
  private static final long MILLISECOND = 1_000_000;
  private final RandomGenerator random = Randoms.seeded(21).get();
  private final ClockOffset clock = new ClockOffset();

  /** Exchanges with exponential delays of 1 ms each way and of 2 ms for the work in between. */
  private long exchange(int times, long start, double offset, double drift) {
    long now = start;
    for (int i = 0; i < times; i++) {
      long sent = now;
      long arrived = sent + millis(0.1) + millis(random.nextExponential());
      long answered = arrived + millis(2 * random.nextExponential());
      long received = answered + millis(0.1) + millis(random.nextExponential());
      clock.learn(sent, theirs(arrived, offset, drift), theirs(answered, offset, drift), received);
      now = received + 10 * MILLISECOND;
    }
    return now;
  }

  private static long theirs(long ours, double offset, double drift) {
    return ours + Math.round(offset + ours * drift);
  }

  private static long millis(double millis) {
    return Math.round(millis * MILLISECOND);
  }

  @ParameterizedTest
  @ValueSource(doubles = {0, 3e12, -7e15, 123})
  void whenClocksHaveAnyOriginThenTheOffsetIsFoundWithinWhatItClaims(double offset) {
    exchange(500, 5_000_000, offset, 0);
    assertThat(clock.offsetNanos()).isCloseTo(offset, within(clock.uncertaintyNanos() + 2));
    // Half of the shortest round trip is 0.1 ms; what is above that is luck and drift.
    assertThat(clock.uncertaintyNanos()).isLessThan(0.4 * MILLISECOND);
  }

  @Test
  void whenClocksDriftThenTheBoundsFollow() {
    double drift = 20e-6;
    long now = exchange(20_000, 0, 1e9, drift);
    assertThat(clock.offsetNanos())
        .isCloseTo(1e9 + now * drift, within(clock.uncertaintyNanos() + MILLISECOND / 100.0));
    assertThat(clock.uncertaintyNanos()).isLessThan(0.5 * MILLISECOND);
  }

  @Test
  void whenTheOtherNodeRestartsThenItsNewClockIsLearnt() {
    long now = exchange(500, 0, 8e12, 0);
    exchange(500, now, -4e12, 0);
    assertThat(clock.offsetNanos()).isCloseTo(-4e12, within(clock.uncertaintyNanos() + 2));
  }

  @Test
  void whenNothingWasExchangedThenNothingIsKnown() {
    assertThat(clock.isKnown()).isFalse();
    exchange(1, 0, 0, 0);
    assertThat(clock.isKnown()).isTrue();
  }
}
