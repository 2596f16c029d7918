// SPDX-License-Identifier: Apache-2.0
package io.isolde.cluster;

import io.isolde.cluster.ClusterException.Reason;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * A Cassandra cluster on this machine: a folder with one folder per node.
 *
 * <p>All nodes use the same ports on addresses that count up. Create a cluster once, then open it
 * from any process. Closing it kills the nodes of an ephemeral cluster and leaves others running.
 */
public final class LocalCluster implements AutoCloseable {

  private static final String PROPERTIES = "cluster.properties";
  private static final String NODES = "nodes";
  private static final Set<NodeState> AWAITED = Set.of(NodeState.STOPPED, NodeState.STARTING);

  private final Path folder;
  private final List<LocalNode> nodes;

  private LocalCluster(Path folder, int nodes) {
    this.folder = folder;
    this.nodes =
        IntStream.rangeClosed(1, nodes)
            .mapToObj(number -> new LocalNode(folder.resolve("node" + number)))
            .toList();
  }

  /**
   * Creates a cluster without starting it.
   *
   * @param folder where to put it; must not exist
   * @param nodes how many nodes, each with the same share of the ring
   * @param first how to set up the first node; the others differ in address and tokens only
   */
  public static LocalCluster create(Path folder, int nodes, NodeSpec first) {
    if (nodes < 1) {
      throw new ClusterException(
          Reason.ILLEGAL_SETTING, "A cluster has at least one node, not %d.".formatted(nodes));
    }
    if (Files.exists(folder)) {
      throw new ClusterException(
          Reason.FOLDER_EXISTS,
          "There is something at %s already. Remove it, or choose another place for the cluster."
              .formatted(folder.toAbsolutePath()));
    }
    List<NodeSpec> specs =
        IntStream.range(0, nodes).mapToObj(index -> specOf(folder, first, index, nodes)).toList();
    NodeFolder.createFolder(folder);
    LocalCluster cluster = new LocalCluster(realPath(folder), nodes);
    for (int i = 0; i < nodes; i++) {
      cluster.nodes.get(i).write(specs.get(i));
    }
    NodeFolder.writeProperties(folder.resolve(PROPERTIES), Map.of(NODES, Integer.toString(nodes)));
    return cluster;
  }

  /**
   * Every node is a seed, so that they can start together and in any order: a node that isn't one
   * gives up when no seed answers it within moments.
   */
  private static NodeSpec specOf(Path folder, NodeSpec first, int index, int nodes) {
    String seeds =
        IntStream.range(0, nodes)
            .mapToObj(i -> NodePlaces.address(first.address(), i) + ":" + first.storagePort())
            .collect(Collectors.joining(","));
    NodeSpec placed =
        first
            .withAddress(NodePlaces.address(first.address(), index))
            .withCassandraSetting("seed_provider", CassandraYaml.seeds(seeds))
            .withCassandraSetting("initial_token", initialTokens(first, index, nodes));
    return first.cassandraSettings().containsKey("cluster_name")
        ? placed
        : placed.withCassandraSetting("cluster_name", "\"%s\"".formatted(folder.getFileName()));
  }

  /** A list, since tokens that nodes draw by themselves would keep them from starting together. */
  private static String initialTokens(NodeSpec first, int index, int nodes) {
    return NodePlaces.tokens(nodes, first.tokens()).get(index).stream()
        .map(token -> Long.toString(token))
        .collect(Collectors.joining(",", "\"", "\""));
  }

  /** Opens a cluster that was created before, running or not. */
  public static LocalCluster open(Path folder) {
    if (!exists(folder)) {
      throw new ClusterException(
          Reason.UNKNOWN_CLUSTER, "There is no cluster at %s.".formatted(folder.toAbsolutePath()));
    }
    String nodes = NodeFolder.readProperties(folder.resolve(PROPERTIES)).get(NODES);
    return new LocalCluster(realPath(folder), Integer.parseInt(nodes));
  }

  /** Returns whether the folder holds a cluster. */
  public static boolean exists(Path folder) {
    return Files.exists(folder.resolve(PROPERTIES));
  }

  /** Kills and deletes the cluster in a folder if there is one. */
  public static void removeIfPresent(Path folder) {
    if (exists(folder)) {
      open(folder).remove();
    }
  }

  /** Returns the name, which is that of the folder. */
  public String name() {
    return folder.getFileName().toString();
  }

  /** Returns the folder that holds everything. */
  public Path folder() {
    return folder;
  }

  /** Returns the nodes, in the order of their addresses and of the ring. */
  public List<LocalNode> nodes() {
    return nodes;
  }

  /** Returns a node by its number; the first is 1. */
  public LocalNode node(int number) {
    return nodes.get(number - 1);
  }

  /** Returns where CQL clients connect. */
  public List<InetSocketAddress> contactPoints() {
    return nodes.stream().map(LocalNode::contactPoint).toList();
  }

  /** Starts all nodes that are not running, and waits until all answer CQL and see each other. */
  public void start() {
    start(progress -> {});
  }

  /**
   * Starts all nodes that are not running, and waits until all answer CQL and see each other; those
   * that are paused stay so. If one fails, those started here are killed.
   *
   * @param progress is told in words what has happened
   */
  public void start(Consumer<String> progress) {
    List<LocalNode> stopped = nodes.stream().filter(node -> !node.isAlive()).toList();
    Distribution distribution = Distribution.ofSystemProperties();
    Machine.requireMemory(stopped.stream().map(LocalNode::spec).toList());
    stopped.forEach(LocalCluster::requireFreePorts);
    List<LocalNode> awaited =
        nodes.stream().filter(node -> AWAITED.contains(node.state())).toList();
    List<LocalNode> startedHere = new ArrayList<>();
    try {
      for (LocalNode node : stopped) {
        if (node.spawn(distribution)) {
          startedHere.add(node);
        }
      }
      awaitReady(awaited, progress);
      awaitMembership(LocalNode.START_BOUND);
    } catch (ClusterException e) {
      startedHere.forEach(LocalNode::kill);
      throw e;
    }
  }

  private static void requireFreePorts(LocalNode node) {
    try {
      Machine.requireFreePorts(node.spec());
    } catch (ClusterException e) {
      if (!node.isAlive()) {
        throw e;
      }
      // Another command has started it since this one looked.
    }
  }

  private static void awaitReady(List<LocalNode> awaited, Consumer<String> progress) {
    long start = System.nanoTime();
    for (LocalNode node : awaited) {
      node.awaitReady(LocalNode.START_BOUND);
      double seconds = (System.nanoTime() - start) / 1e9;
      progress.accept("%s answers CQL after %.1f s".formatted(node, seconds));
    }
  }

  /** Waits until each running node sees all running nodes as up, and as joined to the ring. */
  public void awaitMembership(Duration bound) {
    List<LocalNode> running = nodes.stream().filter(LocalNode::isAlive).toList();
    if (running.size() > 1
        && !Waiting.until(bound, () -> running.stream().allMatch(n -> sees(n, running)))) {
      throw new ClusterException(
          Reason.TIMEOUT,
          "The %d running nodes of %s did not see each other within %d s."
              .formatted(running.size(), name(), bound.toSeconds()));
    }
  }

  private static boolean sees(LocalNode observer, List<LocalNode> others) {
    List<String> addresses = others.stream().map(node -> node.spec().address()).toList();
    try (NodeTool tool = observer.nodeTool()) {
      return tool.liveNodes().containsAll(addresses) && tool.joinedNodes().containsAll(addresses);
    }
  }

  /**
   * Waits until all running nodes have the same schema. Asks each of them: one that has not heard
   * of a change yet believes that all agree.
   */
  public void awaitSchemaAgreement(Duration bound) {
    if (!Waiting.until(bound, () -> Set.copyOf(schemaVersions().values()).size() == 1)) {
      throw new ClusterException(
          Reason.TIMEOUT,
          "The running nodes of %s did not agree on the schema within %d s: %s"
              .formatted(name(), bound.toSeconds(), schemaVersions()));
    }
  }

  /** Of the running nodes, by their names. */
  private Map<String, String> schemaVersions() {
    Map<String, String> versions = new TreeMap<>();
    nodes.stream()
        .filter(LocalNode::isAlive)
        .forEach(node -> versions.put(node.name(), schemaVersion(node)));
    return versions;
  }

  private static String schemaVersion(LocalNode node) {
    try (NodeTool tool = node.nodeTool()) {
      return (String)
          tool.attribute("org.apache.cassandra.db:type=StorageService", "SchemaVersion");
    }
  }

  /** Stops all nodes in an orderly way. */
  public void stop() {
    nodes.parallelStream().forEach(LocalNode::stop);
  }

  /** Kills all nodes. */
  public void kill() {
    nodes.parallelStream().forEach(LocalNode::kill);
  }

  /** Kills all nodes and deletes the folder with all data. */
  public void remove() {
    kill();
    try {
      NodeFolder.delete(folder);
    } catch (IOException e) {
      throw new ClusterException(Reason.IO, "The folder %s can't be deleted.".formatted(folder), e);
    }
  }

  /** Kills the ephemeral nodes; their folders stay for a look at the logs. */
  @Override
  public void close() {
    if (exists(folder)) {
      nodes.stream().filter(node -> node.spec().isEphemeral()).forEach(LocalNode::kill);
    }
  }

  private static Path realPath(Path folder) {
    try {
      return folder.toRealPath();
    } catch (IOException e) {
      throw new ClusterException(Reason.IO, "The folder %s can't be read.".formatted(folder), e);
    }
  }
}
