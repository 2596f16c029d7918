// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.strong;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.metadata.Node;
import io.isolde.bench.charts.Figure;
import io.isolde.bench.charts.Figure.Point;
import io.isolde.bench.charts.Picture;
import io.isolde.bench.charts.Timeline;
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
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;

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

  private static final int STEP_MILLIS = 2_000;

  /** A step in which at least one replica compacts for half of it is one of compactions. */
  private static final double BUSY = 0.5;

  /** A measurement takes so many times as long as that of other benchmarks. */
  private static final int LENGTH = 20;

  private final int nodes;
  private final Run run;
  private final Map<String, List<Sample>> samples = new LinkedHashMap<>();
  private final Medians metrics = new Medians();
  private final Map<String, List<Double>> series = new LinkedHashMap<>();

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
    return run.report(samples, ratios).with(metrics.toMap()).withSeries(series);
  }

  private static String key(String policy, int nodes) {
    return policy.replace('-', '_') + "_" + nodes + "n";
  }

  private void measure(String policy) {
    BenchOptions options = run.options();
    NodeSpec spec =
        TemporaryNode.spec(options.withHeapUpTo(MAX_HEAP_MEGABYTES))
            .withIsoldeSetting("leadership_policy", policy)
            // What is written goes to the disk at once, not all of it when a compaction ends.
            .withCassandraSetting("trickle_fsync", "true");
    try (TemporaryNode cluster = start(spec)) {
      RowTable table = RowTable.createStrong(cluster, "strong", "batch", options);
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
    Duration length = options.measured().multipliedBy(LENGTH);
    int steps = (int) (length.toMillis() / STEP_MILLIS);
    GapClock gaps = new GapClock();
    CpuClock cpu = new CpuClock(Processes.ofNodes(cluster.tools()));
    try (ReplicaWatch watch = new ReplicaWatch("strong", cluster.tools())) {
      long startMillis = System.currentTimeMillis();
      Successes successes = new Successes(steps, STEP_MILLIS / 1e3);
      gaps.restart(System.nanoTime());
      Measurement seen = gaps.watched(successes.watched(updates)).run(options.inFlight(), length);
      double stallMillis = gaps.longestMillis(System.nanoTime());
      List<Instant> handOvers = handOvers(cluster.session(), startMillis);
      samples.get(key).add(new Sample(seen, cpu.stop(), 0));
      metrics.add(key + "_longest_stall_ms", stallMillis);
      metrics.add(key + "_hand_overs", (double) handOvers.size());
      series.put(key + "_per_s", successes.perSecond());
      series.put(key + "_compacting", watch.compacting(steps, STEP_MILLIS / 1e3));
      addRates(key, successes.perSecond(), watch.compacting(steps, STEP_MILLIS / 1e3));
      series.put(key + "_flushes", watch.flushes(steps, STEP_MILLIS / 1e3));
      series.put(key + "_hand_overs", inSteps(handOvers, startMillis, steps));
      for (int busy = 1; busy <= nodes; busy++) {
        metrics.add(overlapKey(key, busy), 100 * watch.shareOfAtLeast(busy));
      }
      run.say(
          "  %-18s %6.0f/s  p99 %6.1f ms  longest stall %5.0f ms  %d hand-overs"
              .formatted(
                  key,
                  seen.operationsPerSecond(),
                  seen.p99Millis(),
                  stallMillis,
                  handOvers.size()));
    }
  }

  /** What it was like while replicas compacted, and while none did. */
  private void addRates(String key, List<Double> perSecond, List<Double> compacting) {
    IntPredicate isBusy = step -> compacting.get(step) >= BUSY;
    metrics.add(key + "_per_s_while_some_compact", mean(perSecond, isBusy));
    metrics.add(key + "_per_s_while_none_compacts", mean(perSecond, isBusy.negate()));
  }

  private static double mean(List<Double> numbers, IntPredicate isChosen) {
    return IntStream.range(0, numbers.size())
        .filter(isChosen)
        .mapToDouble(numbers::get)
        .average()
        .orElse(0);
  }

  /** When leaders have stepped aside since then. */
  private static List<Instant> handOvers(CqlSession session, long sinceMillis) {
    List<Instant> found = new ArrayList<>();
    for (Node node : session.getMetadata().getNodes().values()) {
      SimpleStatement events =
          SimpleStatement.newInstance("SELECT * FROM isolde.leadership_events").setNode(node);
      for (Row event : session.execute(events)) {
        if ("HAND_OVER".equals(event.getString("decision"))
            && !event.getBoolean("failed")
            && event.getInstant("at").toEpochMilli() >= sinceMillis) {
          found.add(event.getInstant("at"));
        }
      }
    }
    return found;
  }

  private static List<Double> inSteps(List<Instant> events, long startMillis, int steps) {
    return IntStream.range(0, steps)
        .mapToObj(
            step ->
                (double)
                    events.stream()
                        .filter(at -> (at.toEpochMilli() - startMillis) / STEP_MILLIS == step)
                        .count())
        .toList();
  }

  private static String overlapKey(String key, int busy) {
    return key + "_at_least_" + busy + "_compacting_percent";
  }

  /**
   * Draws figure 6.6 of the thesis, how often replicas compact at the same time, and figure 6.3 for
   * each policy: throughput over time.
   */
  public static List<Picture> figures(Report report) {
    List<Picture> figures = new ArrayList<>();
    for (int nodes : List.of(3, 5, 7)) {
      if (report.cases().contains(key("off", nodes))) {
        figures.add(overlap(nodes, report));
        POLICIES.forEach(policy -> figures.add(course(policy, nodes, report)));
      }
    }
    return figures;
  }

  private static Timeline course(String policy, int nodes, Report report) {
    Map<String, List<Double>> series = report.series();
    String key = key(policy, nodes);
    return new Timeline(
        "leadership-course-%d-%s".formatted(nodes, policy),
        "leadership_policy: %s, %d nodes".formatted(policy, nodes),
        STEP_MILLIS / 1e3,
        "writes per s",
        series.get(key + "_per_s"),
        "replicas that compact",
        series.get(key + "_compacting"),
        Map.of(
            "leadership transfers",
            series.get(key + "_hand_overs"),
            "flushes",
            series.get(key + "_flushes")));
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
