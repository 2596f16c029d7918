// SPDX-License-Identifier: Apache-2.0
package io.isolde.study;

import io.isolde.cluster.ToolException;
import io.isolde.staleness.DelayModel;
import io.isolde.staleness.Estimate;
import io.isolde.staleness.ObservedDelay;
import io.isolde.staleness.Prediction;
import io.isolde.staleness.Predictor;
import io.isolde.staleness.ReadFanOut;
import io.isolde.staleness.Setting;
import io.isolde.staleness.VersionPredictor;
import io.isolde.study.Results.Latency;
import io.isolde.study.Results.LatencyPrediction;
import io.isolde.study.Results.Point;
import io.isolde.study.Results.Quantile;
import io.isolde.study.Results.SettingResult;
import io.isolde.study.Results.Versions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.function.DoubleFunction;
import java.util.function.ToDoubleFunction;
import java.util.random.RandomGeneratorFactory;
import java.util.stream.DoubleStream;

/** Compares what was seen at one setting with what the collected delays predict. */
final class Comparison {
  private static final int TRIALS = 100_000;

  /** Points of the curve, each of as many reads. */
  private static final int POINTS = 12;

  /** Of the reads, those soonest after the write: for k-staleness. */
  private static final double SOONEST = 0.25;

  private final Setting setting;
  private final Seen seen;
  private final Predictor predictor;

  /** Of rows that were written once, and of those that were several times. */
  private final List<Seen.Read> reads;

  private final List<Seen.Read> readsOfSeveral;

  Comparison(Setting setting, Seen seen, DelayModel model, long seed) {
    this.setting = setting;
    this.seen = seen;
    this.reads = sorted(seen, false);
    this.readsOfSeveral = sorted(seen, true);
    if (reads.isEmpty() || readsOfSeveral.isEmpty() || seen.roundTrips().length == 0) {
      throw new ToolException(
          "At %s, %d writes, %d reads and %d other requests were answered, too few to compare. The first of %d errors: %s"
              .formatted(
                  setting,
                  seen.writes().size(),
                  reads.size(),
                  seen.roundTrips().length,
                  seen.errorsAtMillis().size(),
                  seen.firstError()));
    }
    this.predictor =
        new Predictor(
                model,
                ReadFanOut.PREFERRED,
                TRIALS,
                () -> RandomGeneratorFactory.of("L64X128MixRandom").create(seed))
            .withClientRoundTrip(ObservedDelay.of(seen.roundTrips()));
  }

  private static List<Seen.Read> sorted(Seen seen, boolean isOfSeveral) {
    return seen.reads().stream()
        .filter(read -> read.isOfSeveral() == isOfSeveral)
        .sorted(Comparator.comparingDouble(Seen.Read::afterMicros))
        .toList();
  }

  SettingResult result(String name) {
    Prediction prediction = predictor.predict(setting);
    List<Point> points = points(prediction);
    List<Seen.Read> soonest =
        readsOfSeveral.subList(0, Math.max(1, (int) (SOONEST * readsOfSeveral.size())));
    return new SettingResult(
        name,
        setting.read().name(),
        setting.write().name(),
        prediction.isStrong(),
        latency(seen.reads().stream().mapToDouble(Seen.Read::latencyMicros)),
        latency(seen.writes().stream().mapToDouble(Seen.Write::latencyMicros)),
        predicted(prediction::readMicros),
        predicted(prediction::writeMicros),
        latency(DoubleStream.of(seen.roundTrips())),
        points,
        versions(soonest),
        mean(soonest, Seen.Read::afterMicros) / 1e3,
        rootMean(points, point -> square(point.measured() - point.predicted())),
        rootMean(points, point -> point.predicted() * (1 - point.predicted()) / point.reads()),
        seen.reads().stream().filter(read -> read.versionsBehind() > 0).count(),
        seen.reads().size(),
        seen.errorsAtMillis().size(),
        seen.firstError(),
        seen.rowsLeftOut());
  }

  private List<Point> points(Prediction prediction) {
    List<Point> points = new ArrayList<>();
    int count = Math.min(POINTS, reads.size());
    for (int i = 0; i < count; i++) {
      List<Seen.Read> bin = reads.subList(i * reads.size() / count, (i + 1) * reads.size() / count);
      List<Estimate> predicted =
          bin.stream().map(read -> prediction.freshAfter(read.afterMicros())).toList();
      points.add(
          new Point(
              mean(bin, Seen.Read::afterMicros) / 1e3,
              bin.size(),
              mean(bin, read -> read.versionsBehind() <= 0 ? 1 : 0),
              mean(predicted, Estimate::value),
              mean(predicted, Estimate::low),
              mean(predicted, Estimate::high)));
    }
    return points;
  }

  private List<Versions> versions(List<Seen.Read> soonest) {
    VersionPredictor versions = predictor.versions(setting);
    double after = mean(soonest, Seen.Read::afterMicros);
    List<Versions> all = new ArrayList<>();
    for (int k = 1; k <= Episodes.VERSIONS; k++) {
      int within = k;
      Estimate predicted = versions.withinVersions(k, seen.meanIntervalMicros()).after(after);
      all.add(
          new Versions(
              k,
              mean(soonest, read -> read.versionsBehind() < within ? 1 : 0),
              predicted.value(),
              predicted.low(),
              predicted.high()));
    }
    return all;
  }

  static Latency latency(DoubleStream micros) {
    double[] sorted = micros.sorted().toArray();
    return new Latency(
        Arrays.stream(sorted).average().orElse(0) / 1e3,
        at(sorted, 0.5) / 1e3,
        at(sorted, 0.99) / 1e3,
        sorted.length);
  }

  private static double at(double[] sorted, double quantile) {
    return sorted.length == 0 ? 0 : sorted[(int) (quantile * (sorted.length - 1))];
  }

  /** The mean by a hundred quantiles. */
  private static LatencyPrediction predicted(DoubleFunction<Estimate> quantile) {
    double mean = 0;
    for (int i = 0; i < 100; i++) {
      mean += quantile.apply((i + 0.5) / 100).value() / 100;
    }
    return new LatencyPrediction(
        mean / 1e3, millis(quantile.apply(0.5)), millis(quantile.apply(0.99)));
  }

  private static Quantile millis(Estimate micros) {
    return new Quantile(micros.value() / 1e3, micros.low() / 1e3, micros.high() / 1e3);
  }

  private static <T> double mean(List<T> of, ToDoubleFunction<T> number) {
    return of.stream().mapToDouble(number).average().orElse(0);
  }

  static <T> double rootMean(List<T> of, ToDoubleFunction<T> number) {
    return Math.sqrt(mean(of, number));
  }

  private static double square(double number) {
    return number * number;
  }
}
