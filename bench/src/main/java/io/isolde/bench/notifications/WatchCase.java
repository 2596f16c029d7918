// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.notifications;

import io.isolde.bench.kit.Measurement;
import io.isolde.bench.kit.Medians;
import java.time.Duration;
import java.util.Map;
import java.util.function.Function;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;

/** Some watchers of a system, and what was seen of them in all rounds. */
final class WatchCase {
  private static final long MAX_MICROS = 300_000_000;
  private static final int SIGNIFICANT_DIGITS = 3;

  private final String name;
  private final int watchers;
  private final int nodes;
  private final Writer writer;
  private final Function<Arrivals, Watcher> kind;
  private final Medians metrics = new Medians();
  private final Histogram acknowledgedMicros =
      new ConcurrentHistogram(MAX_MICROS, SIGNIFICANT_DIGITS);
  private DeliveryCheck.Verdict verdict = DeliveryCheck.Verdict.NOTHING;

  /** Null while nobody watches. */
  private Population population;

  /**
   * A case.
   *
   * @param nodes over which the watchers may be spread
   * @param kind makes a watcher
   */
  WatchCase(String name, int watchers, int nodes, Writer writer, Function<Arrivals, Watcher> kind) {
    this.name = name;
    this.watchers = watchers;
    this.nodes = nodes;
    this.writer = writer;
    this.kind = kind;
  }

  String name() {
    return name;
  }

  /** Connects the watchers, unless they are. */
  void open() {
    if (population == null) {
      population = Population.open(watchers, writer, kind, acknowledgedMicros);
    }
  }

  /** Disconnects them, and checks what they got. */
  void close() {
    if (population != null) {
      verdict = verdict.and(population.close());
      population = null;
    }
  }

  Population population() {
    return population;
  }

  /** Changes what they watch, so that code is compiled. */
  void warmUp(Duration duration) {
    var unused = population.run(duration);
  }

  /** As that, and keeps the figures. */
  Measurement measure(Duration duration) {
    acknowledgedMicros.reset();
    Measurement seen = population.run(duration);
    Histogram intervals = population.intervals();
    metrics.add(name + "_interval_mean_ms", intervals.getMean() / 1e3);
    metrics.add(name + "_interval_p50_ms", intervals.getValueAtPercentile(50) / 1e3);
    metrics.add(name + "_interval_p99_ms", intervals.getValueAtPercentile(99) / 1e3);
    metrics.add(name + "_acknowledged_mean_ms", acknowledgedMicros.getMean() / 1e3);
    metrics.add(name + "_most_per_mean", Spreads.mostPerMean(population.spread(), nodes));
    return seen;
  }

  Map<String, Double> metrics() {
    return metrics.toMap();
  }

  /** Of all populations that are closed. */
  DeliveryCheck.Verdict verdict() {
    return verdict;
  }
}
