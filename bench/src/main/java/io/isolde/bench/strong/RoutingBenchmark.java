// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.strong;

import com.datastax.oss.driver.api.core.CqlSession;
import io.isolde.bench.charts.Bars;
import io.isolde.bench.kit.BenchOptions;
import io.isolde.bench.kit.Cases;
import io.isolde.bench.kit.Report;
import io.isolde.bench.kit.Run;
import io.isolde.bench.nodes.RowTable;
import io.isolde.bench.nodes.TemporaryNode;
import io.isolde.cluster.NodeSpec;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/**
 * A strong keyspace of six groups on three nodes: requests of clients that know the leaders,
 * against requests to any node, as in section 6.9 of the thesis on replicated LSM trees.
 */
public final class RoutingBenchmark {
  private static final int NODES = 3;
  private static final int GROUPS = 6;

  /** Enough ranges for the groups. */
  private static final int TOKENS = 8;

  private static final int MAX_HEAP_MEGABYTES = 1024;

  private static final String ROUTED = "routed_";
  private static final String ANY = "any_node_";
  private static final String READ = "read";
  private static final String WRITE = "write";

  private RoutingBenchmark() {}

  /** Runs it. */
  public static Report run(Run run) {
    BenchOptions options = run.options();
    NodeSpec spec = TemporaryNode.spec(options.withHeapUpTo(MAX_HEAP_MEGABYTES)).withTokens(TOKENS);
    try (TemporaryNode cluster = TemporaryNode.start("routing", NODES, spec, run.out());
        CqlSession routing = cluster.connectRouted()) {
      RowTable any = RowTable.createStrong(cluster, "strong", "periodic", GROUPS, options).load();
      RowTable routed = any.over(routing, options);
      cluster
          .session()
          .execute("SELECT group_number, leader FROM isolde.replica_groups")
          .forEach(
              group ->
                  run.say("  group %d: %s leads".formatted(group.getInt(0), group.getString(1))));
      return run.measure(
          cluster.tools(),
          new Cases()
              .add(ANY + READ, any.reads())
              .add(ROUTED + READ, routed.reads())
              .add(ANY + WRITE, any.updates())
              .add(ROUTED + WRITE, routed.updates())
              .ratio("routed_read_vs_any", ROUTED + READ, ANY + READ)
              .ratio("routed_write_vs_any", ROUTED + WRITE, ANY + WRITE));
    }
  }

  /** Draws throughput and latency. */
  public static List<Bars> figures(Report report) {
    return List.of(
        figure("throughput", "requests per second", report, Report.Result::operationsPerSecond),
        figure("latency", "mean, ms", report, Report.Result::meanMillis));
  }

  private static Bars figure(
      String what, String axis, Report report, ToDoubleFunction<Report.Result> number) {
    Map<String, Map<String, Double>> series = new LinkedHashMap<>();
    for (String target : List.of(ROUTED, ANY)) {
      Map<String, Double> bars = new LinkedHashMap<>();
      for (String request : List.of(READ, WRITE)) {
        bars.put(request + "s", report.median(target + request, number));
      }
      series.put(target.equals(ROUTED) ? "to the leader" : "to any node", bars);
    }
    return new Bars("routing-" + what, "six groups on three nodes", axis, series);
  }
}
