// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.overhead;

import io.isolde.bench.kit.BenchOptions;
import io.isolde.bench.kit.CpuClock;
import io.isolde.bench.kit.Measurement;
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
  private static final Duration ONE_SECOND = Duration.ofSeconds(1);

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

  /** One kind of request to one of the clusters. */
  private record Variant(String name, Workload workload, TemporaryNode cluster) {}

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
      List<Variant> writes = new ArrayList<>();
      List<Variant> reads = new ArrayList<>();
      clusters.forEach(
          (name, cluster) -> {
            RowTable table = RowTable.create(cluster, "rows", run.options()).load();
            writes.add(new Variant("write_" + name, table.updates(), cluster));
            reads.add(new Variant("read_" + name, table.reads(), cluster));
          });
      List<Variant> variants = new ArrayList<>(writes);
      variants.addAll(reads);
      Map<String, List<Sample>> samples = measure(variants, run);
      Map<String, Double> metrics = costs(samples);
      clusters.forEach(
          (name, cluster) -> {
            List<Workload> workloads =
                variants.stream()
                    .filter(each -> each.cluster.equals(cluster))
                    .map(Variant::workload)
                    .toList();
            metrics.putAll(share(name, cluster, workloads, folder.path(), run));
          });
      return run.report(samples, RATIOS).with(metrics);
    }
  }

  /** Nodes that time one in so many messages; 0 for none. */
  private static TemporaryNode start(int oneIn, Run run) {
    NodeSpec spec =
        TemporaryNode.spec(run.options().withHeapUpTo(MAX_HEAP_MEGABYTES))
            .withIsoldeSetting("staleness_sample_one_in", Integer.toString(oneIn));
    return TemporaryNode.start("collection", NODES, spec, run.out());
  }

  /** Each with the processor time of its own cluster. */
  private static Map<String, List<Sample>> measure(List<Variant> variants, Run run) {
    BenchOptions options = run.options();
    for (int second = 0; second < options.warmupSeconds(); second++) {
      Workload one = variants.get(second % variants.size()).workload;
      var unused = one.run(options.inFlight(), ONE_SECOND);
    }
    Map<String, List<Sample>> samples = new LinkedHashMap<>();
    variants.forEach(each -> samples.put(each.name, new ArrayList<>()));
    for (int round = 0; round < options.rounds(); round++) {
      for (Variant each : Rounds.inOrderOf(round, variants)) {
        CpuClock clock = new CpuClock(Processes.ofNodes(each.cluster.tools()));
        Measurement seen = each.workload.run(options.inFlight(), options.measured());
        Sample sample = new Sample(seen, clock.stop(), 0);
        samples.get(each.name).add(sample);
        run.say(
            "  round %d of %d  %-18s %8.0f/s  %6.1f us of the nodes per request"
                .formatted(
                    round + 1,
                    options.rounds(),
                    each.name,
                    seen.operationsPerSecond(),
                    sample.nodeMicrosPerOperation()));
      }
    }
    return samples;
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
      String name, TemporaryNode cluster, List<Workload> workloads, Path folder, Run run) {
    CodeShare recorders = CodeShare.start(cluster.tools());
    for (Workload workload : workloads) {
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
