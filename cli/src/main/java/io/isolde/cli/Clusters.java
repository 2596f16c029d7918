// SPDX-License-Identifier: Apache-2.0
package io.isolde.cli;

import com.datastax.oss.driver.api.core.DriverException;
import com.datastax.oss.driver.api.core.cql.Row;
import io.isolde.cluster.LocalCluster;
import io.isolde.cluster.LocalNode;
import io.isolde.cluster.NodeSpec;
import io.isolde.cluster.NodeState;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

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
    List<LocalNode> ready =
        cluster.nodes().stream()
            .filter(node -> node.spec().hasPlugin() && node.state() == NodeState.READY)
            .toList();
    ready.stream().findFirst().ifPresent(node -> out.printf("  oracle  %s%n", oracle(node)));
    ready.forEach(node -> problems(node).forEach(what -> out.printf("  problem %s%n", what)));
  }

  /** What a node that answers can't do all the same. */
  private static List<String> problems(LocalNode node) {
    List<String> problems = new ArrayList<>();
    try (CqlConnection connection = CqlConnection.open(node.contactPoint(), Optional.empty())) {
      for (Row oracle : connection.execute("SELECT problem FROM isolde.oracle")) {
        if (!oracle.isNull("problem")) {
          problems.add(node.name() + ", oracle: " + oracle.getString("problem"));
        }
      }
      for (Row group : connection.execute("SELECT * FROM isolde.replica_groups")) {
        if (!group.isNull("problem")) {
          problems.add(
              "%s, group %d of %s: %s"
                  .formatted(
                      node.name(),
                      group.getInt("group_number"),
                      group.getString("keyspace_name"),
                      group.getString("problem")));
        }
      }
    } catch (CommandFailedException | DriverException e) {
      problems.add(node.name() + " does not say: " + e.getMessage());
    }
    return problems;
  }

  private static String oracle(LocalNode node) {
    try (CqlConnection connection = CqlConnection.open(node.contactPoint(), Optional.empty())) {
      return connection.execute("SELECT * FROM isolde.oracle").stream()
          .findFirst()
          .map(Clusters::describe)
          .orElse("unknown");
    } catch (CommandFailedException e) {
      return "unknown: " + e.getMessage();
    }
  }

  private static String describe(Row oracle) {
    if (oracle.isNull("term")) {
      return "nobody leads";
    }
    return "leader %s, members %s, stable lag %d ms, %d pending"
        .formatted(
            oracle.isNull("leader") ? "none" : oracle.getString("leader"),
            String.join(" ", oracle.getList("members", String.class)),
            oracle.getLong("stable_lag_ms"),
            oracle.getLong("pending_commits"));
  }
}
