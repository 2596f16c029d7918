// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench;

import com.datastax.oss.driver.api.core.CqlSession;
import io.isolde.cluster.NodeTool;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/** How long it takes to take a snapshot, and what writers notice of it. */
final class SnapshotCreationCost {
  private static final List<Integer> SSTABLES = List.of(1, 8, 16, 32, 64);
  private static final List<Integer> SIZES = List.of(1, 4, 16);
  private static final int ROWS_OF_A_SMALL_SSTABLE = 100;
  private static final int REPEATS = 5;
  private static final int PAUSE_MILLIS = 500;

  private final CqlSession session;
  private final NodeTool tool;
  private final BenchOptions options;
  private final PrintWriter out;
  private final Map<String, Double> metrics = new LinkedHashMap<>();

  SnapshotCreationCost(CqlSession session, NodeTool tool, BenchOptions options, PrintWriter out) {
    this.session = session;
    this.tool = tool;
    this.options = options;
    this.out = out;
  }

  Map<String, Double> run() {
    out.println("Taking snapshots");
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
    writers();
    return metrics;
  }

  private SnapshotTable create(String name, int rows) {
    return SnapshotTable.create(session, tool, name, rows, options.rowBytes(), false);
  }

  private void measure(String metric, SnapshotTable table) {
    List<Double> millis = new ArrayList<>();
    for (int i = 0; i <= REPEATS; i++) {
      double one = table.snapshot("c");
      table.drop("c");
      if (i > 0) { // the first one is for the compiler
        millis.add(one);
      }
    }
    metrics.put(metric, Spread.of(millis).median());
    out.printf("  %-32s %.0f ms%n", metric, metrics.get(metric));
    out.flush();
  }

  /**
   * Rounds of updates: alone, while the table is flushed one time after another, and with snapshots
   * that are taken one after another, which begin with a flush.
   */
  private void writers() {
    SnapshotTable table =
        SnapshotTable.create(session, tool, "written", options.rows(), options.rowBytes(), true);
    var unused = ClosedLoop.run(table.updates(), options.inFlight(), options.measured());
    Map<String, List<Double>> p99 = new LinkedHashMap<>();
    List<Double> againstQuiet = new ArrayList<>();
    List<Double> againstFlushes = new ArrayList<>();
    AtomicInteger taken = new AtomicInteger();
    for (int round = 0; round < options.rounds(); round++) {
      double quiet = p99(table);
      double flushing = p99While(table, table::flush);
      double taking = p99While(table, () -> take(table, taken));
      p99.computeIfAbsent("update_p99_quiet_ms", name -> new ArrayList<>()).add(quiet);
      p99.computeIfAbsent("update_p99_while_flushing_ms", name -> new ArrayList<>()).add(flushing);
      p99.computeIfAbsent("update_p99_while_taking_ms", name -> new ArrayList<>()).add(taking);
      againstQuiet.add(taking / quiet);
      againstFlushes.add(taking / flushing);
    }
    p99.forEach((name, millis) -> metrics.put(name, Spread.of(millis).median()));
    metrics.put("update_p99_while_taking_vs_quiet", Spread.of(againstQuiet).median());
    metrics.put("update_p99_while_taking_vs_flushing", Spread.of(againstFlushes).median());
    metrics.put("snapshots_taken_meanwhile", (double) taken.get());
  }

  private static void take(SnapshotTable table, AtomicInteger taken) {
    var unused = table.snapshot("w");
    table.drop("w");
    taken.incrementAndGet();
  }

  private double p99(SnapshotTable table) {
    return ClosedLoop.run(table.updates(), options.inFlight(), options.measured()).p99Millis();
  }

  private double p99While(SnapshotTable table, Runnable work) {
    AtomicBoolean isOver = new AtomicBoolean();
    CompletableFuture<Void> working =
        CompletableFuture.runAsync(
            () -> {
              while (!isOver.get()) {
                work.run();
                Pause.millis(PAUSE_MILLIS);
              }
            });
    try {
      return p99(table);
    } finally {
      isOver.set(true);
      working.join();
    }
  }
}
