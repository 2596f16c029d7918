// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.oracle;

import io.isolde.bench.kit.Case;
import io.isolde.bench.kit.Measurement;
import io.isolde.bench.kit.Processes;
import io.isolde.bench.kit.Ratio;
import io.isolde.bench.kit.Report;
import io.isolde.bench.kit.Rounds;
import io.isolde.bench.kit.Run;
import io.isolde.bench.kit.Sample;
import io.isolde.bench.kit.Spread;
import io.isolde.cluster.ToolException;
import io.isolde.oracle.CommitRequest;
import io.isolde.oracle.Decision;
import io.isolde.oracle.IsolationLevel;
import io.isolde.oracle.OracleConfig;
import io.isolde.oracle.PendingCommit;
import io.isolde.oracle.StatusOracle;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.UUID;
import org.HdrHistogram.Histogram;

/**
 * The oracle's core alone: one thread, no network, no disk. Transactions read ten rows and write
 * ten others; each starts at the newest snapshot and is applied at once, so none is aborted.
 *
 * <p>Rows are drawn anew between the slices that are timed. So no row comes again sooner than by
 * chance, and drawing them is not timed.
 */
public final class OracleCore {
  private static final long[] NOTHING_READ = {};
  private static final int SLICE = 10_000;
  private static final int ROWS_READ = 10;
  private static final int ROWS_WRITTEN = 10;

  /**
   * So short that a percentile of them is seen in a round, so long that the clock costs nothing.
   */
  private static final int TIMED_TOGETHER = 50;

  /** A level, on the oracle of one choice of rows; both levels share it. */
  private record Variant(String name, IsolationLevel level, KeyChooser rows, StatusOracle oracle) {}

  private final long[][] reads = new long[SLICE][ROWS_READ];
  private final long[][] writes = new long[SLICE][ROWS_WRITTEN];
  private final UUID[] ids = new UUID[SLICE];
  private long transactions;
  private long nowMicros;

  private OracleCore() {}

  /** Runs it. */
  public static Report run(Run run) {
    run.say("The oracle's core, one thread, 10 rows read and 10 written");
    List<Variant> variants = new ArrayList<>();
    variants.addAll(variantsOf(KeyChooser.uniform(new SplittableRandom(1)), ""));
    variants.addAll(variantsOf(KeyChooser.zipfian(new SplittableRandom(1)), "_zipfian"));
    OracleCore core = new OracleCore();
    List<Case> cases =
        variants.stream()
            .map(each -> new Case(each.name, (one, time) -> core.measure(each, time)))
            .toList();
    Rounds rounds = new Rounds(run, Processes.NONE);
    rounds.warmUpAlternating(cases);
    Map<String, List<Sample>> samples = rounds.measure(round -> Rounds.inOrderOf(round, cases));
    List<Ratio> ratios =
        List.of(
            new Ratio("wsi_vs_si", "core_wsi", "core_si"),
            new Ratio("wsi_vs_si_zipfian", "core_wsi_zipfian", "core_si_zipfian"));
    return run.report(samples, ratios).with(metrics(samples));
  }

  private static List<Variant> variantsOf(KeyChooser rows, String suffix) {
    StatusOracle oracle = new StatusOracle(OracleConfig.defaults());
    oracle.reserve(Long.MAX_VALUE);
    return List.of(
        new Variant("core_si" + suffix, IsolationLevel.SNAPSHOT, rows, oracle),
        new Variant("core_wsi" + suffix, IsolationLevel.SERIALIZABLE, rows, oracle));
  }

  private Measurement measure(Variant variant, Duration time) {
    Histogram nanos = new Histogram(3);
    long usedNanos = 0;
    long committed = 0;
    while (usedNanos < time.toNanos()) {
      draw(variant.rows);
      usedNanos += commitSlice(variant, nanos);
      committed += SLICE;
    }
    return new Measurement(
        committed,
        committed * 1e9 / usedNanos,
        usedNanos / 1e6 / committed,
        millis(nanos, 50),
        millis(nanos, 99),
        0,
        Optional.empty());
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
        new CommitRequest(
            ids[i],
            level,
            oracle.stable(),
            level == IsolationLevel.SERIALIZABLE ? reads[i] : NOTHING_READ,
            writes[i],
            writes[i]);
    if (oracle.commit(request, PendingCommit.NO_SESSION, 0, nowMicros, false)
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
              Sample.median(rounds, sample -> 100 * sample.cpu().elsewhere()));
        });
    return metrics;
  }
}
