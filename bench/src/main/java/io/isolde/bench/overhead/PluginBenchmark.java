// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.overhead;

import io.isolde.bench.kit.BenchOptions;
import io.isolde.bench.kit.Benchmark;
import io.isolde.bench.kit.Cases;
import io.isolde.bench.kit.Report;
import io.isolde.bench.kit.Run;
import io.isolde.bench.kit.Workload;
import io.isolde.bench.nodes.RowTable;
import io.isolde.bench.nodes.StockAndIsolde;
import io.isolde.bench.nodes.TemporaryNode;
import io.isolde.cluster.NodeTool;
import java.util.List;

/**
 * What the plugin costs tables that have nothing to do with it: plain requests to nodes with it
 * against the same to nodes of stock Cassandra beside them, alternating. Other benchmarks compare
 * with plain tables on nodes that have the plugin; this one says what that is worth.
 *
 * <p>First all rounds of updates, then, from disk and calm, those of reads: else what the updates
 * of one cluster leave to flush and compact would slow the reads of the other.
 */
public final class PluginBenchmark {
  private static final int MAX_HEAP_MEGABYTES = 1024;

  private PluginBenchmark() {}

  /** The benchmark on so many nodes, each with all rows. */
  public static Benchmark.Part onNodes(int nodes) {
    return run -> run(nodes, run);
  }

  private static Report run(int nodes, Run run) {
    BenchOptions options = run.options().withHeapUpTo(MAX_HEAP_MEGABYTES);
    try (StockAndIsolde clusters = StockAndIsolde.start(nodes, TemporaryNode.spec(options), run)) {
      List<NodeTool> tools = clusters.tools();
      RowTable stock = RowTable.create(clusters.stock(), "plain", options).load();
      RowTable plugin = RowTable.create(clusters.isolde(), "plain", options).load();
      Report updates = run.measure(tools, cases("update", stock.updates(), plugin.updates()));
      tools.forEach(tool -> tool.flush(RowTable.KEYSPACE));
      return updates
          .and(run.measure(tools, cases("read", stock.reads(), plugin.reads())))
          .withSuffix("_%dn".formatted(nodes));
    }
  }

  private static Cases cases(String what, Workload onStock, Workload onPlugin) {
    return new Cases()
        .add("stock_" + what, onStock)
        .add("plugin_" + what, onPlugin)
        .ratio("plugin_%s_vs_stock".formatted(what), "plugin_" + what, "stock_" + what);
  }
}
