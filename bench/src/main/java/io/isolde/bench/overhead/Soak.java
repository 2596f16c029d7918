// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.overhead;

import io.isolde.bench.kit.Measurement;
import io.isolde.bench.kit.Run;
import io.isolde.bench.kit.Workload;
import io.isolde.bench.nodes.RowTable;
import io.isolde.cluster.NodeTool;
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
  private static final Duration ONE_MINUTE = Duration.ofMinutes(1);

  private final Workload updates;
  private final Workload reads;
  private final NodeTool tool;

  Soak(Workload updates, Workload reads, NodeTool tool) {
    this.updates = updates;
    this.reads = reads;
    this.tool = tool;
  }

  /** Returns the metrics. */
  Map<String, Double> run(Run run) {
    int minutes = run.options().soakMinutes();
    int half = run.options().inFlight() / 2;
    List<Double> heap = new ArrayList<>();
    for (int minute = 1; minute <= minutes; minute++) {
      CompletableFuture<Measurement> reading =
          CompletableFuture.supplyAsync(() -> reads.run(half, ONE_MINUTE));
      Measurement updated = updates.run(run.options().inFlight() - half, ONE_MINUTE);
      Measurement read = reading.join();
      heap.add(heapMegabytes());
      run.say(
          "  minute %d of %d  updates %.0f/s, %d errors  reads of the past %.0f/s, %d errors  heap %.0f MB"
              .formatted(
                  minute,
                  minutes,
                  updated.operationsPerSecond(),
                  updated.errors(),
                  read.operationsPerSecond(),
                  read.errors(),
                  heap.get(heap.size() - 1)));
      read.firstError().ifPresent(error -> run.say("    " + error));
    }
    return metrics(heap);
  }

  /**
   * Without what Cassandra holds by itself: memtables, which grow and fall with every flush, and
   * the key cache. That cache fills for the first minutes and then stays; a class histogram of an
   * earlier run showed that it was the part that grew.
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
