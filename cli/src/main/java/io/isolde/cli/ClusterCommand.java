// SPDX-License-Identifier: Apache-2.0
package io.isolde.cli;

import io.isolde.cluster.LocalCluster;
import io.isolde.cluster.LocalNode;
import java.io.PrintWriter;
import java.util.function.Consumer;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code isolde cluster …}: one method per command. */
@Command(
    name = "cluster",
    description = "Create, start, stop, show and remove clusters on this machine.")
final class ClusterCommand {

  private static final String NAME = "The cluster's name.";
  private static final String NODE = "Just this node, by its number.";

  @Spec private CommandSpec spec;

  @Command(description = "Create a cluster.")
  void create(
      @Mixin Home home,
      @Mixin NodeOptions options,
      @Parameters(paramLabel = "NAME", description = NAME) String name,
      @Option(
              names = "--nodes",
              paramLabel = "NUMBER",
              defaultValue = "3",
              description = "How many nodes.")
          int nodes,
      @Option(names = "--start", description = "Start it, too.") boolean isToBeStarted) {
    LocalCluster cluster = LocalCluster.create(home.folderOf(name), nodes, options.toSpec());
    say("Created %s in %s.".formatted(name, cluster.folder()));
    if (isToBeStarted) {
      Clusters.start(cluster, out());
    }
  }

  @Command(description = "Start the nodes that are not running, and wait until they answer.")
  void start(
      @Mixin Home home,
      @Parameters(paramLabel = "NAME", description = NAME) String name,
      @Option(names = "--node", paramLabel = "NUMBER", description = NODE) Integer number) {
    LocalCluster cluster = home.open(name);
    if (number == null) {
      Clusters.start(cluster, out());
    } else {
      node(cluster, number).start();
      say("%s answers CQL.".formatted(node(cluster, number)));
    }
  }

  @Command(description = "Stop the running nodes; their data stays.")
  void stop(
      @Mixin Home home,
      @Parameters(paramLabel = "NAME", description = NAME) String name,
      @Option(names = "--node", paramLabel = "NUMBER", description = NODE) Integer number,
      @Option(names = "--kill", description = "Kill them (kill -9).") boolean isToBeKilled) {
    LocalCluster cluster = home.open(name);
    Consumer<LocalNode> end = isToBeKilled ? LocalNode::kill : LocalNode::stop;
    if (number != null) {
      end.accept(node(cluster, number));
    } else {
      cluster.nodes().parallelStream().forEach(end);
    }
    say("Stopped %s.".formatted(number == null ? name : node(cluster, number)));
  }

  @Command(description = "Show what each node is doing.")
  void status(@Mixin Home home, @Parameters(paramLabel = "NAME", description = NAME) String name) {
    Clusters.show(home.open(name), out());
    out().flush();
  }

  @Command(description = "Kill the nodes and delete their data, settings and logs.")
  void remove(@Mixin Home home, @Parameters(paramLabel = "NAME", description = NAME) String name) {
    home.open(name).remove();
    say("Removed %s.".formatted(name));
  }

  @Command(description = "List the clusters.")
  void list(@Mixin Home home) {
    home.all()
        .forEach(
            cluster ->
                say(
                    "%-20s %d node(s)  %s"
                        .formatted(cluster.name(), cluster.nodes().size(), cluster.folder())));
  }

  private LocalNode node(LocalCluster cluster, int number) {
    int nodes = cluster.nodes().size();
    if (number < 1 || number > nodes) {
      throw new ParameterException(
          spec.commandLine(),
          "%s has no node %d; its nodes are 1 to %d.".formatted(cluster.name(), number, nodes));
    }
    return cluster.node(number);
  }

  private PrintWriter out() {
    return spec.commandLine().getOut();
  }

  private void say(String sentence) {
    out().println(sentence);
    out().flush();
  }
}
