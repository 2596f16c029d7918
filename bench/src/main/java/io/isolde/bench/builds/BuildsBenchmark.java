// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.builds;

import io.isolde.bench.kit.BenchOptions;
import io.isolde.bench.kit.Benchmark;
import io.isolde.bench.kit.Case;
import io.isolde.bench.kit.Cases;
import io.isolde.bench.kit.Load;
import io.isolde.bench.kit.Processes;
import io.isolde.bench.kit.Report;
import io.isolde.bench.kit.Run;
import io.isolde.bench.nodes.RowTable;
import io.isolde.bench.nodes.TemporaryNode;
import io.isolde.bench.transactions.MultiStatements;
import io.isolde.cluster.NodeSpec;
import io.isolde.cluster.NodeTool;
import io.isolde.cluster.ToolException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Clusters of this build and of others run at the same time, and their cases take turns. So all
 * have the same machine at the same hour, and equally warm code: two runs of another benchmark, one
 * after the other, differ by more than most changes do. The processor time of a case is that of its
 * own cluster's nodes.
 */
public final class BuildsBenchmark {
  private static final int MAX_HEAP_MEGABYTES = 1024;
  private static final String THIS = "this";
  private static final List<String> OPERATIONS =
      List.of(
          "update",
          "update_at_1",
          "read",
          "ten_updates",
          "transfer",
          "strong_write",
          "strong_read");

  private BuildsBenchmark() {}

  /** The benchmark on so many nodes for each build. */
  public static Benchmark.Part onNodes(int nodes) {
    return run -> run(nodes, run);
  }

  private static Report run(int nodes, Run run) {
    BenchOptions options = run.options().withHeapUpTo(MAX_HEAP_MEGABYTES);
    Map<String, NodeSpec> builds = builds(TemporaryNode.spec(options), options.against());
    Map<String, TemporaryNode> clusters = new LinkedHashMap<>();
    try {
      builds.forEach(
          (name, spec) -> {
            run.say("build: " + name);
            clusters.put(name, TemporaryNode.start(name, nodes, spec, run.out()));
          });
      Cases cases = new Cases();
      clusters.forEach((name, cluster) -> add(cases, name, cluster, options));
      addRatios(cases, builds.keySet().stream().filter(name -> !name.equals(THIS)).toList());
      List<NodeTool> tools =
          clusters.values().stream().flatMap(cluster -> cluster.tools().stream()).toList();
      return run.measure(tools, cases).withSuffix("_%dn".formatted(nodes));
    } finally {
      clusters.values().forEach(TemporaryNode::close);
    }
  }

  /**
   * The builds by name, this one first.
   *
   * @throws ToolException before any node starts, if there is nothing to compare with
   */
  static Map<String, NodeSpec> builds(NodeSpec spec, List<Path> against) {
    if (against.isEmpty()) {
      throw new ToolException(
          "There is no build to compare with. Name the isolde.jar of one with --against.");
    }
    Map<String, NodeSpec> builds = new LinkedHashMap<>(Map.of(THIS, spec));
    for (Path jar : against) {
      if (!Files.isRegularFile(jar)) {
        throw new ToolException(
            "There is no file %s. Name the isolde.jar of a build.".formatted(jar));
      }
      if (builds.putIfAbsent(name(jar), spec.withPluginJar(jar)) != null) {
        throw new ToolException(
            "Two builds have the name \"%s\". Rename a file.".formatted(name(jar)));
      }
    }
    return builds;
  }

  private static String name(Path jar) {
    return jar.getFileName().toString().replaceFirst("\\.jar$", "");
  }

  private static void add(Cases cases, String name, TemporaryNode cluster, BenchOptions options) {
    RowTable rows = RowTable.createTransactional(cluster, "transactional", options).load();
    RowTable strong = RowTable.createStrong(cluster, "strong", "periodic", options).load();
    Processes nodes = Processes.ofNodes(cluster.tools());
    MultiStatements transactions = MultiStatements.transactions(cluster.session(), rows);
    Map<String, Load> loads =
        Map.of(
            "update", rows.updates(),
            "update_at_1", rows.updates().at(1),
            "read", rows.reads(),
            "ten_updates", transactions.tenUpdates(),
            "transfer", transactions.transfer(),
            "strong_write", strong.updates(),
            "strong_read", strong.reads());
    OPERATIONS.forEach(
        operation -> cases.add(new Case(operation + "_" + name, loads.get(operation)).on(nodes)));
  }

  private static void addRatios(Cases cases, List<String> others) {
    for (String operation : OPERATIONS) {
      for (String other : others) {
        cases.ratio(operation + "_vs_" + other, operation + "_" + THIS, operation + "_" + other);
      }
    }
  }
}
