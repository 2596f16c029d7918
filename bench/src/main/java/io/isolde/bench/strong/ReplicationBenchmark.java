// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.strong;

import com.datastax.oss.driver.api.core.ConsistencyLevel;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.metadata.Node;
import io.isolde.bench.charts.Bars;
import io.isolde.bench.kit.BenchOptions;
import io.isolde.bench.kit.Benchmark;
import io.isolde.bench.kit.Cases;
import io.isolde.bench.kit.Pause;
import io.isolde.bench.kit.Report;
import io.isolde.bench.kit.Run;
import io.isolde.bench.kit.SingleInFlight;
import io.isolde.bench.kit.Workload;
import io.isolde.bench.nodes.RowTable;
import io.isolde.bench.nodes.StockAndIsolde;
import io.isolde.bench.nodes.TemporaryNode;
import io.isolde.cluster.NodeSpec;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Strong keyspaces against stock Cassandra beside them, alternating; each node has a replica of all
 * rows: writes and reads at the leader and through any node, against QUORUM, LWT and SERIAL.
 *
 * <p>First with what Cassandra answers before a sync to disk: {@code commitlog_sync: periodic}, and
 * the strong keyspace's durability {@code periodic}. Then with what it answers after it: {@code
 * batch} on both sides.
 */
public final class ReplicationBenchmark {
  private static final int MAX_HEAP_MEGABYTES = 1024;
  private static final int LEADER_SECONDS = 30;
  private static final double HALF = 0.5;
  private static final String FIVE = "_5n";

  private final RowTable plain;
  private final RowTable strong;

  /** The node that leads. */
  private final Node leader;

  private ReplicationBenchmark(RowTable plain, RowTable strong, Node leader) {
    this.plain = plain;
    this.strong = strong;
    this.leader = leader;
  }

  /** The benchmark on so many nodes of each kind: three or five. */
  public static Benchmark.Part onNodes(int nodes) {
    return run ->
        onClusters(nodes, "periodic", run)
            .and(onClusters(nodes, "batch", run))
            .withSuffix(nodes == 3 ? "" : FIVE);
  }

  private static Report onClusters(int nodes, String sync, Run run) {
    run.say("sync to disk: " + sync);
    BenchOptions options = run.options();
    NodeSpec spec =
        TemporaryNode.spec(options.withHeapUpTo(MAX_HEAP_MEGABYTES))
            .withCassandraSetting("commitlog_sync", sync)
            .withCassandraSetting("commitlog_sync_period", sync.equals("batch") ? "0ms" : "10s");
    try (StockAndIsolde clusters = StockAndIsolde.start(nodes, spec, run)) {
      RowTable plain = RowTable.create(clusters.stock(), "plain", options).load();
      RowTable strong = RowTable.createStrong(clusters.isolde(), "strong", sync, options).load();
      Node leader = leader(clusters.isolde());
      run.say("  %s leads".formatted(leader.getEndPoint()));
      ReplicationBenchmark benchmark = new ReplicationBenchmark(plain, strong, leader);
      boolean isDurable = sync.equals("batch");
      return run.measure(clusters.tools(), isDurable ? benchmark.durable() : benchmark.notDurable())
          .with(
              new SingleInFlight(isDurable ? "durable_" : "", "quorum", "")
                  .measure(strong.updates(leader), plain.updates(), run));
    }
  }

  private static Node leader(TemporaryNode cluster) {
    String group = "SELECT leader FROM isolde.replica_groups WHERE keyspace_name = 'strong'";
    String[] found = new String[1];
    Pause.until(
        "the replica group has a leader",
        LEADER_SECONDS,
        () -> {
          Row row = cluster.session().execute(group).one();
          found[0] = row == null ? null : row.getString("leader");
          return found[0] != null;
        });
    return cluster.node(found[0]);
  }

  private Cases notDurable() {
    Workload quorumReads = plain.reads();
    Workload strongReads = strong.reads(leader, ConsistencyLevel.QUORUM);
    Workload strongWrites = strong.updates(leader);
    return new Cases()
        .add("quorum_write", plain.updates())
        .add("strong_write", strongWrites)
        .add("quorum_half", Workload.mixed(quorumReads, plain.updates(), HALF))
        .add("strong_half", Workload.mixed(strongReads, strongWrites, HALF))
        .add("strong_write_any_node", strong.updates())
        .add("lwt_write", plain.conditionalUpdates(null))
        .add("strong_if", strong.conditionalUpdates(leader))
        .add("quorum_read", quorumReads)
        .add("serial_read", plain.reads(null, ConsistencyLevel.SERIAL))
        .add("strong_read", strongReads)
        .add("strong_read_any_node", strong.reads())
        .ratio("write_vs_quorum", "strong_write", "quorum_write")
        .ratio("half_writes_vs_quorum", "strong_half", "quorum_half")
        .ratio("any_node_write_vs_quorum", "strong_write_any_node", "quorum_write")
        .ratio("write_vs_lwt", "strong_write", "lwt_write")
        .ratio("if_vs_lwt", "strong_if", "lwt_write")
        .ratio("read_vs_quorum", "strong_read", "quorum_read")
        .ratio("read_vs_serial", "strong_read", "serial_read")
        .ratio("any_node_read_vs_quorum", "strong_read_any_node", "quorum_read");
  }

  private Cases durable() {
    String quorum = "durable_quorum_write";
    String anyNode = "durable_strong_write_any_node";
    return new Cases()
        .add(quorum, plain.updates())
        .add("durable_strong_write", strong.updates(leader))
        .add(anyNode, strong.updates())
        .add("durable_lwt_write", plain.conditionalUpdates(null))
        .ratio("durable_write_vs_batch", "durable_strong_write", quorum)
        .ratio("durable_any_node_write_vs_batch", anyNode, quorum)
        .ratio("durable_write_vs_lwt", "durable_strong_write", "durable_lwt_write");
  }

  /** Draws the throughput, of three nodes and of five. */
  public static List<Bars> figures(Report report) {
    List<String> ofFive = report.cases().stream().filter(name -> name.endsWith(FIVE)).toList();
    List<String> ofThree = report.cases().stream().filter(name -> !name.endsWith(FIVE)).toList();
    return Stream.of(bars(3, ofThree, report), bars(5, ofFive, report))
        .filter(bars -> !bars.series().get("median").isEmpty())
        .toList();
  }

  private static Bars bars(int nodes, List<String> names, Report report) {
    Map<String, Double> medians = new LinkedHashMap<>();
    for (String name : names) {
      medians.put(
          name.replace(FIVE, "").replace('_', ' '),
          report.median(name, Report.Result::operationsPerSecond));
    }
    return new Bars(
        "replication-" + nodes,
        "strong keyspaces and plain ones, %d nodes".formatted(nodes),
        "operations per second",
        Map.of("median", medians));
  }
}
