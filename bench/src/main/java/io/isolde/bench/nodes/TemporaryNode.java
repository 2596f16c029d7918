// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.nodes;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.CqlSessionBuilder;
import com.datastax.oss.driver.api.core.config.DefaultDriverOption;
import com.datastax.oss.driver.api.core.config.DriverConfigLoader;
import com.datastax.oss.driver.api.core.metadata.Node;
import io.isolde.bench.kit.BenchOptions;
import io.isolde.client.IsoldeSessionBuilder;
import io.isolde.cluster.ClusterException;
import io.isolde.cluster.LocalCluster;
import io.isolde.cluster.LocalNode;
import io.isolde.cluster.Network;
import io.isolde.cluster.NodeSpec;
import io.isolde.cluster.NodeTool;
import io.isolde.cluster.ToolException;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * A node, or a small cluster, that is gone, with all of its data, when it is closed or when this
 * process ends.
 *
 * <p>It runs on the usual ports of the first address of this machine, of 127.0.0.1, 127.0.0.2 and
 * so on, that has them free; beside any other node.
 */
public final class TemporaryNode implements AutoCloseable {
  /** One for each node, as in all published figures. */
  private static final int TOKENS = 1;

  private static final int ADDRESSES = 20;
  private static final Duration AGREEMENT = Duration.ofMinutes(2);
  private static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(15);
  private static final String NODE_TIMEOUT = "12s";

  private final Path home;
  private final LocalCluster cluster;
  private final Thread atExit = new Thread(this::remove, "remove-node");

  private boolean isKept;
  private NodeDisks disks;
  private CqlSession session;
  private List<NodeTool> tools = List.of();

  private TemporaryNode(Path home, LocalCluster cluster) {
    this.home = home;
    this.cluster = cluster;
    Runtime.getRuntime().addShutdownHook(atExit);
  }

  /**
   * Returns how nodes of benchmarks are set up: with the plugin, and nothing is left of them. What
   * waits in a queue is measured as that, and does not end as an error; also while the nodes' code
   * is not compiled yet.
   */
  public static NodeSpec spec(BenchOptions options) {
    return NodeSpec.standard()
        .withHeapMegabytes(options.heapMegabytes())
        .withEphemeral(true)
        .withTokens(TOKENS)
        .withCassandraSetting("auto_snapshot", "false")
        .withCassandraSetting("read_request_timeout", NODE_TIMEOUT)
        .withCassandraSetting("write_request_timeout", NODE_TIMEOUT)
        .withCassandraSetting("cas_contention_timeout", NODE_TIMEOUT);
  }

  /** {@link #start(String, int, NodeSpec, PrintWriter)} of one node. */
  public static TemporaryNode start(String name, NodeSpec spec, PrintWriter out) {
    return start(name, 1, spec, out);
  }

  /**
   * Starts a node, or a cluster of several, and waits until all answer.
   *
   * @param name of the cluster
   * @param nodes how many, on addresses that follow one another
   * @param spec the address in it is replaced
   * @param out is told the progress
   * @throws ClusterException if it can't start, also if no address has free ports
   */
  public static TemporaryNode start(String name, int nodes, NodeSpec spec, PrintWriter out) {
    return start(name, nodes, spec, false, out);
  }

  /**
   * As {@link #start(String, int, NodeSpec, PrintWriter)}; each node has a disk of its own.
   *
   * @throws ToolException if this process may not give them disks
   */
  public static TemporaryNode startOnDisks(String name, int nodes, NodeSpec spec, PrintWriter out) {
    return start(name, nodes, spec, true, out);
  }

  private static TemporaryNode start(
      String name, int nodes, NodeSpec spec, boolean isOnDisks, PrintWriter out) {
    ClusterException taken = null;
    for (int i = 1; i <= ADDRESSES; i++) {
      TemporaryNode node = create(name, nodes, spec.withAddress("127.0.0." + i));
      try {
        node.disks = isOnDisks ? new NodeDisks(node.cluster) : null;
        node.boot(out);
        return node;
      } catch (ClusterException e) {
        node.close();
        if (e.reason() != ClusterException.Reason.PORT_TAKEN) {
          throw e;
        }
        taken = taken == null ? e : taken;
      }
    }
    throw taken;
  }

  /**
   * Starts a cluster of nodes that can be cut off from one another, in the {@link Network} that
   * this process has of its own.
   */
  public static TemporaryNode startApart(String name, int nodes, NodeSpec spec, PrintWriter out) {
    Network.create(nodes);
    return startOnHosts(name, nodes, spec, out);
  }

  /** Starts a cluster on hosts of the network that this process has of its own. */
  public static TemporaryNode startOnHosts(String name, int nodes, NodeSpec spec, PrintWriter out) {
    TemporaryNode node = create(name, nodes, spec.withAddress(Network.address(1)));
    Network.assign(node.cluster);
    node.boot(out);
    return node;
  }

  private void boot(PrintWriter out) {
    cluster.start(
        progress -> {
          out.println("  " + progress);
          out.flush();
        });
  }

  private static TemporaryNode create(String name, int nodes, NodeSpec spec) {
    try {
      // As in the home of the command line, so that its commands work on what is kept.
      Path home = Files.createTempDirectory("isolde-" + name + "-");
      Path folder = home.resolve("clusters").resolve(name);
      return new TemporaryNode(home, LocalCluster.create(folder, nodes, spec));
    } catch (IOException e) {
      throw new ToolException("A folder for temporary files can't be created: " + e + ".", e);
    }
  }

  /** Returns the node, or the first of several. */
  public LocalNode node() {
    return cluster.node(1);
  }

  /** Returns all nodes. */
  public List<LocalNode> nodes() {
    return cluster.nodes();
  }

  /** Returns for calls to all nodes what is closed with them. */
  public List<NodeTool> tools() {
    if (tools.isEmpty()) {
      tools = cluster.nodes().stream().map(LocalNode::nodeTool).toList();
    }
    return tools;
  }

  /** Returns a session with all nodes, which is closed with them. */
  public CqlSession session() {
    if (session == null) {
      session = connect();
    }
    return session;
  }

  /** Creates a keyspace unless it is there, with a replica of all rows on each node. */
  public void createKeyspace(String keyspace) {
    createKeyspace(keyspace, "'class': 'SimpleStrategy'");
  }

  /**
   * As {@link #createKeyspace(String)}, replicated otherwise.
   *
   * @param strategy its class and options, as in CQL; without the number of replicas
   */
  public void createKeyspace(String keyspace, String strategy) {
    session()
        .execute(
            "CREATE KEYSPACE IF NOT EXISTS %s WITH replication = {%s, 'replication_factor': %d}"
                .formatted(keyspace, strategy, cluster.nodes().size()));
    awaitSchema();
  }

  /** Waits until all nodes know of all tables. */
  public void awaitSchema() {
    cluster.awaitSchemaAgreement(AGREEMENT);
  }

  /** Writes what all nodes have of a keyspace to disk. */
  public void flush(String keyspace) {
    tools().forEach(tool -> tool.flush(keyspace));
  }

  /** Makes the disks of {@link #startOnDisks} read, and write, so much and no more. */
  public void limitDisks(int megabytesPerSecond) {
    disks.limit((long) megabytesPerSecond << 20);
  }

  /** Returns a node as the driver knows it, by its address. */
  public Node node(String address) {
    return session().getMetadata().getNodes().values().stream()
        .filter(node -> isAt(node, address))
        .findFirst()
        .orElseThrow();
  }

  /** Returns whether a node has this address. */
  public static boolean isAt(Node node, String address) {
    return node.getEndPoint().toString().contains(address + ":");
  }

  /** Returns the folder that {@code --home} takes. */
  public Path home() {
    return home;
  }

  /** Connects to all nodes; requests are at QUORUM unless told. */
  public CqlSession connect() {
    return connect(CqlSession.builder());
  }

  /** As {@link #connect}; requests of strong keyspaces go to leaders. The caller closes it. */
  public CqlSession connectRouted() {
    return connect(new IsoldeSessionBuilder());
  }

  /** As {@link #connectRouted}; each request waits for the node that it was sent to. */
  public CqlSession connectRoutedWithoutHedging() {
    return connect(new IsoldeSessionBuilder().withHedgingAfter(Duration.ZERO));
  }

  private CqlSession connect(CqlSessionBuilder builder) {
    return builder
        .addContactPoints(cluster.contactPoints())
        .withLocalDatacenter("datacenter1")
        .withConfigLoader(
            DriverConfigLoader.programmaticBuilder()
                .withDuration(DefaultDriverOption.REQUEST_TIMEOUT, REQUEST_TIMEOUT)
                .withString(DefaultDriverOption.REQUEST_CONSISTENCY, "QUORUM")
                .withBoolean(DefaultDriverOption.METADATA_SCHEMA_ENABLED, false)
                .withDuration(DefaultDriverOption.CONNECTION_INIT_QUERY_TIMEOUT, REQUEST_TIMEOUT)
                .withDuration(DefaultDriverOption.RECONNECTION_BASE_DELAY, Duration.ofMillis(500))
                .withDuration(DefaultDriverOption.RECONNECTION_MAX_DELAY, Duration.ofSeconds(2))
                .build())
        .build();
  }

  /** Lets it be: neither {@link #close} nor the end of this process remove it any more. */
  public void keep() {
    isKept = true;
    Runtime.getRuntime().removeShutdownHook(atExit);
  }

  @Override
  public void close() {
    if (isKept) {
      return;
    }
    try {
      Runtime.getRuntime().removeShutdownHook(atExit);
    } catch (IllegalStateException alreadyAtExit) {
      return; // which removes it
    }
    if (session != null) {
      session.close();
    }
    tools.forEach(NodeTool::close);
    remove();
  }

  private void remove() {
    if (disks != null) {
      cluster.kill();
      disks.close();
    }
    cluster.remove();
    try {
      Files.delete(home.resolve("clusters"));
      Files.delete(home);
    } catch (IOException somebodyElseUsesIt) {
      // An empty folder for temporary files does no harm.
    }
  }
}
