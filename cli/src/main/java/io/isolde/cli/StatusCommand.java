// SPDX-License-Identifier: Apache-2.0
package io.isolde.cli;

import io.isolde.cluster.LocalCluster;
import java.io.PrintWriter;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code isolde status}. */
@Command(name = "status", description = "Show all clusters and what each of their nodes is doing.")
final class StatusCommand implements Runnable {

  @Mixin private Home home;
  @Spec private CommandSpec spec;

  @Override
  public void run() {
    PrintWriter out = spec.commandLine().getOut();
    List<LocalCluster> clusters = home.all();
    if (clusters.isEmpty()) {
      out.println("There is no cluster. `isolde start` makes a node for development.");
    }
    clusters.forEach(cluster -> Clusters.show(cluster, out));
    out.flush();
  }
}
