// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench;

import com.datastax.oss.driver.api.core.CqlSession;
import io.isolde.cluster.LocalNode;
import io.isolde.cluster.NodeSpec;
import io.isolde.cluster.NodeTool;
import java.io.PrintWriter;
import java.util.List;
import java.util.Map;

/**
 * What transactions cost, against the same statements on plain tables: on one node, and on three
 * with three replicas, at QUORUM.
 */
final class TransactionsBenchmark implements Benchmark {
  /** Three nodes and their clients have to share a small machine. */
  private static final int HEAP_MEGABYTES_OF_THREE = 1024;

  private final String name;
  private final String where;
  private final List<Integer> clusters;

  private TransactionsBenchmark(String name, String where, List<Integer> clusters) {
    this.name = name;
    this.where = where;
    this.clusters = clusters;
  }

  /** The whole of it, and its parts. */
  static List<Benchmark> all() {
    return List.of(
        new TransactionsBenchmark("transactions", "on one node and on three", List.of(1, 3)),
        new TransactionsBenchmark("transactions-1n", "on one node", List.of(1)),
        new TransactionsBenchmark("transactions-3n", "on three nodes", List.of(3)));
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public String summary() {
    return "transactions against plain statements and LWT, " + where;
  }

  @Override
  public Report run(BenchOptions options, PrintWriter out) {
    return clusters.stream()
        .map(nodes -> run(nodes, options, out))
        .reduce(Report::and)
        .orElseThrow();
  }

  private Report run(int nodes, BenchOptions options, PrintWriter out) {
    out.printf("Cassandra with Isolde, %d nodes%n", nodes);
    NodeSpec spec =
        NodeSpec.standard()
            .withHeapMegabytes(
                nodes == 1
                    ? options.heapMegabytes()
                    : Math.min(HEAP_MEGABYTES_OF_THREE, options.heapMegabytes()))
            .withEphemeral(true)
            .withCassandraSetting("auto_snapshot", "false");
    try (TemporaryNode cluster = TemporaryNode.start("bench", nodes, spec, out);
        CqlSession session = cluster.connect()) {
      List<NodeTool> tools = cluster.nodes().stream().map(LocalNode::nodeTool).toList();
      try {
        return measure(nodes, session, tools, options, out);
      } finally {
        tools.forEach(NodeTool::close);
      }
    }
  }

  private Report measure(
      int nodes, CqlSession session, List<NodeTool> tools, BenchOptions options, PrintWriter out) {
    RowTable plain = RowTable.create(session, "plain", options);
    RowTable transactional = RowTable.createTransactional(session, "transactional", options);
    List.of(plain, transactional).forEach(RowTable::load);
    tools.forEach(tool -> tool.flush(RowTable.KEYSPACE));
    String of = "_" + nodes + "n";
    MultiStatements plainOnes = MultiStatements.plain(session, plain);
    MultiStatements transactions = MultiStatements.transactions(session, transactional);
    List<Case> cases =
        List.of(
            new Case("plain_write" + of, plain.updates()),
            new Case("autocommit_write" + of, transactional.updates()),
            new Case("lwt_write" + of, plain.conditionalUpdates()),
            new Case("plain_read" + of, plain.reads()),
            new Case("autocommit_read" + of, transactional.reads()),
            new Case("ten_plain_updates" + of, plainOnes.tenUpdates()),
            new Case("ten_updates" + of, transactions.tenUpdates()),
            new Case("plain_transfer" + of, plainOnes.transfer()),
            new Case("transfer" + of, transactions.transfer()));
    List<Ratio> ratios =
        List.of(
            new Ratio(
                "autocommit_write_vs_plain" + of, "autocommit_write" + of, "plain_write" + of),
            new Ratio("autocommit_write_vs_lwt" + of, "autocommit_write" + of, "lwt_write" + of),
            new Ratio("autocommit_read_vs_plain" + of, "autocommit_read" + of, "plain_read" + of),
            new Ratio("ten_updates_vs_plain" + of, "ten_updates" + of, "ten_plain_updates" + of),
            new Ratio("transfer_vs_plain" + of, "transfer" + of, "plain_transfer" + of));
    Map<String, List<Sample>> samples = new Rounds(options, tools, out).run(cases);
    return Report.of(name(), MachineDescription.ofThisMachine(), options, samples, ratios)
        .with(CpuMetrics.of(samples));
  }
}
