// SPDX-License-Identifier: Apache-2.0
package io.isolde.cli;

import io.isolde.cluster.ClusterException;
import io.isolde.cluster.LocalCluster;
import io.isolde.cluster.LocalNode;
import io.isolde.cluster.NodeSpec;
import java.io.PrintWriter;
import java.nio.file.Path;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code isolde start}. */
@Command(
    name = "start",
    description = {
      "Start the development node: one Cassandra with Isolde that stays until `isolde stop`.",
      "The options count when it starts for the first time; its data stays from then on."
    })
final class StartCommand implements Runnable {

  @Mixin private Home home;
  @Mixin private NodeOptions options;
  @Spec private CommandSpec spec;

  @Override
  public void run() {
    PrintWriter out = spec.commandLine().getOut();
    Path folder = home.folderOf(Home.DEVELOPMENT);
    if (LocalCluster.exists(folder)) {
      refuseSettings();
    } else {
      LocalCluster.create(folder, 1, options.toSpec());
    }
    LocalCluster cluster = LocalCluster.open(folder);
    try {
      Clusters.start(cluster, out);
    } catch (ClusterException e) {
      removeIfNeverStarted(cluster);
      throw e;
    }
    describe(cluster.node(1), out);
  }

  private void refuseSettings() {
    boolean isAnyGiven =
        spec.commandLine().getParseResult().matchedOptions().stream()
            .anyMatch(option -> !option.longestName().equals("--home"));
    if (isAnyGiven) {
      throw new ParameterException(
          spec.commandLine(),
          "The development node exists already and keeps its settings."
              + " `isolde stop --remove` deletes it with its data.");
    }
  }

  /** Settings with which nothing could start are not to be kept for the next attempt. */
  private static void removeIfNeverStarted(LocalCluster cluster) {
    if (!cluster.node(1).hasData()) {
      cluster.remove();
    }
  }

  private static void describe(LocalNode node, PrintWriter out) {
    NodeSpec spec = node.spec();
    out.printf("%n%s is running.%n", spec.hasPlugin() ? "Cassandra with Isolde" : "Cassandra");
    out.printf("  connect  pip install cqlsh && cqlsh %s %d%n", spec.address(), spec.nativePort());
    out.printf("  logs     %s%n", node.systemLog());
    out.printf("  data     %s%n", node.folder());
    out.printf("  stop     ./isolde stop%n");
    out.flush();
  }
}
