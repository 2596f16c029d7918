// SPDX-License-Identifier: Apache-2.0
package io.isolde.torture.reads;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.config.DefaultDriverOption;
import com.datastax.oss.driver.api.core.config.DriverConfigLoader;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.metadata.Node;
import io.isolde.client.IsoldeSessionBuilder;
import io.isolde.cluster.LocalCluster;
import io.isolde.cluster.LocalNode;
import io.isolde.cluster.NodeSpec;
import io.isolde.cluster.ToolException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;

/**
 * Three nodes or more with virtual nodes, whose replicas miss writes for good: nobody keeps hints.
 * The first node takes all writes and never misses one. Gone when it is closed.
 */
public final class ClusterGround implements Ground, AutoCloseable {
  private static final Duration PATIENCE = Duration.ofMinutes(3);

  /** Longer than Cassandra's write_request_timeout, after which a node drops what it reads late. */
  private static final long FORGOTTEN_AFTER_MILLIS = 3_000;

  private final LocalCluster cluster;
  private final CqlSession session;
  private final Node first;

  private ClusterGround(LocalCluster cluster, CqlSession session) {
    this.cluster = cluster;
    this.session = session;
    this.first =
        session.getMetadata().getNodes().values().stream()
            .filter(node -> node.getEndPoint().resolve().equals(cluster.node(1).contactPoint()))
            .findFirst()
            .orElseThrow();
  }

  /**
   * Starts one.
   *
   * @param folder what was there is deleted
   * @param node how to set up the first node
   */
  public static ClusterGround start(
      Path folder, int nodes, NodeSpec node, Consumer<String> progress) {
    LocalCluster.removeIfPresent(folder);
    LocalCluster cluster =
        LocalCluster.create(
            folder, nodes, node.withCassandraSetting("hinted_handoff_enabled", "false"));
    try {
      cluster.start(progress);
      return new ClusterGround(cluster, connect(cluster));
    } catch (RuntimeException e) {
      cluster.remove(); // or it would be in the way of others
      throw e;
    }
  }

  private static CqlSession connect(LocalCluster cluster) {
    return new IsoldeSessionBuilder()
        .addContactPoints(cluster.contactPoints())
        .withLocalDatacenter("datacenter1")
        .withConfigLoader(
            DriverConfigLoader.programmaticBuilder()
                .withDuration(DefaultDriverOption.REQUEST_TIMEOUT, Duration.ofSeconds(40))
                .withDuration(
                    DefaultDriverOption.CONTROL_CONNECTION_TIMEOUT, Duration.ofSeconds(20))
                .withString(DefaultDriverOption.REQUEST_CONSISTENCY, "QUORUM")
                .withBoolean(DefaultDriverOption.METADATA_SCHEMA_ENABLED, false)
                // Cassandra warns of each aggregate over partitions, which are half of the reads.
                .withBoolean(DefaultDriverOption.REQUEST_LOG_WARNINGS, false)
                .build())
        .build();
  }

  @Override
  public CqlSession session() {
    return session;
  }

  @Override
  public List<String> replications() {
    return List.of(
        plainReplication(),
        plainReplication(),
        "{'class': 'ReplicatedLogStrategy', 'replication_factor': 3, 'groups': 2}");
  }

  @Override
  public String plainReplication() {
    return "{'class': 'SimpleStrategy', 'replication_factor': 3}";
  }

  @Override
  public void execute(String cql) {
    session.execute(SimpleStatement.newInstance(cql).setNode(first));
  }

  @Override
  public void awaitSchema() {
    cluster.awaitSchemaAgreement(PATIENCE);
  }

  @Override
  public void shuffle(String keyspace, String table, Random random) {
    cluster.nodes().forEach(node -> Ground.shuffle(node, keyspace, table, random));
  }

  @Override
  public void missedByAReplica(int time, Runnable writes) {
    LocalNode node = cluster.node(2 + (time - 1) % (cluster.nodes().size() - 1));
    node.pause();
    try {
      writes.run();
      Thread.sleep(FORGOTTEN_AFTER_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ToolException("It was interrupted.", e);
    } finally {
      node.resume();
    }
    cluster.awaitMembership(PATIENCE);
  }

  @Override
  public void close() {
    session.close();
    cluster.remove();
  }

  @Override
  public String toString() {
    return cluster.nodes().size() + " nodes";
  }
}
