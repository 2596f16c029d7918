// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StallForecastTest {
  private static final long MOST = 1_000_000;
  private static final long STEP_MILLIS = 500;

  private final StallForecast forecast = new StallForecast();

  @Test
  void whenMemoryFillsSteadilyThenItIsForeseenOnceAndBeforeItIsFull() {
    int times = 0;
    long foreseenAt = -1;
    for (long now = 0; now <= 20_000; now += STEP_MILLIS) {
      if (forecast.read(now, 50 * now, MOST)) {
        times++;
        foreseenAt = now;
      }
    }
    assertThat(times).isEqualTo(1);
    assertThat(foreseenAt).isBetween(20_000 - 2 * StallForecast.AHEAD_MILLIS, 19_000L);
  }

  @Test
  void whenAFlushBringsMemoryBackInTimeThenNothingIsForeseen() {
    for (long now = 0; now <= 60_000; now += STEP_MILLIS) {
      long used = (now % 4_000) * 100; // It rises to 40% and falls.
      assertThat(forecast.read(now, used, MOST)).as("at %s ms", now).isFalse();
    }
    assertThat(forecast.isComing()).isFalse();
  }

  @Test
  void whenItIsFullAndStaysSoThenThatIsOneStallUntilThereIsRoomAgain() {
    assertThat(forecast.read(0, 960_000, MOST)).isTrue();
    assertThat(forecast.read(1_000, 700_000, MOST)).isFalse();
    assertThat(forecast.isComing()).isTrue();
    assertThat(forecast.read(2_000, 970_000, MOST)).isFalse();
    assertThat(forecast.read(3_000, 100_000, MOST)).isFalse();
    assertThat(forecast.isComing()).isFalse();
    assertThat(forecast.read(4_000, 990_000, MOST)).isTrue();
  }

  @Test
  void whenNobodyKnowsHowMuchThereCanBeThenNothingIsForeseen() {
    assertThat(forecast.read(0, 1_000, -1)).isFalse();
    assertThat(forecast.read(STEP_MILLIS, 1_000_000, 0)).isFalse();
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5})
  void whateverIsReadItSaysSoWhenItIsFullAndNeverWhileHalfOfItIsFree(long seed) {
    Random random = new Random(seed);
    long now = 0;
    for (int i = 0; i < 5_000; i++) {
      now += random.nextInt(2_000);
      long used = random.nextInt((int) MOST + 1);
      boolean isNew = forecast.read(now, used, MOST);
      assertThat(isNew && !forecast.isComing()).as("seed %s", seed).isFalse();
      if (used >= StallForecast.FULL * MOST) {
        assertThat(forecast.isComing()).as("seed %s, %s bytes", seed, used).isTrue();
      }
      if (used < StallForecast.HALF * MOST) {
        assertThat(forecast.isComing()).as("seed %s, %s bytes", seed, used).isFalse();
      }
    }
  }
}
