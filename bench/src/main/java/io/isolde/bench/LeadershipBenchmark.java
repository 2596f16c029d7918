// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.metadata.Node;
import io.isolde.bench.Figure.Point;
import io.isolde.cluster.LocalNode;
import io.isolde.cluster.NodeSpec;
import io.isolde.cluster.NodeTool;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Writes to a strong keyspace for long enough that its nodes compact several times: with leaders
 * that step aside before heavy compactions, by each policy, and with leaders that don't.
 *
 * <p>Each policy has a cluster of its own in each round, since the nodes read it when they start.
 */
final class LeadershipBenchmark implements Benchmark {
  private static final List<String> POLICIES =
      List.of("off", "least-loaded", "random", "round-robin");
  private static final int MAX_HEAP_MEGABYTES = 768;

  /** A measurement takes so many times as long as that of other benchmarks. */
  private static final int LENGTH = 20;

  /** What a policy did in a round. */
  private record Run(
      Measurement measurement, double stallMillis, List<Double> compactingShares, long handOvers) {}

  private final String name;
  private final String where;
  private final List<Integer> clusters;

  private LeadershipBenchmark(String name, String where, List<Integer> clusters) {
    this.name = name;
    this.where = where;
    this.clusters = clusters;
  }

  /** The whole of it, and its parts. */
  static List<Benchmark> all() {
    return List.of(
        new LeadershipBenchmark("leadership", "on three nodes and on five", List.of(3, 5)),
        new LeadershipBenchmark("leadership-3n", "on three nodes", List.of(3)),
        new LeadershipBenchmark("leadership-5n", "on five nodes", List.of(5)));
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public String summary() {
    return "writes to a strong keyspace whose leader steps aside before compactions, or not, "
        + where;
  }

  @Override
  public Report run(BenchOptions options, PrintWriter out) {
    return clusters.stream()
        .map(nodes -> ofSize(nodes, options, out))
        .reduce(Report::and)
        .orElseThrow();
  }

  private Report ofSize(int nodes, BenchOptions options, PrintWriter out) {
    Map<String, List<Run>> runs = new LinkedHashMap<>();
    POLICIES.forEach(policy -> runs.put(policy, new ArrayList<>()));
    for (int round = 0; round < options.rounds(); round++) {
      for (String policy : Rounds.inOrderOf(round, POLICIES)) {
        Run run = measure(nodes, policy, options, out);
        runs.get(policy).add(run);
        out.printf(
            "  round %d of %d, %d nodes, %-13s %6.0f/s  p99 %6.1f ms  longest stall %5.0f ms  %d"
                + " hand-overs%n",
            round + 1,
            options.rounds(),
            nodes,
            policy + ":",
            run.measurement.operationsPerSecond(),
            run.measurement.p99Millis(),
            run.stallMillis,
            run.handOvers);
        out.flush();
      }
    }
    return report(nodes, runs, options);
  }

  private Run measure(int size, String policy, BenchOptions options, PrintWriter out) {
    NodeSpec spec =
        TemporaryNode.spec(options)
            .withHeapMegabytes(Math.min(MAX_HEAP_MEGABYTES, options.heapMegabytes()))
            .withIsoldeSetting("leadership_policy", policy)
            .withIsoldeSetting("leadership_threshold", "8MiB")
            .withIsoldeSetting("leadership_back_off", "5s")
            .withIsoldeSetting("strong_log_size", "4MiB");
    try (TemporaryNode cluster = TemporaryNode.start("leadership", size, spec, out);
        CqlSession session = cluster.connect()) {
      RowTable table = RowTable.createStrong(session, "strong", "periodic", options);
      // All rows have the same value, which compresses to so little that no compaction is heavy.
      session.execute("ALTER TABLE strong.strong WITH compression = {'enabled': false}");
      RowTable.awaitAgreement(session);
      List<NodeTool> tools = cluster.nodes().stream().map(LocalNode::nodeTool).toList();
      try {
        warmUp(session, table, cluster, tools, options);
        try (CoreQuota quota = quota(cluster, options)) {
          return measure(session, table, tools, options);
        }
      } finally {
        tools.forEach(NodeTool::close);
      }
    }
  }

  /** All nodes come to lead, so that the code of leaders is loaded and compiled everywhere. */
  private static void warmUp(
      CqlSession session,
      RowTable table,
      TemporaryNode cluster,
      List<NodeTool> tools,
      BenchOptions options) {
    NodeCompiler compiler = new NodeCompiler(tools);
    Duration slice = Duration.ofSeconds(options.warmupSeconds()).dividedBy(tools.size());
    for (LocalNode node : cluster.nodes()) {
      session.execute("ALTER KEYSPACE strong LEADER '" + node.spec().address() + "'");
      var unused = ClosedLoop.run(table.updates(), options.inFlight(), slice);
      compiler.awaitCalm();
    }
  }

  private static CoreQuota quota(TemporaryNode cluster, BenchOptions options) {
    List<Long> pids =
        options.nodeCores() == 0
            ? List.of()
            : cluster.nodes().stream().map(node -> node.pid().orElseThrow()).toList();
    return new CoreQuota(pids, options.nodeCores());
  }

  private static Run measure(
      CqlSession session, RowTable table, List<NodeTool> tools, BenchOptions options) {
    long handOversBefore = handOvers(session);
    GapClock gaps = new GapClock();
    Workload updates = new LeaderUpdates(session, table);
    Workload timed =
        () ->
            updates
                .send()
                .whenComplete(
                    (done, error) -> {
                      if (error == null) {
                        gaps.success();
                      }
                    });
    try (CompactionWatch watch = new CompactionWatch("strong", tools)) {
      gaps.restart(System.nanoTime());
      Measurement seen =
          ClosedLoop.run(timed, options.inFlight(), options.measured().multipliedBy(LENGTH));
      double stallMillis = gaps.longestMillis(System.nanoTime());
      List<Double> shares = new ArrayList<>();
      for (int busy = 1; busy <= tools.size(); busy++) {
        shares.add(watch.shareOfAtLeast(busy));
      }
      return new Run(seen, stallMillis, shares, handOvers(session) - handOversBefore);
    }
  }

  private static long handOvers(CqlSession session) {
    long found = 0;
    for (Node node : session.getMetadata().getNodes().values()) {
      for (Row event :
          session.execute(
              SimpleStatement.newInstance("SELECT * FROM isolde.leadership_events")
                  .setNode(node))) {
        found +=
            "HAND_OVER".equals(event.getString("decision")) && !event.getBoolean("failed") ? 1 : 0;
      }
    }
    return found;
  }

  private Report report(int nodes, Map<String, List<Run>> runs, BenchOptions options) {
    List<Report.Result> results = new ArrayList<>();
    Map<String, Double> metrics = new LinkedHashMap<>();
    Map<String, Spread> ratios = new LinkedHashMap<>();
    runs.forEach(
        (policy, ofPolicy) -> {
          String key = policy.replace('-', '_') + "_" + nodes + "n";
          ofPolicy.forEach(run -> results.add(Report.Result.of(key, run.measurement)));
          metrics.put(
              key + "_longest_stall_ms", median(ofPolicy.stream().map(Run::stallMillis).toList()));
          metrics.put(
              key + "_hand_overs",
              median(ofPolicy.stream().map(run -> (double) run.handOvers).toList()));
          for (int busy = 1; busy <= nodes; busy++) {
            int at = busy - 1;
            metrics.put(
                key + "_at_least_" + busy + "_compacting_percent",
                100 * median(ofPolicy.stream().map(run -> run.compactingShares.get(at)).toList()));
          }
          if (!policy.equals("off")) {
            ratios.put(key + "_vs_off", ratio(ofPolicy, runs.get("off")));
          }
        });
    return new Report(
            name(), MachineDescription.ofThisMachine(), options.rounds(), results, Map.of(), ratios)
        .with(metrics);
  }

  private static double median(List<Double> numbers) {
    return Spread.of(numbers).median();
  }

  private static Spread ratio(List<Run> runs, List<Run> others) {
    List<Double> quotients = new ArrayList<>();
    for (int i = 0; i < runs.size(); i++) {
      quotients.add(
          runs.get(i).measurement.operationsPerSecond()
              / others.get(i).measurement.operationsPerSecond());
    }
    return Spread.of(quotients);
  }

  /** Figure 6.6 of the thesis: how often replicas compact at the same time. */
  @Override
  public List<Figure> figures(Report report) {
    return clusters.stream().map(nodes -> overlap(nodes, report)).toList();
  }

  private static Figure overlap(int nodes, Report report) {
    Map<String, List<Point>> curves = new LinkedHashMap<>();
    for (String policy : POLICIES) {
      List<Point> points = new ArrayList<>();
      for (int busy = 1; busy <= nodes; busy++) {
        String key =
            "%s_%dn_at_least_%d_compacting_percent"
                .formatted(policy.replace('-', '_'), nodes, busy);
        points.add(new Point(busy, report.metrics().getOrDefault(key, 0.0)));
      }
      curves.put(policy, points);
    }
    return new Figure(
        "leadership-overlap-" + nodes,
        "compactions at the same time, " + nodes + " nodes",
        "replicas that compact, at least",
        "of the time, %",
        curves);
  }
}
