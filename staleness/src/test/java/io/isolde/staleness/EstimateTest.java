// SPDX-License-Identifier: Apache-2.0
package io.isolde.staleness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

class EstimateTest {

  @Test
  void whenAllOfTenSucceedThenTheIntervalIsThatOfTheTables() {
    Estimate all = Estimate.ofShare(1, 10);
    assertThat(all.low()).isCloseTo(0.7225, within(1e-4));
    assertThat(all.high()).isEqualTo(1);
    Estimate half = Estimate.ofShare(0.5, 100);
    assertThat(half.low()).isCloseTo(0.4038, within(1e-4));
    assertThat(half.high()).isCloseTo(0.5962, within(1e-4));
  }

  @Test
  void whenSharesAreDrawnThenTheIntervalHoldsTheTruthNineteenTimesInTwenty() {
    RandomGenerator random = Randoms.seeded(6).get();
    double truth = 0.97;
    int held = 0;
    for (int round = 0; round < 4_000; round++) {
      int happened = 0;
      for (int i = 0; i < 400; i++) {
        happened += random.nextDouble() < truth ? 1 : 0;
      }
      Estimate estimate = Estimate.ofShare(happened / 400.0, 400);
      held += estimate.low() <= truth && truth <= estimate.high() ? 1 : 0;
    }
    assertThat(held / 4_000.0).isCloseTo(0.95, within(0.02));
  }

  @Test
  void whenDelaysWereObservedThenTheyAreDrawnAsOftenAsSeen() {
    ObservedDelay delay =
        ObservedDelay.ofBuckets(
            new double[] {0, 10}, new double[] {10, 10}, new double[] {3, 1}, 4);
    RandomGenerator random = Randoms.seeded(8).get();
    int tens = 0;
    double sum = 0;
    for (int i = 0; i < 100_000; i++) {
      double drawn = delay.drawMicros(random);
      tens += drawn == 10 ? 1 : 0;
      sum += drawn == 10 ? 0 : drawn;
    }
    assertThat(tens / 100_000.0).isCloseTo(0.25, within(0.01));
    assertThat(sum / (100_000 - tens)).isCloseTo(5, within(0.1));
  }
}
