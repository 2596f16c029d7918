// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench;

import com.datastax.oss.driver.api.core.ConsistencyLevel;
import com.datastax.oss.driver.api.core.CqlSession;
import io.isolde.cluster.LocalNode;
import io.isolde.cluster.NodeSpec;
import io.isolde.cluster.NodeTool;
import java.io.PrintWriter;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * What the plugin costs tables that have nothing to do with it: plain requests to nodes with it
 * against the same to nodes of stock Cassandra, beside them and in turns. Other benchmarks compare
 * with plain tables on nodes that have the plugin; this one tells what that is worth.
 *
 * <p>First all rounds of updates, then, from disk and calm, those of reads: else what the updates
 * of one cluster leave to flush and compact would slow the reads of the other.
 */
final class PluginBenchmark implements Benchmark {
  private static final int MOST_HEAP_MEGABYTES = 1024;

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
            .withHeapMegabytes(Math.min(MOST_HEAP_MEGABYTES, options.heapMegabytes()));
    try (TemporaryNode stock = start("stock", spec.withPlugin(false), out);
        CqlSession onStock = stock.connect();
        TemporaryNode plugin = start("plugin", spec, out);
        CqlSession onPlugin = plugin.connect()) {
      List<NodeTool> tools =
          Stream.of(stock, plugin)
              .flatMap(cluster -> cluster.nodes().stream())
              .map(LocalNode::nodeTool)
              .toList();
      try {
        return measure(onStock, onPlugin, tools, options, out);
      } finally {
        tools.forEach(NodeTool::close);
      }
    }
  }

  private TemporaryNode start(String name, NodeSpec spec, PrintWriter out) {
    out.printf("%d nodes: %s%n", nodes, name);
    return TemporaryNode.start(name, nodes, spec, out);
  }

  private Report measure(
      CqlSession onStock,
      CqlSession onPlugin,
      List<NodeTool> tools,
      BenchOptions options,
      PrintWriter out) {
    RowTable stock = RowTable.create(onStock, "plain", options);
    RowTable plugin = RowTable.create(onPlugin, "plain", options);
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
