// SPDX-License-Identifier: Apache-2.0
package io.isolde.staleness;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.OptionalDouble;
import org.junit.jupiter.api.Test;

class AdvisorTest {
  private static final Setting ONE_ONE = new Setting(Level.ONE, Level.ONE);
  private static final Setting READ_ONE = new Setting(Level.ONE, Level.ALL);
  private static final Setting WRITE_ONE = new Setting(Level.ALL, Level.ONE);

  /** The tail of the writes is long, as on disks. */
  private static final Legs LEGS =
      Legs.of(
          Delay.exponential(2_000),
          Delay.exponential(300),
          Delay.exponential(300),
          Delay.exponential(300));

  private static Map<Setting, Prediction> predictions(Legs legs) {
    return new Predictor(
            new IndependentDelays(3, legs), ReadFanOut.PREFERRED, 50_000, Randoms.seeded(9))
        .predict(Setting.all(3));
  }

  private static Target fresh(double probability, double afterMicros) {
    return new Target(probability, afterMicros, OptionalDouble.empty(), OptionalDouble.empty());
  }

  @Test
  void whenTimeIsGivenThenTheWeakestLevelsAreTheCheapest() {
    var advice = new Advisor(0.5).advise(predictions(LEGS), fresh(0.99, 30_000));
    assertThat(advice.meeting().get(0)).isEqualTo(ONE_ONE);
  }

  @Test
  void whenReadsMustBeFreshAtOnceThenOnlyStrongLevelsMeetIt() {
    var predictions = predictions(LEGS);
    var advice = new Advisor(0.9).advise(predictions, fresh(1, 0));
    assertThat(advice.meeting()).isNotEmpty().allMatch(each -> predictions.get(each).isStrong());
    assertThat(advice.meeting().get(0)).isEqualTo(READ_ONE);
    assertThat(advice.undecided()).isEmpty();
  }

  @Test
  void whenMostRequestsAreWritesThenTheyAreMadeCheap() {
    var advice = new Advisor(0.1).advise(predictions(LEGS), fresh(1, 0));
    assertThat(advice.meeting().get(0)).isEqualTo(WRITE_ONE);
  }

  @Test
  void whenReadsMustBeFastThenSlowerLevelsAreOut() {
    var predictions = predictions(LEGS);
    double p99 = predictions.get(ONE_ONE).readMicros(0.99).high();
    var advice =
        new Advisor(0.1)
            .advise(predictions, new Target(1, 0, OptionalDouble.of(p99), OptionalDouble.empty()));
    assertThat(advice.meeting()).containsExactly(READ_ONE);
  }

  @Test
  void whenLittleWasObservedThenItIsUndecided() {
    Delay few = ObservedDelay.of(100, 150, 180, 200, 250);
    var advice =
        new Advisor(0.5).advise(predictions(Legs.of(few, few, few, few)), fresh(0.999, 10_000));
    assertThat(advice.meeting()).doesNotContain(ONE_ONE);
    assertThat(advice.undecided()).contains(ONE_ONE);
  }
}
