// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.snapshots;

import io.isolde.bench.kit.BenchOptions;
import io.isolde.bench.kit.Medians;
import io.isolde.bench.kit.Pause;
import io.isolde.bench.kit.Repeated;
import io.isolde.bench.kit.Run;
import io.isolde.bench.nodes.TemporaryNode;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/** How long it takes to take a snapshot, and what writers notice of it. */
final class SnapshotCreationCost {
  private static final List<Integer> SSTABLES = List.of(1, 8, 16, 32, 64);
  private static final List<Integer> SIZES = List.of(1, 4, 16);
  private static final int ROWS_OF_A_SMALL_SSTABLE = 100;
  private static final int REPEATS = 5;
  private static final int PAUSE_MILLIS = 500;

  private final TemporaryNode node;
  private final Run run;
  private final BenchOptions options;
  private final Medians medians = new Medians();

  SnapshotCreationCost(TemporaryNode node, Run run) {
    this.node = node;
    this.run = run;
    this.options = run.options();
  }

  Map<String, Double> metrics() {
    run.say("Taking snapshots");
    for (int sstables : SSTABLES) {
      SnapshotTable table = create("of" + sstables, ROWS_OF_A_SMALL_SSTABLE);
      for (int i = 1; i < sstables; i++) {
        table.update(ROWS_OF_A_SMALL_SSTABLE);
      }
      measure("creation_of_%d_sstables_ms".formatted(sstables), table);
    }
    for (int size : SIZES) {
      int rows = options.rows() / 16 * size;
      SnapshotTable table = create("size" + size, rows);
      measure("creation_of_%d_kb_ms".formatted(rows * options.rowBytes() / 1000), table);
    }
    int taken = writers();
    Map<String, Double> metrics = new LinkedHashMap<>(medians.toMap());
    metrics.put("snapshots_taken_meanwhile", (double) taken);
    return metrics;
  }

  private SnapshotTable create(String name, int rows) {
    return SnapshotTable.create(node, name, options.withRows(rows, options.rowBytes()), false);
  }

  private void measure(String metric, SnapshotTable table) {
    for (int i = 0; i <= REPEATS; i++) {
      double millis = table.snapshot("c");
      table.drop("c");
      if (i > 0) { // the first one is for the compiler
        medians.add(metric, millis);
      }
    }
    run.say("  %-32s %.0f ms".formatted(metric, medians.spread(metric).median()));
  }

  /**
   * Rounds of updates: alone, while the table is flushed one time after another, and with snapshots
   * that are taken one after another, which start with a flush.
   *
   * @return how many were taken
   */
  private int writers() {
    SnapshotTable table = SnapshotTable.create(node, "written", options, true);
    var unused = table.updates().run(options.inFlight(), options.measured());
    AtomicInteger taken = new AtomicInteger();
    for (int round = 0; round < options.rounds(); round++) {
      double quiet = p99(table);
      double flushing = p99While(table, table::flush);
      double taking = p99While(table, () -> take(table, taken));
      medians.add("update_p99_quiet_ms", quiet);
      medians.add("update_p99_while_flushing_ms", flushing);
      medians.add("update_p99_while_taking_ms", taking);
      medians.add("update_p99_while_taking_vs_quiet", taking / quiet);
      medians.add("update_p99_while_taking_vs_flushing", taking / flushing);
    }
    return taken.get();
  }

  private static void take(SnapshotTable table, AtomicInteger taken) {
    var unused = table.snapshot("w");
    table.drop("w");
    taken.incrementAndGet();
  }

  private double p99(SnapshotTable table) {
    return table.updates().run(options.inFlight(), options.measured()).p99Millis();
  }

  private double p99While(SnapshotTable table, Runnable work) {
    Runnable step =
        () -> {
          work.run();
          Pause.millis(PAUSE_MILLIS);
        };
    try (Repeated working = new Repeated("beside-updates", step)) {
      return p99(table);
    }
  }
}
