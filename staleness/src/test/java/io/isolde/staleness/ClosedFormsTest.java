// SPDX-License-Identifier: Apache-2.0
package io.isolde.staleness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Cases whose answer is known. Where only W takes time, and that exponentially, what a replica
 * still lacks at the moment of the acknowledgement is exponential again, whatever has passed.
 */
class ClosedFormsTest {
  private static final double MEAN = 5_000;
  private static final double ERROR = 0.004;

  private static Predictor predictor(int replicas, Legs legs, ReadFanOut fanOut) {
    return new Predictor(
        new IndependentDelays(replicas, legs), fanOut, Randoms.TRIALS, Randoms.seeded(7));
  }

  private static Legs slowWrites() {
    return Legs.of(Delay.exponential(MEAN), Delay.NONE, Delay.NONE, Delay.NONE);
  }

  @ParameterizedTest
  @CsvSource({"0", "1000", "5000", "20000"})
  void whenOneOfThreeIsReadAndWrittenThenTwoThirdsWaitAnExponentialTime(double t) {
    Prediction one =
        predictor(3, slowWrites(), ReadFanOut.PREFERRED).predict(new Setting(Level.ONE, Level.ONE));
    assertThat(one.freshAfter(t).value())
        .isCloseTo(1 - 2 / 3.0 * Math.exp(-t / MEAN), within(ERROR));
  }

  @ParameterizedTest
  @CsvSource({"0", "1000", "5000", "20000"})
  void whenTwoOfThreeAreWrittenThenOneThirdWaits(double t) {
    Prediction quorum =
        predictor(3, slowWrites(), ReadFanOut.PREFERRED)
            .predict(new Setting(Level.ONE, Level.QUORUM));
    assertThat(quorum.freshAfter(t).value())
        .isCloseTo(1 - 1 / 3.0 * Math.exp(-t / MEAN), within(ERROR));
  }

  @ParameterizedTest
  @CsvSource({"0", "1000", "5000", "20000"})
  void whenTwoOfThreeAreReadThenTheFasterOfTwoCounts(double t) {
    Prediction quorum =
        predictor(3, slowWrites(), ReadFanOut.PREFERRED)
            .predict(new Setting(Level.QUORUM, Level.ONE));
    assertThat(quorum.freshAfter(t).value())
        .isCloseTo(1 - 1 / 3.0 * Math.exp(-2 * t / MEAN), within(ERROR));
  }

  @ParameterizedTest
  @CsvSource({"0, 0", "2000, 0", "2000, 3000", "8000, 1000"})
  void whenTwoVersionsWereWrittenThenBothMustBeMissingAtTheReplica(double t, double gap) {
    int n = 3;
    VersionPredictor versions =
        predictor(n, slowWrites(), ReadFanOut.PREFERRED)
            .versions(new Setting(Level.ONE, Level.ONE));
    double newestMissing = (n - 1.0) / n * Math.exp(-t / MEAN);
    double olderMissing = n / (n + 1.0) * Math.exp(-(t + gap) / MEAN);
    assertThat(versions.withinVersions(2, gap).after(t).value())
        .isCloseTo(1 - newestMissing * olderMissing, within(ERROR));
  }

  @Test
  void whenOneVersionIsAskedForThenKStalenessIsTVisibility() {
    Predictor predictor = predictor(5, slowWrites(), ReadFanOut.PREFERRED);
    Setting setting = new Setting(Level.TWO, Level.TWO);
    assertThat(predictor.versions(setting).withinVersions(1, 0).after(3_000).value())
        .isCloseTo(predictor.predict(setting).freshAfter(3_000).value(), within(ERROR));
  }

  @Test
  void whenHalfOfTheReplicasHaveAWriteThenASecondReadGoesBackWhereItMeetsTheOthers() {
    // A replica has each write at once, or never.
    // second.
    Legs legs =
        Legs.of(random -> random.nextBoolean() ? 0 : 1e9, Delay.NONE, Delay.NONE, Delay.NONE);
    VersionPredictor versions =
        predictor(1, legs, ReadFanOut.PREFERRED).versions(new Setting(Level.ONE, Level.ONE));
    assertThat(versions.monotonicReads(1, 1).value()).isEqualTo(1);
    VersionPredictor three =
        predictor(3, legs, ReadFanOut.PREFERRED).versions(new Setting(Level.ONE, Level.ONE));
    // In 2/3 it asks another replica; of what one of the two has, a third only the first has.
    assertThat(three.monotonicReads(1e5, 0).value())
        .isCloseTo(1 - 2 / 3.0 * 1 / 3.0, within(ERROR));
  }

  @ParameterizedTest
  @EnumSource(ReadFanOut.class)
  void whenReadsAndWritesOverlapThenNothingIsEverStale(ReadFanOut fanOut) {
    Delay wild = Delay.exponential(MEAN).then(Delay.uniform(0, 10 * MEAN));
    Predictor predictor = predictor(3, Legs.of(wild, wild, wild, wild), fanOut);
    for (Setting setting : Setting.all(3)) {
      boolean isStrong = needed(setting.read()) + needed(setting.write()) > 3;
      assertThat(predictor.predict(setting).isStrong()).as("%s", setting).isEqualTo(isStrong);
      double simulated = predictor.versions(setting).simulated(1, 0).after(0).value();
      if (isStrong) {
        assertThat(simulated).as("%s", setting).isEqualTo(1);
        assertThat(predictor.predict(setting).freshAfter(0).low()).isEqualTo(1);
      } else {
        assertThat(simulated).as("%s", setting).isLessThan(1);
      }
    }
  }

  private static int needed(Level level) {
    return level.in(3).needed(0);
  }

  @Test
  void whenAllDelaysAreConstantThenAllIsVisibleAtOnceAndLatenciesAreTheirSums() {
    Legs legs =
        Legs.of(Delay.constant(10), Delay.constant(1), Delay.constant(20), Delay.constant(2));
    Prediction one =
        predictor(3, legs, ReadFanOut.PREFERRED).predict(new Setting(Level.ONE, Level.ONE));
    assertThat(one.freshAfter(0).value()).isEqualTo(1);
    assertThat(one.writeMicros(0.99).value()).isEqualTo(11);
    assertThat(one.readMicros(0.5).value()).isEqualTo(22);
  }

  @Test
  void whenWritesAreConstantlySlowerThanAcknowledgedThenTheCurveIsAStep() {
    // The acknowledgement comes from whoever is first; the others' data is there at the same time.
    Legs legs =
        Legs.of(random -> random.nextBoolean() ? 0 : 4_000, Delay.NONE, Delay.NONE, Delay.NONE);
    Prediction one =
        predictor(3, legs, ReadFanOut.PREFERRED).predict(new Setting(Level.ONE, Level.ONE));
    double allSlow = 1 / 8.0;
    double readIsFast = 1 / 2.0;
    assertThat(one.freshAfter(3_999).value()).isCloseTo(readIsFast + allSlow, within(ERROR));
    assertThat(one.freshAfter(4_000).value()).isEqualTo(1);
    assertThat(one.visibilityMicros(0.99).value()).isEqualTo(4_000);
  }

  @Test
  void whenTheClientIsFarThenItsRoundTripIsTimeToSpread() {
    Predictor near = predictor(3, slowWrites(), ReadFanOut.PREFERRED);
    Predictor far = near.withClientRoundTrip(Delay.constant(3_000));
    Setting setting = new Setting(Level.ONE, Level.ONE);
    assertThat(far.predict(setting).freshAfter(2_000).value())
        .isCloseTo(near.predict(setting).freshAfter(5_000).value(), within(1e-12));
  }

  @Test
  void whenLatencyIsAnOrderStatisticThenItsQuantileIsKnown() {
    // The first of three exponential times is exponential with a third of the mean.
    Prediction one =
        predictor(3, slowWrites(), ReadFanOut.PREFERRED).predict(new Setting(Level.ONE, Level.ONE));
    assertThat(one.writeMicros(0.5).value()).isCloseTo(Math.log(2) * MEAN / 3, within(20.0));
    Estimate p99 = one.writeMicros(0.99);
    assertThat(-Math.log(0.01) * MEAN / 3).isBetween(p99.low(), p99.high());
  }
}
