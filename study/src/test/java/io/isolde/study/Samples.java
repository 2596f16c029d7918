// SPDX-License-Identifier: Apache-2.0
package io.isolde.study;

import io.isolde.study.Results.Latency;
import io.isolde.study.Results.LatencyPrediction;
import io.isolde.study.Results.Point;
import io.isolde.study.Results.Quantile;
import io.isolde.study.Results.SettingResult;
import io.isolde.study.Results.Versions;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** A study as it could have been. */
final class Samples {
  private Samples() {}

  static Results study() {
    List<SettingResult> settings =
        List.of(
            setting("R1W3", true, 52, 337),
            setting("R2W2", true, 87, 166),
            setting("R3W1", true, 115, 63),
            setting("R1W2", false, 51, 150),
            setting("R2W1", false, 92, 60),
            setting("R1W1", false, 54, 56));
    return new Results(
        Map.of("nodes", "8"),
        settings,
        new Results.Summary(0.0076, 0.0053, 5.4, 2.2, 2.7, 1.7, 0),
        churn());
  }

  /** With medians that are nine tenths of the means. */
  static SettingResult setting(String name, boolean isStrong, double readMs, double writeMs) {
    return new SettingResult(
        name,
        "ONE",
        "ONE",
        isStrong,
        latency(readMs),
        latency(writeMs),
        predicted(readMs),
        predicted(writeMs),
        latency(1),
        points(readMs / 150),
        versions(),
        20.7,
        0.005,
        0.005,
        12,
        10_000,
        3,
        "none",
        7);
  }

  private static Latency latency(double mean) {
    return new Latency(mean, 0.9 * mean, 5 * mean, 10_000);
  }

  private static LatencyPrediction predicted(double mean) {
    return new LatencyPrediction(mean, quantile(0.9 * mean), quantile(5 * mean));
  }

  private static Quantile quantile(double millis) {
    return new Quantile(millis, 0.95 * millis, 1.1 * millis);
  }

  private static List<Point> points(double stale) {
    return IntStream.range(0, 12)
        .mapToObj(
            i -> {
              double fresh = 1 - stale * Math.exp(-i / 3.0);
              double error = 0.015 * Math.sin(2.0 * i + 9 * stale);
              return new Point(
                  7 + 75.0 * i, 4_200, fresh - error, fresh, fresh - 0.01, fresh + 0.01);
            })
        .toList();
  }

  private static List<Versions> versions() {
    return IntStream.rangeClosed(1, 4)
        .mapToObj(
            k ->
                new Versions(
                    k,
                    1 - 0.5 / (k * k),
                    1 - 0.48 / (k * k),
                    1 - 0.55 / (k * k),
                    1 - 0.42 / (k * k)))
        .toList();
  }

  /**
   * As long as a real one: what was done lasts from nothing to minutes, or begins at once after.
   */
  private static Churn.Timeline churn() {
    List<Churn.Event> events =
        List.of(
            new Churn.Event(45, "node8 is paused"),
            new Churn.Event(45.1, "node8 is paused: done"),
            new Churn.Event(90, "node8 goes on"),
            new Churn.Event(90, "node8 goes on: done"),
            new Churn.Event(135, "node7 is killed"),
            new Churn.Event(135.3, "node7 is killed: done"),
            new Churn.Event(180, "node7 is started"),
            new Churn.Event(209, "node7 is started: done"),
            new Churn.Event(210, "node9 joins"),
            new Churn.Event(257, "node9 joins: done"));
    List<Churn.Second> seconds =
        IntStream.range(0, 300)
            .mapToObj(
                i ->
                    new Churn.Second(
                        i,
                        200,
                        50 + i % 17,
                        i > 70 && i < 75 ? 2_500 : 50 + i % 9,
                        58,
                        i > 44 && i < 80 ? 30 + i % 23 : 0))
            .toList();
    return new Churn.Timeline(events, seconds, 5);
  }
}
