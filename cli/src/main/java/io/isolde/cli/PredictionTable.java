// SPDX-License-Identifier: Apache-2.0
package io.isolde.cli;

import io.isolde.staleness.Estimate;
import io.isolde.staleness.Prediction;
import io.isolde.staleness.Predictor;
import io.isolde.staleness.Setting;
import io.isolde.staleness.VersionPredictor;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * What {@code isolde staleness} says of pairs of levels: a line of probabilities for each, and one
 * of times.
 */
final class PredictionTable {
  private static final double MICROS = 1e3;
  private static final double PERCENT = 100;
  private static final String PROBABILITIES = "%-12s %-12s %-25s %-25s %-25s %s";
  private static final String TIMES = "%-12s %-12s %-24s %-21s %-21s %-21s %s";

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

  List<String> lines(Collection<Setting> settings) {
    List<String> lines = new ArrayList<>();
    lines.add(format("Probabilities, %%, %.4g ms after a write or a read", afterMillis));
    lines.add(
        format(PROBABILITIES, "read at", "write at", "fresh", "within 2", "within 3", "monotonic"));
    settings.forEach(setting -> lines.add(probabilities(setting)));
    lines.add("");
    lines.add("Times, ms");
    lines.add(
        format(
            TIMES,
            "read at",
            "write at",
            format("%.5g%% fresh after", PERCENT * probability),
            "read p50",
            "read p99",
            "write p50",
            "write p99"));
    settings.forEach(setting -> lines.add(times(setting)));
    return lines;
  }

  private String probabilities(Setting setting) {
    double afterMicros = afterMillis * MICROS;
    VersionPredictor versions = predictor.versions(setting);
    return format(
        PROBABILITIES,
        setting.read(),
        setting.write(),
        percent(predictions.get(setting).freshAfter(afterMicros)),
        // In the worst case: all versions written at once.
        percent(versions.withinVersions(2, 0).after(afterMicros)),
        percent(versions.withinVersions(3, 0).after(afterMicros)),
        percent(
            versions.monotonicReads(VersionPredictor.ASSUMED_WRITE_INTERVAL_MICROS, afterMicros)));
  }

  private static String percent(Estimate probability) {
    return probability.equals(Estimate.exact(1)) ? "100" : EstimateText.percent(probability);
  }

  private String times(Setting setting) {
    Prediction prediction = predictions.get(setting);
    return format(
        TIMES,
        setting.read(),
        setting.write(),
        prediction.isStrong() ? "0 (always)" : millis(prediction.visibilityMicros(probability)),
        millis(prediction.readMicros(0.5)),
        millis(prediction.readMicros(0.99)),
        millis(prediction.writeMicros(0.5)),
        millis(prediction.writeMicros(0.99)));
  }

  private static String millis(Estimate micros) {
    return EstimateText.millis(micros.times(1 / MICROS));
  }

  private static String format(String pattern, Object... arguments) {
    return String.format(Locale.ROOT, pattern, arguments);
  }
}
