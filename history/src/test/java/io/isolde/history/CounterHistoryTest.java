// SPDX-License-Identifier: Apache-2.0
package io.isolde.history;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.history.CounterHistory.Addition;
import io.isolde.history.CounterHistory.Reading;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class CounterHistoryTest {
  private static final int STEPS = 50;
  private static final int SEEDS = 60;

  /** What a wrong counter does. */
  private enum Mistake {
    LOSES,
    ADDS_TWICE,
    READS_OLD,
    FORGETS
  }

  private final List<Addition> additions = new ArrayList<>();
  private final List<Reading> readings = new ArrayList<>();

  /** One step after the other takes effect; each is sent some time before, and answered after. */
  private void run(long seed, Mistake mistake) {
    additions.clear();
    readings.clear();
    Random random = new Random(seed);
    List<Long> values = new ArrayList<>(List.of(0L));
    int wrong = STEPS / 3 + random.nextInt(STEPS / 3);
    for (int step = 0; step < STEPS; step++) {
      long at = 100L * step;
      long begin = at - random.nextInt(150);
      long end = at + random.nextInt(150);
      long value = values.get(values.size() - 1);
      boolean isWrong = step == wrong && mistake != null;
      if (isWrong && mistake == Mistake.FORGETS) {
        values.add(values.get(values.size() / 2));
      } else if (isWrong && mistake == Mistake.READS_OLD) {
        readings.add(new Reading(values.get(0), begin, end));
      } else if (isWrong || random.nextBoolean()) {
        boolean isLost = isWrong && mistake == Mistake.LOSES;
        boolean isUnknown = !isWrong && random.nextInt(5) == 0;
        long added = 1L << additions.size();
        boolean isMade = !isLost && !(isUnknown && random.nextBoolean());
        additions.add(
            new Addition(additions.size(), begin, isUnknown ? CounterHistory.NEVER : end));
        values.add(value + (isMade ? added : 0) + (isWrong && isMade ? added : 0));
      } else {
        readings.add(new Reading(value, begin, end));
      }
    }
    long last = 100L * STEPS;
    readings.add(new Reading(values.get(values.size() - 1), last + 200, last + 300));
  }

  @Test
  void whenACounterIsRightThenNothingIsSaid() {
    for (long seed = 0; seed < SEEDS; seed++) {
      run(seed, null);
      assertThat(CounterHistory.violations(additions, readings)).as("seed %d", seed).isEmpty();
    }
  }

  @ParameterizedTest
  @EnumSource
  void whenACounterIsWrongThenItIsSaid(Mistake mistake) {
    for (long seed = 0; seed < SEEDS; seed++) {
      run(seed, mistake);
      assertThat(CounterHistory.violations(additions, readings)).as("seed %d", seed).isNotEmpty();
    }
  }
}
