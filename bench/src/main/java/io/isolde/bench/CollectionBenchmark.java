// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What it costs to time messages for the prediction of staleness: two clusters of two nodes, one
 * that times none and one that times the default share, or all; the same load on them in turns.
 */
final class CollectionBenchmark implements Benchmark {
  private static final Duration ONE_SECOND = Duration.ofSeconds(1);
  private static final int DEFAULT_ONE_IN = 64;

  /** The package that does it. */
  private static final String TIMING = "io.isolde.staleness.collect";

  /** Each of writes and reads. */
  private static final Duration SAMPLED = Duration.ofSeconds(60);

  @Override
  public String name() {
    return "collection";
  }

  @Override
  public String summary() {
    return "what it costs that nodes time their messages, to predict staleness";
  }

  @Override
  public Report run(BenchOptions options, PrintWriter out) {
    try (TemporaryFolder folder = new TemporaryFolder("collection");
        TwinCluster none =
            new TwinCluster(folder.path().resolve("none"), "127.0.61.1", 0, options);
        TwinCluster some =
            new TwinCluster(folder.path().resolve("some"), "127.0.62.1", DEFAULT_ONE_IN, options);
        TwinCluster all = new TwinCluster(folder.path().resolve("all"), "127.0.63.1", 1, options)) {
      Map<String, TwinCluster> clusters = new LinkedHashMap<>();
      clusters.put("none", none);
      clusters.put("one_in_64", some);
      clusters.put("all", all);
      Map<String, List<Sample>> samples = measure(clusters, options, out);
      return Report.of(name(), MachineDescription.ofThisMachine(), options, samples, ratios())
          .with(costs(samples))
          .with(shares(clusters, options, folder.path(), out));
    }
  }

  /** Which share of the nodes' code the timing is; the cluster that times none has none of it. */
  private static Map<String, Double> shares(
      Map<String, TwinCluster> clusters, BenchOptions options, Path folder, PrintWriter out) {
    Map<String, Double> shares = new LinkedHashMap<>();
    clusters.forEach(
        (name, cluster) -> {
          CodeShare recorders = CodeShare.start(cluster.tools());
          for (Workload workload : List.of(cluster.writes(), cluster.reads())) {
            var unused = ClosedLoop.run(workload, options.inFlight(), SAMPLED);
          }
          CodeShare.Seen seen = recorders.stop(TIMING, folder);
          out.printf(
              "  %-18s %.2f%% of %d samples of the nodes' code%n",
              name, seen.percent(), seen.samples());
          shares.put(name + "_code_percent", seen.percent());
          shares.put(name + "_code_samples", (double) seen.samples());
        });
    return shares;
  }

  private static List<Ratio> ratios() {
    return List.of(
        new Ratio("write_one_in_64_vs_none", "write_one_in_64", "write_none"),
        new Ratio("write_all_vs_none", "write_all", "write_none"),
        new Ratio("read_one_in_64_vs_none", "read_one_in_64", "read_none"),
        new Ratio("read_all_vs_none", "read_all", "read_none"));
  }

  private static Map<String, List<Sample>> measure(
      Map<String, TwinCluster> clusters, BenchOptions options, PrintWriter out) {
    List<String> names = new ArrayList<>();
    for (String kind : List.of("write", "read")) {
      clusters.keySet().forEach(name -> names.add(kind + "_" + name));
    }
    for (int second = 0; second < options.warmupSeconds(); second++) {
      String name = names.get(second % names.size());
      var unused = ClosedLoop.run(workload(clusters, name), options.inFlight(), ONE_SECOND);
    }
    Map<String, List<Sample>> samples = new LinkedHashMap<>();
    names.forEach(name -> samples.put(name, new ArrayList<>()));
    for (int round = 0; round < options.rounds(); round++) {
      for (String name : Rounds.inOrderOf(round, names)) {
        CpuClock.Running clock = cluster(clusters, name).cpu().start();
        Measurement seen =
            ClosedLoop.run(workload(clusters, name), options.inFlight(), options.measured());
        Sample sample = new Sample(seen, clock.stop());
        samples.get(name).add(sample);
        out.printf(
            "  round %d of %d  %-18s %8.0f/s  %6.1f us of the nodes per request%n",
            round + 1,
            options.rounds(),
            name,
            seen.operationsPerSecond(),
            sample.nodeMicrosPerOperation());
        out.flush();
      }
    }
    return samples;
  }

  private static TwinCluster cluster(Map<String, TwinCluster> clusters, String name) {
    return clusters.get(name.substring(name.indexOf('_') + 1));
  }

  private static Workload workload(Map<String, TwinCluster> clusters, String name) {
    TwinCluster cluster = cluster(clusters, name);
    return name.startsWith("write") ? cluster.writes() : cluster.reads();
  }

  /** Processor time, which tells more than throughput where nodes share few cores. */
  private static Map<String, Double> costs(Map<String, List<Sample>> samples) {
    Map<String, Double> metrics = new LinkedHashMap<>();
    samples.forEach(
        (name, rounds) ->
            metrics.put(
                name + "_node_cpu_us",
                Spread.of(rounds.stream().map(Sample::nodeMicrosPerOperation).toList()).median()));
    return metrics;
  }
}
