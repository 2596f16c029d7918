// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench;

import io.isolde.cluster.ToolException;
import io.isolde.oracle.CommitRequest;
import io.isolde.oracle.Decision;
import io.isolde.oracle.IsolationLevel;
import io.isolde.oracle.OracleConfig;
import io.isolde.oracle.PendingCommit;
import io.isolde.oracle.StatusOracle;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/**
 * The oracle's core alone: one thread, no network, no disk. Transactions read ten rows and write
 * ten others; each starts at the newest snapshot and is applied at once, so none is aborted.
 *
 * <p>Rows are drawn anew between the slices that are timed, so that no row comes again sooner than
 * by chance, and drawing them is not timed.
 */
final class OracleCore {
  private static final int SLICE = 10_000;
  private static final int ROWS_READ = 10;
  private static final int ROWS_WRITTEN = 10;

  /**
   * So short that a percentile of them is seen in a round, so long that the clock costs nothing.
   */
  private static final int TIMED_TOGETHER = 50;

  /** A level, on the oracle of one choice of rows; both levels share it. */
  private record Variant(String name, IsolationLevel level, KeyChooser rows, StatusOracle oracle) {}

  private final String bench;
  private final BenchOptions options;
  private final PrintWriter out;
  private final CpuClock cpu = CpuClock.withoutNode();
  private final long[][] reads = new long[SLICE][ROWS_READ];
  private final long[][] writes = new long[SLICE][ROWS_WRITTEN];
  private final UUID[] ids = new UUID[SLICE];
  private long transactions;
  private long nowMicros;

  OracleCore(String bench, BenchOptions options, PrintWriter out) {
    this.bench = bench;
    this.options = options;
    this.out = out;
  }

  Report run() {
    out.println("The oracle's core, one thread, 10 rows read and 10 written");
    List<Variant> variants = new ArrayList<>();
    variants.addAll(variantsOf(KeyChooser.uniform(), ""));
    variants.addAll(variantsOf(KeyChooser.zipfian(), "_zipfian"));
    warmUp(variants);
    Map<String, List<Sample>> samples = new LinkedHashMap<>();
    variants.forEach(each -> samples.put(each.name, new ArrayList<>()));
    for (int round = 0; round < options.rounds(); round++) {
      for (Variant each : Rounds.inOrderOf(round, variants)) {
        Sample sample = measure(each, TimeUnit.SECONDS.toNanos(options.seconds()));
        samples.get(each.name).add(sample);
        show(round, each.name, sample);
      }
    }
    List<Ratio> ratios =
        List.of(
            new Ratio("wsi_vs_si", "core_wsi", "core_si"),
            new Ratio("wsi_vs_si_zipfian", "core_wsi_zipfian", "core_si_zipfian"));
    return Report.of(bench, MachineDescription.ofThisMachine(), options, samples, ratios)
        .with(metrics(samples));
  }

  private static List<Variant> variantsOf(KeyChooser rows, String suffix) {
    StatusOracle oracle = new StatusOracle(OracleConfig.defaults());
    oracle.reserve(Long.MAX_VALUE);
    return List.of(
        new Variant("core_si" + suffix, IsolationLevel.SNAPSHOT, rows, oracle),
        new Variant("core_wsi" + suffix, IsolationLevel.SERIALIZABLE, rows, oracle));
  }

  private void warmUp(List<Variant> variants) {
    out.printf("  warming up for about %d s%n", options.warmupSeconds());
    out.flush();
    for (int second = 0; second < options.warmupSeconds(); second++) {
      measure(variants.get(second % variants.size()), TimeUnit.SECONDS.toNanos(1));
    }
  }

  private Sample measure(Variant variant, long wantedNanos) {
    Histogram nanos = new Histogram(3);
    CpuClock.Running clock = cpu.start();
    long usedNanos = 0;
    long committed = 0;
    while (usedNanos < wantedNanos) {
      draw(variant.rows);
      usedNanos += commitSlice(variant, nanos);
      committed += SLICE;
    }
    Measurement measurement =
        new Measurement(
            committed,
            committed * 1e9 / usedNanos,
            usedNanos / 1e6 / committed,
            millis(nanos, 50),
            millis(nanos, 99),
            0,
            Optional.empty());
    return new Sample(measurement, clock.stop());
  }

  private static double millis(Histogram nanosTogether, double percentile) {
    return nanosTogether.getValueAtPercentile(percentile) / 1e6 / TIMED_TOGETHER;
  }

  private void draw(KeyChooser rows) {
    for (int i = 0; i < SLICE; i++) {
      rows.fill(reads[i]);
      rows.fill(writes[i]);
      ids[i] = new UUID(KeyChooser.hash(transactions), KeyChooser.hash(~transactions));
      transactions++;
    }
  }

  private long commitSlice(Variant variant, Histogram nanos) {
    long began = System.nanoTime();
    long last = began;
    for (int i = 0; i < SLICE; i++) {
      commit(variant.oracle, variant.level, i);
      if ((i + 1) % TIMED_TOGETHER == 0) {
        long now = System.nanoTime();
        nanos.recordValue(now - last);
        last = now;
      }
    }
    return last - began;
  }

  private void commit(StatusOracle oracle, IsolationLevel level, int i) {
    nowMicros += 2;
    CommitRequest request =
        new CommitRequest(ids[i], level, oracle.stable(), reads[i], writes[i], writes[i]);
    if (oracle.commit(request, PendingCommit.NO_SESSION, 0, nowMicros)
        instanceof Decision.Committed committed) {
      oracle.applied(committed.commitTimestamp());
    } else {
      throw new ToolException("A transaction was not committed, though nothing was concurrent.");
    }
  }

  private static Map<String, Double> metrics(Map<String, List<Sample>> samples) {
    Map<String, Double> metrics = new LinkedHashMap<>();
    samples.forEach(
        (name, rounds) -> {
          Spread perSecond =
              Spread.of(rounds.stream().map(s -> s.measurement().operationsPerSecond()).toList());
          metrics.put(name + "_per_s", perSecond.median());
          metrics.put(name + "_per_s_min", perSecond.min());
          metrics.put(name + "_per_s_max", perSecond.max());
          metrics.put(
              name + "_cpu_elsewhere_percent",
              Spread.of(rounds.stream().map(s -> 100 * s.cpu().elsewhere()).toList()).median());
        });
    return metrics;
  }

  private void show(int round, String name, Sample sample) {
    out.printf(
        "  round %d of %d  %-28s %8.0f/s%n",
        round + 1, options.rounds(), name, sample.measurement().operationsPerSecond());
    out.flush();
  }
}
