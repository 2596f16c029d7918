// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.strong;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.metadata.Node;
import io.isolde.bench.charts.Figure;
import io.isolde.bench.charts.Figure.Point;
import io.isolde.bench.failover.GapClock;
import io.isolde.bench.kit.BenchOptions;
import io.isolde.bench.kit.Benchmark;
import io.isolde.bench.kit.CpuClock;
import io.isolde.bench.kit.Measurement;
import io.isolde.bench.kit.Medians;
import io.isolde.bench.kit.Processes;
import io.isolde.bench.kit.Ratio;
import io.isolde.bench.kit.Report;
import io.isolde.bench.kit.Rounds;
import io.isolde.bench.kit.Run;
import io.isolde.bench.kit.Sample;
import io.isolde.bench.kit.Workload;
import io.isolde.bench.nodes.RowTable;
import io.isolde.bench.nodes.TemporaryNode;
import io.isolde.cluster.LocalNode;
import io.isolde.cluster.NodeSpec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Writes to a strong keyspace for long enough that its nodes compact several times: with leaders
 * that step aside before heavy compactions, by each policy, and with leaders that don't.
 *
 * <p>Each policy has a cluster of its own in each round, since the nodes read it when they start.
 */
public final class LeadershipBenchmark {
  private static final List<String> POLICIES =
      List.of("off", "least-loaded", "random", "round-robin");
  private static final int MAX_HEAP_MEGABYTES = 768;

  /** A measurement takes so many times as long as that of other benchmarks. */
  private static final int LENGTH = 20;

  private final int nodes;
  private final Run run;
  private final Map<String, List<Sample>> samples = new LinkedHashMap<>();
  private final Medians metrics = new Medians();

  private LeadershipBenchmark(int nodes, Run run) {
    this.nodes = nodes;
    this.run = run;
  }

  /** The benchmark on so many nodes. */
  public static Benchmark.Part onNodes(int nodes) {
    return run -> new LeadershipBenchmark(nodes, run).report();
  }

  private Report report() {
    POLICIES.forEach(policy -> samples.put(key(policy, nodes), new ArrayList<>()));
    for (int round = 0; round < run.options().rounds(); round++) {
      for (String policy : Rounds.inOrderOf(round, POLICIES)) {
        run.say("  round %d of %d, %s".formatted(round + 1, run.options().rounds(), policy));
        measure(policy);
      }
    }
    List<Ratio> ratios =
        POLICIES.stream()
            .filter(policy -> !policy.equals("off"))
            .map(policy -> key(policy, nodes))
            .map(key -> new Ratio(key + "_vs_off", key, key("off", nodes)))
            .toList();
    return run.report(samples, ratios).with(metrics.toMap());
  }

  private static String key(String policy, int nodes) {
    return policy.replace('-', '_') + "_" + nodes + "n";
  }

  private void measure(String policy) {
    BenchOptions options = run.options();
    NodeSpec spec =
        TemporaryNode.spec(options.withHeapUpTo(MAX_HEAP_MEGABYTES))
            .withIsoldeSetting("leadership_policy", policy)
            .withIsoldeSetting("leadership_threshold", "8MiB")
            .withIsoldeSetting("leadership_back_off", "5s")
            .withIsoldeSetting("strong_log_size", "4MiB");
    try (TemporaryNode cluster = start(spec)) {
      RowTable table = RowTable.createStrong(cluster, "strong", "periodic", options);
      // All rows have the same value, which compresses to so little that no compaction is heavy.
      cluster.session().execute("ALTER TABLE strong.strong WITH compression = {'enabled': false}");
      cluster.awaitSchema();
      warmUp(cluster, table);
      if (options.nodeShare().hasDisk()) {
        cluster.limitDisks(options.nodeShare().diskMegabytesPerSecond());
      }
      try (CqlSession routed = cluster.connectRouted();
          CoreQuota quota = quota(cluster)) {
        measure(key(policy, nodes), cluster, table.over(routed, options).updates());
      }
    }
  }

  private TemporaryNode start(NodeSpec spec) {
    return run.options().nodeShare().hasDisk()
        ? TemporaryNode.startOnDisks("leadership", nodes, spec, run.out())
        : TemporaryNode.start("leadership", nodes, spec, run.out());
  }

  /** All nodes come to lead, so that the code of leaders is loaded and compiled everywhere. */
  private void warmUp(TemporaryNode cluster, RowTable table) {
    Processes processes = Processes.ofNodes(cluster.tools());
    Duration slice = Duration.ofSeconds(run.options().warmupSeconds()).dividedBy(nodes);
    for (LocalNode node : cluster.nodes()) {
      cluster.session().execute("ALTER KEYSPACE strong LEADER '" + node.spec().address() + "'");
      var unused = table.updates().run(run.options().inFlight(), slice);
      processes.awaitCalm();
    }
  }

  private CoreQuota quota(TemporaryNode cluster) {
    double cores = run.options().nodeShare().cores();
    List<Long> pids =
        cores == 0
            ? List.of()
            : cluster.nodes().stream().map(node -> node.pid().orElseThrow()).toList();
    return new CoreQuota(pids, cores);
  }

  private void measure(String key, TemporaryNode cluster, Workload updates) {
    BenchOptions options = run.options();
    long handOversBefore = handOvers(cluster.session());
    GapClock gaps = new GapClock();
    CpuClock cpu = new CpuClock(Processes.ofNodes(cluster.tools()));
    try (CompactionWatch watch = new CompactionWatch("strong", cluster.tools())) {
      gaps.restart(System.nanoTime());
      Measurement seen =
          gaps.watched(updates).run(options.inFlight(), options.measured().multipliedBy(LENGTH));
      double stallMillis = gaps.longestMillis(System.nanoTime());
      long handOvers = handOvers(cluster.session()) - handOversBefore;
      samples.get(key).add(new Sample(seen, cpu.stop(), 0));
      metrics.add(key + "_longest_stall_ms", stallMillis);
      metrics.add(key + "_hand_overs", (double) handOvers);
      for (int busy = 1; busy <= nodes; busy++) {
        metrics.add(overlapKey(key, busy), 100 * watch.shareOfAtLeast(busy));
      }
      run.say(
          "  %-18s %6.0f/s  p99 %6.1f ms  longest stall %5.0f ms  %d hand-overs"
              .formatted(
                  key, seen.operationsPerSecond(), seen.p99Millis(), stallMillis, handOvers));
    }
  }

  private static long handOvers(CqlSession session) {
    long found = 0;
    for (Node node : session.getMetadata().getNodes().values()) {
      SimpleStatement events =
          SimpleStatement.newInstance("SELECT * FROM isolde.leadership_events").setNode(node);
      for (Row event : session.execute(events)) {
        found +=
            "HAND_OVER".equals(event.getString("decision")) && !event.getBoolean("failed") ? 1 : 0;
      }
    }
    return found;
  }

  private static String overlapKey(String key, int busy) {
    return key + "_at_least_" + busy + "_compacting_percent";
  }

  /** Draws figure 6.6 of the thesis: how often replicas compact at the same time. */
  public static List<Figure> figures(Report report) {
    return Stream.of(3, 5)
        .filter(nodes -> report.cases().contains(key("off", nodes)))
        .map(nodes -> overlap(nodes, report))
        .toList();
  }

  private static Figure overlap(int nodes, Report report) {
    Map<String, List<Point>> curves = new LinkedHashMap<>();
    for (String policy : POLICIES) {
      List<Point> points = new ArrayList<>();
      for (int busy = 1; busy <= nodes; busy++) {
        String key = overlapKey(key(policy, nodes), busy);
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
