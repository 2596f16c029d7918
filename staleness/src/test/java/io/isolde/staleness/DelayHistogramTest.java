// SPDX-License-Identifier: Apache-2.0
package io.isolde.staleness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import java.util.random.RandomGenerator;
import java.util.stream.DoubleStream;
import org.junit.jupiter.api.Test;

class DelayHistogramTest {
  private static final long HALF_LIFE = 1_000;
  private final DelayHistogram histogram = new DelayHistogram(HALF_LIFE, 0);

  private void record(int times, double micros, long nowMillis) {
    for (int i = 0; i < times; i++) {
      histogram.record(micros, nowMillis);
    }
  }

  @Test
  void whenTimePassesThenOldDelaysCountLess() {
    record(1_000, 100, 0);
    record(1_000, 10_000, HALF_LIFE);
    assertThat(histogram.observations(HALF_LIFE)).isEqualTo(1_500);
    assertThat(histogram.quantileMicros(0.3)).isEqualTo(100);
    assertThat(histogram.quantileMicros(0.36)).isBetween(9_900L, 10_100L);
    assertThat(histogram.observations(20 * HALF_LIFE)).isZero();
  }

  @Test
  void whenADelayIsAnOutlierThenItIsGoneAfterFiveHalfLives() {
    record(1, 1e6, 0);
    record(100_000, 100, 4 * HALF_LIFE);
    assertThat(histogram.quantileMicros(1)).isGreaterThan(900_000);
    record(1, 100, 5 * HALF_LIFE);
    assertThat(histogram.quantileMicros(1)).isEqualTo(100);
  }

  @Test
  void whenItTravelsAsTextThenItsDistributionIsTheSame() {
    RandomGenerator random = Randoms.seeded(2).get();
    for (int i = 0; i < 20_000; i++) {
      histogram.record(3_000 * random.nextExponential(), 0);
    }
    DelayHistogram other = new DelayHistogram(HALF_LIFE, 0);
    ObservedDelay both = DelayHistogram.decoded(List.of(histogram.encoded(), other.encoded()));
    assertThat(both.observations()).isEqualTo(20_000);
    double mean =
        DoubleStream.generate(() -> both.drawMicros(random)).limit(100_000).average().orElseThrow();
    assertThat(mean).isCloseTo(3_000, within(90.0));
  }

  @Test
  void whenADelayIsBeyondAllMeasureThenItCountsAsTheLongest() {
    record(1, 1e12, 0);
    record(1, -5, 0);
    assertThat(histogram.quantileMicros(1)).isGreaterThan(119_000_000);
    assertThat(histogram.quantileMicros(0)).isZero();
  }

  @Test
  void whenNothingWasSeenThenThereIsNoDistribution() {
    assertThatThrownBy(histogram::toDelay).hasMessageContaining("at least one observation");
    assertThatThrownBy(() -> DelayHistogram.decoded(List.of()))
        .hasMessageContaining("at least one observation");
  }
}
