// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench;

import com.datastax.oss.driver.api.core.ConsistencyLevel;
import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.metadata.Node;
import io.isolde.cluster.NodeSpec;
import io.isolde.cluster.NodeTool;
import java.io.PrintWriter;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Strong keyspaces against stock Cassandra beside them, in turns; each node has a replica of all
 * rows: writes and reads at the leader and through any node, against QUORUM, LWT and SERIAL.
 *
 * <p>First with what Cassandra answers before a sync to disk ({@code commitlog_sync: periodic}, and
 * the strong keyspace's durability {@code periodic}), then with what it answers after it ({@code
 * batch} on both sides).
 */
final class ReplicationBenchmark implements Benchmark {
  private static final int MAX_HEAP_MEGABYTES = 1024;
  private static final int LEADER_SECONDS = 30;
  private static final double HALF = 0.5;

  private final String name;
  private final String where;
  private final List<Integer> clusters;

  private ReplicationBenchmark(String name, String where, List<Integer> clusters) {
    this.name = name;
    this.where = where;
    this.clusters = clusters;
  }

  /** The whole of it, and its parts. */
  static List<Benchmark> all() {
    return List.of(
        new ReplicationBenchmark("replication", "on three nodes and on five", List.of(3, 5)),
        new ReplicationBenchmark("replication-3n", "on three nodes", List.of(3)),
        new ReplicationBenchmark("replication-5n", "on five nodes", List.of(5)));
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public String summary() {
    return "strong keyspaces against QUORUM, LWT and SERIAL, " + where;
  }

  @Override
  public Report run(BenchOptions options, PrintWriter out) {
    return clusters.stream()
        .map(
            nodes ->
                onClusters(nodes, "periodic", options, out)
                    .and(onClusters(nodes, "batch", options, out))
                    .withSuffix(suffix(nodes)))
        .reduce(Report::and)
        .orElseThrow();
  }

  @Override
  public List<Bars> figures(Report report) {
    return clusters.stream().map(nodes -> throughput(nodes, report)).toList();
  }

  private static Bars throughput(int nodes, Report report) {
    Map<String, Double> cases = Bars.operationsPerSecond(report, suffix(nodes));
    if (nodes == 3) {
      cases.keySet().removeIf(name -> name.endsWith("5n"));
    }
    return new Bars(
        "replication-" + nodes,
        "strong keyspaces and plain ones, %d nodes".formatted(nodes),
        "operations per second",
        Map.of("median", cases));
  }

  private static String suffix(int nodes) {
    return nodes == 3 ? "" : "_%dn".formatted(nodes);
  }

  private Report onClusters(int nodes, String sync, BenchOptions options, PrintWriter out) {
    out.printf("sync to disk: %s%n", sync);
    NodeSpec spec =
        TemporaryNode.spec(options)
            .withHeapMegabytes(Math.min(MAX_HEAP_MEGABYTES, options.heapMegabytes()))
            .withCassandraSetting("commitlog_sync", sync)
            .withCassandraSetting("commitlog_sync_period", sync.equals("batch") ? "0ms" : "10s");
    try (StockAndIsolde clusters = StockAndIsolde.start(nodes, spec, out)) {
      RowTable plain = RowTable.create(clusters.stock(), "plain", options);
      RowTable strong = RowTable.createStrong(clusters.isolde(), "strong", sync, options);
      List.of(plain, strong).forEach(RowTable::load);
      Node leader = leader(clusters.isolde());
      out.printf("  %s leads%n", leader.getEndPoint());
      List<NodeTool> tools = clusters.tools();
      return sync.equals("batch")
          ? durable(plain, strong, leader, tools, options, out)
          : notDurable(plain, strong, leader, tools, options, out);
    }
  }

  private static Node leader(CqlSession session) {
    String[] found = new String[1];
    Pause.until(
        "the replica group has a leader",
        LEADER_SECONDS,
        () -> {
          Row group =
              session
                  .execute(
                      "SELECT leader FROM isolde.replica_groups WHERE keyspace_name = 'strong'")
                  .one();
          found[0] = group == null ? null : group.getString("leader");
          return found[0] != null;
        });
    return session.getMetadata().getNodes().values().stream()
        .filter(node -> node.getEndPoint().toString().contains(found[0] + ":"))
        .findFirst()
        .orElseThrow();
  }

  private Report notDurable(
      RowTable plain,
      RowTable strong,
      Node leader,
      List<NodeTool> tools,
      BenchOptions options,
      PrintWriter out) {
    ConsistencyLevel quorum = ConsistencyLevel.QUORUM;
    Workload quorumReads = plain.readsThrough(Optional.empty(), quorum);
    Workload strongReads = strong.readsThrough(Optional.of(leader), quorum);
    List<Case> cases =
        List.of(
            new Case("quorum_write", plain.updates()),
            new Case("strong_write", strong.updatesThrough(leader)),
            new Case("quorum_half", Workload.mixed(quorumReads, plain.updates(), HALF)),
            new Case(
                "strong_half", Workload.mixed(strongReads, strong.updatesThrough(leader), HALF)),
            new Case("strong_write_any_node", strong.updates()),
            new Case("lwt_write", plain.conditionalUpdates()),
            new Case("strong_if", strong.conditionalUpdatesThrough(leader)),
            new Case("quorum_read", quorumReads),
            new Case("serial_read", plain.readsThrough(Optional.empty(), ConsistencyLevel.SERIAL)),
            new Case("strong_read", strongReads),
            new Case("strong_read_any_node", strong.readsThrough(Optional.empty(), quorum)));
    List<Ratio> ratios =
        List.of(
            new Ratio("write_vs_quorum", "strong_write", "quorum_write"),
            new Ratio("half_writes_vs_quorum", "strong_half", "quorum_half"),
            new Ratio("any_node_write_vs_quorum", "strong_write_any_node", "quorum_write"),
            new Ratio("write_vs_lwt", "strong_write", "lwt_write"),
            new Ratio("if_vs_lwt", "strong_if", "lwt_write"),
            new Ratio("read_vs_quorum", "strong_read", "quorum_read"),
            new Ratio("read_vs_serial", "strong_read", "serial_read"),
            new Ratio("any_node_read_vs_quorum", "strong_read_any_node", "quorum_read"));
    return measure(cases, ratios, tools, options, out)
        .with(
            new SingleInFlight("", "quorum", "")
                .measure(strong.updatesThrough(leader), plain.updates(), options, out));
  }

  private Report durable(
      RowTable plain,
      RowTable strong,
      Node leader,
      List<NodeTool> tools,
      BenchOptions options,
      PrintWriter out) {
    List<Case> cases =
        List.of(
            new Case("durable_quorum_write", plain.updates()),
            new Case("durable_strong_write", strong.updatesThrough(leader)),
            new Case("durable_strong_write_any_node", strong.updates()),
            new Case("durable_lwt_write", plain.conditionalUpdates()));
    List<Ratio> ratios =
        List.of(
            new Ratio("durable_write_vs_batch", "durable_strong_write", "durable_quorum_write"),
            new Ratio(
                "durable_any_node_write_vs_batch",
                "durable_strong_write_any_node",
                "durable_quorum_write"),
            new Ratio("durable_write_vs_lwt", "durable_strong_write", "durable_lwt_write"));
    return measure(cases, ratios, tools, options, out)
        .with(
            new SingleInFlight("durable_", "quorum", "")
                .measure(strong.updatesThrough(leader), plain.updates(), options, out));
  }

  private Report measure(
      List<Case> cases,
      List<Ratio> ratios,
      List<NodeTool> tools,
      BenchOptions options,
      PrintWriter out) {
    Map<String, List<Sample>> samples = new Rounds(options, tools, out).run(cases);
    return Report.of(name(), MachineDescription.ofThisMachine(), options, samples, ratios)
        .with(CpuMetrics.of(samples));
  }
}
