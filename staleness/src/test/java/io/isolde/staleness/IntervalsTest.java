// SPDX-License-Identifier: Apache-2.0
package io.isolde.staleness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.isolde.staleness.MeasuredLegs.Route;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Intervals hold what is true, whatever the clocks and however few delays were observed. */
class IntervalsTest {
  private static final int RUNS = 40_000;
  private static final double ERROR = 0.012;
  private static final double OFFSET = 1_500;

  private static final Setting ONE_ONE = new Setting(Level.ONE, Level.ONE);
  private static final Setting ONE_QUORUM = new Setting(Level.ONE, Level.QUORUM);
  private static final Setting QUORUM_ONE = new Setting(Level.QUORUM, Level.ONE);

  /** As they are: nothing is shorter than what clocks are wrong by. */
  private static Legs legs(double writeAndResponse, double ackAndRequest, double uncertainty) {
    return new Legs(
        Delay.exponential(4_000).then(Delay.constant(2_000 + writeAndResponse)),
        Delay.exponential(1_000).then(Delay.constant(2_000 + ackAndRequest)),
        Delay.exponential(1_000).then(Delay.constant(2_000 + ackAndRequest)),
        Delay.exponential(500).then(Delay.constant(2_000 + writeAndResponse)),
        uncertainty);
  }

  private static double shareWithin(int k, double t, double gap) {
    RandomGenerator random = Randoms.seeded(41).get();
    int last = 4;
    int[] recent = {0};
    for (int run = 0; run < RUNS; run++) {
      EventSimulation simulation = new EventSimulation(3, legs(0, 0, 0), random);
      for (int version = 1; version <= last; version++) {
        int number = version;
        Runnable whenAcknowledged =
            () ->
                simulation.at(
                    simulation.now() + t,
                    () -> simulation.read(1, false, seen -> recent[0] += seen > last - k ? 1 : 0));
        simulation.at(
            number * gap,
            () -> simulation.write(number, 1, number < last ? () -> {} : whenAcknowledged));
      }
      simulation.run();
    }
    return (double) recent[0] / RUNS;
  }

  @ParameterizedTest
  @CsvSource({"1, 0, 0", "1, 3000, 0", "2, 0, 0", "2, 1000, 500", "3, 0, 0"})
  void whenClocksAreWrongByAllThatTheyCanThenTheTruthIsAtAnEndOfTheInterval(
      int k, double t, double gap) {
    double truth = shareWithin(k, t, gap);
    Estimate tooFresh = predicted(legs(-OFFSET, OFFSET, OFFSET), k, t, gap);
    Estimate tooStale = predicted(legs(OFFSET, -OFFSET, OFFSET), k, t, gap);
    assertThat(tooFresh.value()).isGreaterThan(truth + ERROR / 3);
    assertThat(tooFresh.low()).isCloseTo(truth, within(ERROR)).isLessThan(truth + ERROR / 3);
    assertThat(tooStale.value()).isLessThan(truth - ERROR / 3);
    assertThat(tooStale.high()).isCloseTo(truth, within(ERROR)).isGreaterThan(truth - ERROR / 3);
  }

  private static Estimate predicted(Legs measured, int k, double t, double gap) {
    Predictor predictor =
        new Predictor(
            new IndependentDelays(3, measured), ReadFanOut.PREFERRED, 50_000, Randoms.seeded(42));
    return predictor.versions(ONE_ONE).withinVersions(k, gap).after(t);
  }

  /**
   * Two nodes between which the way to is longer than the way back, which no clock can tell. Each
   * writes and reads at itself.
   */
  private static final class Asymmetric {
    static final double[] WAY_FROM = {5_000, 1_000};
    static final double SPREAD = 1_000;

    private final RandomGenerator random = Randoms.seeded(43).get();

    /** When a write of a node is at another, or at itself. */
    double write(int from, int to) {
      return from == to ? 0 : WAY_FROM[from] + SPREAD * random.nextExponential();
    }

    static Predictor asMeasured() {
      Delay halfOfBoth = Delay.constant(3_000);
      Delay spread = halfOfBoth.then(Delay.exponential(SPREAD));
      Legs legs = new Legs(spread, halfOfBoth, halfOfBoth, halfOfBoth, 2_000);
      Place rack = new Place("dc", "rack");
      return new Predictor(
          new ClusterDelays(
              new Topology(List.of(rack, rack), List.of(new int[] {0, 1})),
              new MeasuredLegs(Map.of(new Route(rack, rack), legs), Delay.NONE),
              CoordinatorChoice.REPLICA),
          ReadFanOut.PREFERRED,
          50_000,
          Randoms.seeded(44));
    }

    /** The newest version, of writes at random, that a node shows at that time. */
    double shareMonotonic(double writeInterval, double readInterval) {
      int monotonic = 0;
      for (int run = 0; run < RUNS; run++) {
        double first = 300_000;
        int firstAt = random.nextInt(2);
        int secondAt = random.nextInt(2);
        double seenFirst = 0;
        double seenSecond = 0;
        for (double at = 0;
            at < first + readInterval;
            at += writeInterval * random.nextExponential()) {
          int writer = random.nextInt(2);
          double[] there = {at + write(writer, 0), at + write(writer, 1)};
          seenFirst = there[firstAt] <= first ? at : seenFirst;
          seenSecond = there[secondAt] <= first + readInterval ? at : seenSecond;
        }
        monotonic += seenSecond >= seenFirst ? 1 : 0;
      }
      return (double) monotonic / RUNS;
    }
  }

  @ParameterizedTest
  @ValueSource(doubles = {0, 2_500, 4_500, 6_500})
  void whenTheWayToIsLongerThanTheWayBackThenIntervalsHoldTheTruth(double t) {
    Predictor predictor = Asymmetric.asMeasured();
    Asymmetric cluster = new Asymmetric();
    int fresh = 0;
    int within = 0;
    for (int run = 0; run < RUNS; run++) {
      int reader = cluster.random.nextInt(2);
      boolean isLastThere = cluster.write(cluster.random.nextInt(2), reader) <= t;
      boolean isOlderThere = cluster.write(cluster.random.nextInt(2), reader) <= t;
      fresh += isLastThere ? 1 : 0;
      within += isLastThere || isOlderThere ? 1 : 0;
    }
    assertHolds(predictor.predict(ONE_ONE).freshAfter(t), (double) fresh / RUNS);
    assertHolds(predictor.versions(ONE_ONE).withinVersions(2, 0).after(t), (double) within / RUNS);
    assertHolds(
        predictor.versions(ONE_ONE).monotonicReads(20_000, t), cluster.shareMonotonic(20_000, t));
  }

  private static void assertHolds(Estimate estimate, double truth) {
    assertThat(truth).isBetween(estimate.low() - ERROR / 3, estimate.high() + ERROR / 3);
  }

  @Test
  void whenOneReplicaIsReadTwiceThenOnlyTheReadersClocksMatter() {
    Delay read = Delay.constant(2_000);
    Legs legs = new Legs(read, read, read, read, OFFSET);
    VersionPredictor versions =
        new Predictor(
                new IndependentDelays(1, legs), ReadFanOut.PREFERRED, 5_000, Randoms.seeded(45))
            .versions(ONE_ONE);
    double interval = 10_000;
    Quorums ones = new Quorums(Requirement.of(1), Requirement.of(1), ReadFanOut.PREFERRED);
    for (double t : new double[] {0, OFFSET, 2 * OFFSET}) {
      Estimate monotonic =
          new MonotonicReads(new IndependentDelays(1, legs), ones, interval, t)
              .simulate(20_000, 20_000, Randoms.seeded(45).get());
      // At worst the second read looks 2 * OFFSET - t before the first, and a write comes between.
      double worst = Math.exp(-(2 * OFFSET - t) / interval);
      assertThat(monotonic.value()).isEqualTo(1);
      assertThat(monotonic.low()).isCloseTo(worst, within(0.01));
    }
    assertThat(versions.monotonicReads(interval, 0)).isEqualTo(Estimate.exact(1));
  }

  @Test
  void whenFewDelaysWereObservedThenIntervalsHoldTheTruthNearlyAlways() {
    Legs legs = legs(0, 0, 0);
    double[] truth = numbers(legs, 200_000, 46, Estimate::value);
    int[] held = new int[truth.length];
    int rounds = 60;
    RandomGenerator random = Randoms.seeded(47).get();
    for (int round = 0; round < rounds; round++) {
      Legs observed =
          Legs.of(
              observed(legs.write(), random),
              observed(legs.ack(), random),
              observed(legs.request(), random),
              observed(legs.response(), random));
      double[] low = numbers(observed, 3_000, round, Estimate::low);
      double[] high = numbers(observed, 3_000, round, Estimate::high);
      for (int i = 0; i < held.length; i++) {
        held[i] += low[i] <= truth[i] && truth[i] <= high[i] ? 1 : 0;
      }
    }
    // 95% of 60 is 57; fewer than 52 would be chance once in a hundred times.
    assertThat(Arrays.stream(held).boxed()).allMatch(count -> count >= 52);
  }

  private static Delay observed(Delay delay, RandomGenerator random) {
    double[] micros = new double[300];
    for (int i = 0; i < micros.length; i++) {
      micros[i] = delay.drawMicros(random);
    }
    return ObservedDelay.of(micros);
  }

  private static double[] numbers(
      Legs legs, int trials, long seed, ToDoubleFunction<Estimate> number) {
    Predictor predictor =
        new Predictor(
            new IndependentDelays(3, legs), ReadFanOut.PREFERRED, trials, Randoms.seeded(seed));
    Map<Setting, Prediction> predictions =
        predictor.predict(List.of(ONE_ONE, ONE_QUORUM, QUORUM_ONE));
    VersionPredictor versions = predictor.versions(ONE_ONE);
    return List.of(
            predictions.get(ONE_ONE).freshAfter(2_000),
            versions.withinVersions(2, 0).after(0),
            versions.withinVersions(3, 0).after(0),
            versions.monotonicReads(20_000, 1_000),
            predictions.get(ONE_ONE).visibilityMicros(0.9),
            predictions.get(ONE_ONE).readMicros(0.5),
            predictions.get(ONE_ONE).writeMicros(0.5),
            predictions.get(ONE_QUORUM).writeMicros(0.5),
            predictions.get(ONE_QUORUM).writeMicros(0.9),
            predictions.get(QUORUM_ONE).readMicros(0.5),
            predictions.get(QUORUM_ONE).readMicros(0.9))
        .stream()
        .mapToDouble(number)
        .toArray();
  }
}
