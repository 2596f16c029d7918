// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.overhead;

import io.isolde.bench.kit.Case;
import io.isolde.bench.kit.Processes;
import io.isolde.bench.kit.Ratio;
import io.isolde.bench.kit.Report;
import io.isolde.bench.kit.Rounds;
import io.isolde.bench.kit.Run;
import io.isolde.bench.kit.Sample;
import io.isolde.bench.kit.Workload;
import io.isolde.bench.nodes.RowTable;
import io.isolde.bench.nodes.TemporaryFolder;
import io.isolde.bench.nodes.TemporaryNode;
import io.isolde.cluster.NodeSpec;
import io.isolde.cluster.NodeTool;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What it costs to time messages for the prediction of staleness: clusters of two nodes that time
 * none, the default share, or all; the same load on them, alternating. Both nodes of a cluster have
 * all rows, and a request waits for both, so that each sends a message to the other.
 */
public final class CollectionBenchmark {
  private static final int NODES = 2;
  private static final int MAX_HEAP_MEGABYTES = 768;
  private static final int DEFAULT_ONE_IN = 64;

  /** The package that does it. */
  private static final String TIMING = "io.isolde.staleness.collect";

  /** Each of writes and reads. */
  private static final Duration SAMPLED = Duration.ofSeconds(60);

  private static final List<Ratio> RATIOS =
      List.of(
          new Ratio("write_one_in_64_vs_none", "write_one_in_64", "write_none"),
          new Ratio("write_all_vs_none", "write_all", "write_none"),
          new Ratio("read_one_in_64_vs_none", "read_one_in_64", "read_none"),
          new Ratio("read_all_vs_none", "read_all", "read_none"));

  private CollectionBenchmark() {}

  /** Runs it. */
  public static Report run(Run run) {
    try (TemporaryFolder folder = new TemporaryFolder("collection");
        TemporaryNode none = start(0, run);
        TemporaryNode some = start(DEFAULT_ONE_IN, run);
        TemporaryNode all = start(1, run)) {
      Map<String, TemporaryNode> clusters = new LinkedHashMap<>();
      clusters.put("none", none);
      clusters.put("one_in_64", some);
      clusters.put("all", all);
      Map<String, RowTable> tables = new LinkedHashMap<>();
      clusters.forEach(
          (name, cluster) ->
              tables.put(name, RowTable.create(cluster, "rows", run.options()).load()));
      List<Case> cases = new ArrayList<>();
      tables.forEach((name, table) -> cases.add(new Case("write_" + name, table.updates())));
      tables.forEach((name, table) -> cases.add(new Case("read_" + name, table.reads())));
      List<NodeTool> tools = clusters.values().stream().flatMap(c -> c.tools().stream()).toList();
      Rounds rounds = new Rounds(run, Processes.ofNodes(tools));
      rounds.warmUpAlternating(cases);
      List<Case> apart = cases.stream().map(each -> each.on(processes(each, clusters))).toList();
      Map<String, List<Sample>> samples = rounds.measure(round -> Rounds.inOrderOf(round, apart));
      Map<String, Double> metrics = costs(samples);
      clusters.forEach(
          (name, cluster) ->
              metrics.putAll(share(name, cluster, tables.get(name), folder.path(), run)));
      return run.report(samples, RATIOS).with(metrics);
    }
  }

  private static Processes processes(Case each, Map<String, TemporaryNode> clusters) {
    String cluster = each.name().substring(each.name().indexOf('_') + 1);
    return Processes.ofNodes(clusters.get(cluster).tools());
  }

  /** Nodes that time one in so many messages; 0 for none. */
  private static TemporaryNode start(int oneIn, Run run) {
    NodeSpec spec =
        TemporaryNode.spec(run.options().withHeapUpTo(MAX_HEAP_MEGABYTES))
            .withIsoldeSetting("staleness_sample_one_in", Integer.toString(oneIn));
    return TemporaryNode.start("collection", NODES, spec, run.out());
  }

  /** Processor time, which says more than throughput where nodes share few cores. */
  private static Map<String, Double> costs(Map<String, List<Sample>> samples) {
    Map<String, Double> metrics = new LinkedHashMap<>();
    samples.forEach(
        (name, rounds) ->
            metrics.put(
                name + "_node_cpu_us", Sample.median(rounds, Sample::nodeMicrosPerOperation)));
    return metrics;
  }

  /** Which share of the nodes' code the timing is; the cluster that times none has none of it. */
  private static Map<String, Double> share(
      String name, TemporaryNode cluster, RowTable table, Path folder, Run run) {
    CodeShare recorders = CodeShare.start(cluster.tools());
    for (Workload workload : List.of(table.updates(), table.reads())) {
      var unused = workload.run(run.options().inFlight(), SAMPLED);
    }
    CodeShare.Seen seen = recorders.stop(TIMING, folder);
    run.say(
        "  %-18s %.2f%% of %d samples of the nodes' code"
            .formatted(name, seen.percent(), seen.samples()));
    return Map.of(
        name + "_code_percent", seen.percent(), name + "_code_samples", (double) seen.samples());
  }
}
