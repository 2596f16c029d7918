// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench;

import io.isolde.cluster.NodeTool;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/**
 * Updates and reads of the past for many minutes, with a look at the heap after each: what is kept
 * of the past must not grow without end.
 */
final class Soak {
  private final Workload updates;
  private final Workload reads;
  private final NodeTool tool;
  private final PrintWriter out;

  Soak(Workload updates, Workload reads, NodeTool tool, PrintWriter out) {
    this.updates = updates;
    this.reads = reads;
    this.tool = tool;
    this.out = out;
  }

  /** Returns the metrics. */
  Map<String, Double> run(BenchOptions options) {
    List<Double> heap = new ArrayList<>();
    for (int minute = 1; minute <= options.soakMinutes(); minute++) {
      int half = options.inFlight() / 2;
      CompletableFuture<Measurement> reading =
          CompletableFuture.supplyAsync(() -> ClosedLoop.run(reads, half, Duration.ofMinutes(1)));
      Measurement updated =
          ClosedLoop.run(updates, options.inFlight() - half, Duration.ofMinutes(1));
      Measurement read = reading.join();
      heap.add(heapMegabytes());
      out.printf(
          "  minute %d of %d  updates %.0f/s, %d errors  reads of the past %.0f/s, %d errors  heap %.0f MB%n",
          minute,
          options.soakMinutes(),
          updated.operationsPerSecond(),
          updated.errors(),
          read.operationsPerSecond(),
          read.errors(),
          heap.get(heap.size() - 1));
      read.firstError().ifPresent(error -> out.printf("    %s%n", error));
      out.flush();
    }
    return metrics(heap);
  }

  /**
   * Without what Cassandra holds by itself: memtables, which grow and fall with every flush, and
   * the key cache, which fills for the first minutes and then stays (a class histogram of an
   * earlier run showed it to be what grew).
   */
  private double heapMegabytes() {
    tool.flush(RowTable.KEYSPACE);
    tool.invalidateKeyCache();
    tool.collectHeapGarbage();
    return tool.usedHeapBytes() / 1048576.0;
  }

  static Map<String, Double> metrics(List<Double> heap) {
    double first = heap.get(0);
    double last = heap.get(heap.size() - 1);
    Map<String, Double> metrics = new LinkedHashMap<>();
    metrics.put("heap_mb_first", first);
    metrics.put("heap_mb_last", last);
    metrics.put("heap_mb_max", Collections.max(heap));
    metrics.put("heap_growth_percent", (last - first) / first * 100);
    return metrics;
  }
}
