// SPDX-License-Identifier: Apache-2.0
package io.isolde.cli;

import io.isolde.staleness.Estimate;
import io.isolde.staleness.Prediction;
import io.isolde.staleness.Predictor;
import io.isolde.staleness.Setting;
import io.isolde.staleness.VersionPredictor;
import java.util.Locale;
import java.util.Map;

/** What {@code isolde staleness} says of each pair of levels: a line. */
final class PredictionTable {
  private static final double MICROS = 1e3;
  private static final double PERCENT = 100;
  private static final String COLUMNS = "%-13s %-13s %-27s %-17s %-13s %-26s %-15s %s";

  private final Predictor predictor;
  private final Map<Setting, Prediction> predictions;
  private final double afterMillis;
  private final double probability;

  /**
   * Makes a table.
   *
   * @param predictor that made the predictions
   * @param afterMillis from a write's answer to a read, and from one read to the next
   * @param probability of reads to be fresh, after a time that is shown
   */
  PredictionTable(
      Predictor predictor,
      Map<Setting, Prediction> predictions,
      double afterMillis,
      double probability) {
    this.predictor = predictor;
    this.predictions = predictions;
    this.afterMillis = afterMillis;
    this.probability = probability;
  }

  String heading() {
    return format(
        COLUMNS,
        "read at",
        "write at",
        format("fresh after %.4g ms, %%", afterMillis),
        "within 2, 3, %",
        "monotonic, %",
        format("%.5g%% fresh after, ms", PERCENT * probability),
        "read p50, p99",
        "write p50, p99, ms");
  }

  String line(Setting setting) {
    Prediction prediction = predictions.get(setting);
    boolean isStrong = prediction.isStrong();
    VersionPredictor versions = predictor.versions(setting);
    double afterMicros = afterMillis * MICROS;
    return format(
        COLUMNS,
        setting.read(),
        setting.write(),
        isStrong ? "100 (always)" : interval(prediction.freshAfter(afterMicros), PERCENT, "%.3f"),
        isStrong ? "100" : within(versions, afterMicros),
        monotonic(versions, afterMicros),
        isStrong ? "0" : interval(prediction.visibilityMicros(probability), 1 / MICROS, "%.2f"),
        pair("%.2f", prediction.readMicros(0.5), prediction.readMicros(0.99), 1 / MICROS),
        pair("%.2f", prediction.writeMicros(0.5), prediction.writeMicros(0.99), 1 / MICROS));
  }

  /** In the worst case: all versions written at once. */
  private static String within(VersionPredictor versions, double afterMicros) {
    return pair(
        "%.3f",
        versions.withinVersions(2, afterMicros, 0),
        versions.withinVersions(3, afterMicros, 0),
        PERCENT);
  }

  private static String monotonic(VersionPredictor versions, double afterMicros) {
    double assumed = VersionPredictor.ASSUMED_WRITE_INTERVAL_MICROS;
    return format("%.3f", PERCENT * versions.monotonicReads(assumed, afterMicros).value());
  }

  private static String pair(String pattern, Estimate first, Estimate second, double unit) {
    return format(pattern + ", " + pattern, unit * first.value(), unit * second.value());
  }

  private static String interval(Estimate estimate, double unit, String pattern) {
    return format(
        pattern + " [" + pattern + ", " + pattern + "]",
        unit * estimate.value(),
        unit * estimate.low(),
        unit * estimate.high());
  }

  private static String format(String pattern, Object... arguments) {
    return String.format(Locale.ROOT, pattern, arguments);
  }
}
