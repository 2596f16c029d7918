// SPDX-License-Identifier: Apache-2.0
package io.isolde.staleness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.random.RandomGenerator;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PredictorMatchesEventSimulationTest {
  private static final int RUNS = 40_000;
  private static final double ERROR = 0.012;

  private static final Legs LEGS =
      Legs.of(
          Delay.exponential(4_000).then(Delay.constant(500)),
          Delay.exponential(1_000),
          Delay.uniform(200, 2_500),
          Delay.exponential(700));

  @ParameterizedTest
  @CsvSource({
    "ONE, ONE, PREFERRED, 0",
    "ONE, ONE, PREFERRED, 3000",
    "ONE, ONE, ALL, 0",
    "ONE, ONE, ALL, 3000",
    "QUORUM, ONE, PREFERRED, 1000",
    "QUORUM, ONE, ALL, 1000",
    "ONE, QUORUM, PREFERRED, 1000",
    "ONE, QUORUM, ALL, 500",
    "QUORUM, QUORUM, ALL, 0"
  })
  void whenOneWriteIsReadLaterThenTheShareOfFreshReadsIsAsPredicted(
      Level read, Level write, ReadFanOut fanOut, double t) {
    RandomGenerator random = Randoms.seeded(11).get();
    int readers = read.in(3).needed(0);
    int writers = write.in(3).needed(0);
    int[] fresh = {0};
    for (int run = 0; run < RUNS; run++) {
      EventSimulation simulation = new EventSimulation(3, LEGS, random);
      simulation.write(
          1,
          writers,
          () ->
              simulation.at(
                  simulation.now() + t,
                  () ->
                      simulation.read(
                          readers, fanOut == ReadFanOut.ALL, version -> fresh[0] += version)));
      simulation.run();
    }
    Prediction prediction = predictor(fanOut).predict(new Setting(read, write));
    assertThat(prediction.freshAfter(t).value()).isCloseTo((double) fresh[0] / RUNS, within(ERROR));
  }

  @ParameterizedTest
  @CsvSource({"1, 1000, 0", "2, 1000, 0", "2, 500, 2000", "3, 0, 1000", "5, 0, 500"})
  void whenSeveralVersionsWereWrittenThenTheShareOfRecentOnesIsAsPredicted(
      int k, double t, double gap) {
    RandomGenerator random = Randoms.seeded(12).get();
    int last = 8;
    int[] recent = {0};
    for (int run = 0; run < RUNS; run++) {
      EventSimulation simulation = new EventSimulation(3, LEGS, random);
      for (int version = 1; version <= last; version++) {
        int number = version;
        Runnable whenAcknowledged =
            number < last
                ? () -> {}
                : () ->
                    simulation.at(
                        simulation.now() + t,
                        () ->
                            simulation.read(
                                1, false, seen -> recent[0] += seen > last - k ? 1 : 0));
        simulation.at(number * gap, () -> simulation.write(number, 1, whenAcknowledged));
      }
      simulation.run();
    }
    Estimate predicted =
        predictor(ReadFanOut.PREFERRED)
            .versions(new Setting(Level.ONE, Level.ONE))
            .withinVersions(k, gap)
            .after(t);
    assertThat(predicted.value()).isCloseTo((double) recent[0] / RUNS, within(ERROR));
  }

  @ParameterizedTest
  @CsvSource({"200, 100", "1000, 500", "20, 1000"})
  void whenAClientReadsAgainThenTheShareThatGoesBackIsAsPredicted(
      double writesPerSecond, double readsPerSecond) {
    RandomGenerator random = Randoms.seeded(13).get();
    double start = 100_000;
    int[] monotonic = {0};
    for (int run = 0; run < RUNS / 4; run++) {
      EventSimulation simulation = new EventSimulation(3, LEGS, random);
      int version = 0;
      double until = start + 1e6 / readsPerSecond;
      for (double at = 1e6 / writesPerSecond * random.nextExponential();
          at < until;
          at += 1e6 / writesPerSecond * random.nextExponential()) {
        int number = ++version;
        simulation.at(at, () -> simulation.write(number, 1, () -> {}));
      }
      int[] seen = {0, 0};
      simulation.at(start, () -> simulation.read(1, false, v -> seen[0] = v));
      simulation.at(until, () -> simulation.read(1, false, v -> seen[1] = v));
      simulation.run();
      monotonic[0] += seen[1] >= seen[0] ? 1 : 0;
    }
    Estimate predicted =
        predictor(ReadFanOut.PREFERRED)
            .versions(new Setting(Level.ONE, Level.ONE))
            .monotonicReads(1e6 / writesPerSecond, 1e6 / readsPerSecond);
    assertThat(predicted.value()).isCloseTo(monotonic[0] / (RUNS / 4.0), within(0.02));
  }

  private static Predictor predictor(ReadFanOut fanOut) {
    return new Predictor(
        new IndependentDelays(3, LEGS), fanOut, Randoms.TRIALS / 2, Randoms.seeded(3));
  }
}
