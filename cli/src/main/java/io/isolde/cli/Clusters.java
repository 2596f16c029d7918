// SPDX-License-Identifier: Apache-2.0
package io.isolde.cli;

import io.isolde.cluster.LocalCluster;
import io.isolde.cluster.LocalNode;
import io.isolde.cluster.NodeSpec;
import java.io.PrintWriter;
import java.util.Locale;

/** What several commands do with a cluster and say about it. */
final class Clusters {

  private Clusters() {}

  static void start(LocalCluster cluster, PrintWriter out) {
    boolean isRunning = cluster.nodes().stream().allMatch(LocalNode::isReady);
    out.println(
        isRunning
            ? "%s is running already.".formatted(cluster.name())
            : "Starting %s, which takes 10 to 60 seconds.".formatted(cluster.name()));
    out.flush();
    cluster.start(
        progress -> {
          out.println(progress);
          out.flush();
        });
  }

  static void show(LocalCluster cluster, PrintWriter out) {
    out.printf("%s in %s%n", cluster.name(), cluster.folder());
    for (LocalNode node : cluster.nodes()) {
      NodeSpec spec = node.spec();
      out.printf(
          "  %-7s %-21s %-9s %-10s heap %d MB, %s%n",
          node.name(),
          spec.address() + ":" + spec.nativePort(),
          node.state().name().toLowerCase(Locale.ROOT),
          node.pid().isPresent() ? "pid " + node.pid().getAsLong() : "",
          spec.heapMegabytes(),
          spec.hasPlugin() ? "with the plugin" : "stock");
    }
  }
}
