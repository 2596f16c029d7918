// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench;

import com.datastax.oss.driver.api.core.ConsistencyLevel;
import io.isolde.cluster.NodeSpec;
import io.isolde.cluster.NodeTool;
import java.io.PrintWriter;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What the plugin costs tables that have nothing to do with it: plain requests to nodes with it
 * against the same to nodes of stock Cassandra, beside them and in turns. Other benchmarks compare
 * with plain tables on nodes that have the plugin; this one tells what that is worth.
 *
 * <p>First all rounds of updates, then, from disk and calm, those of reads: else what the updates
 * of one cluster leave to flush and compact would slow the reads of the other.
 */
final class PluginBenchmark implements Benchmark {
  private static final int MAX_HEAP_MEGABYTES = 1024;

  private final int nodes;

  private PluginBenchmark(int nodes) {
    this.nodes = nodes;
  }

  /** On one node, and on three that have all rows. */
  static List<Benchmark> all() {
    return List.of(new PluginBenchmark(1), new PluginBenchmark(3));
  }

  @Override
  public String name() {
    return "plugin-%dn".formatted(nodes);
  }

  @Override
  public String summary() {
    return "plain tables on nodes with the plugin against stock Cassandra, %s"
        .formatted(nodes == 1 ? "one node each" : nodes + " nodes each");
  }

  @Override
  public Report run(BenchOptions options, PrintWriter out) {
    NodeSpec spec =
        TemporaryNode.spec(options)
            .withHeapMegabytes(Math.min(MAX_HEAP_MEGABYTES, options.heapMegabytes()));
    try (StockAndIsolde clusters = StockAndIsolde.start(nodes, spec, out)) {
      return measure(clusters, options, out);
    }
  }

  private Report measure(StockAndIsolde clusters, BenchOptions options, PrintWriter out) {
    List<NodeTool> tools = clusters.tools();
    RowTable stock = RowTable.create(clusters.stock(), "plain", options);
    RowTable plugin = RowTable.create(clusters.isolde(), "plain", options);
    List.of(stock, plugin).forEach(RowTable::load);
    Report updates = compare("update", stock.updates(), plugin.updates(), tools, options, out);
    tools.forEach(tool -> tool.flush(RowTable.KEYSPACE));
    return updates
        .and(compare("read", reads(stock), reads(plugin), tools, options, out))
        .withSuffix("_%dn".formatted(nodes));
  }

  private Report compare(
      String what,
      Workload onStock,
      Workload onPlugin,
      List<NodeTool> tools,
      BenchOptions options,
      PrintWriter out) {
    List<Case> cases =
        List.of(new Case("stock_" + what, onStock), new Case("plugin_" + what, onPlugin));
    Ratio ratio =
        new Ratio("plugin_%s_vs_stock".formatted(what), "plugin_" + what, "stock_" + what);
    Map<String, List<Sample>> samples = new Rounds(options, tools, out).run(cases);
    return Report.of(name(), MachineDescription.ofThisMachine(), options, samples, List.of(ratio))
        .with(CpuMetrics.of(samples));
  }

  private static Workload reads(RowTable table) {
    return table.readsThrough(Optional.empty(), ConsistencyLevel.QUORUM);
  }
}
