// SPDX-License-Identifier: Apache-2.0
package io.isolde.system;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.config.DefaultDriverOption;
import com.datastax.oss.driver.api.core.config.DriverConfigLoader;
import com.datastax.oss.driver.api.core.cql.ResultSet;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.metadata.Node;
import io.isolde.cluster.LocalCluster;
import io.isolde.cluster.LocalNode;
import io.isolde.cluster.NodeSpec;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.UnaryOperator;

/** Nodes whose clients choose one for each statement. */
public final class TestCluster implements AutoCloseable {
  public static final Duration PATIENCE = Duration.ofMinutes(3);

  private final LocalCluster cluster;
  private CqlSession session;

  private TestCluster(LocalCluster cluster) {
    this.cluster = cluster;
  }

  public static TestCluster start(
      String name, int nodes, String address, UnaryOperator<NodeSpec> settings) {
    Path folder = TestFork.clusters().resolve(name);
    LocalCluster.removeIfPresent(folder);
    // A node that halts is to have all that it has answered, changes of its schema, too.
    NodeSpec first =
        ShortLived.nodeAt(address)
            .withCassandraSetting("commitlog_sync", "batch")
            .withCassandraSetting("commitlog_sync_period", "0ms");
    TestCluster made = new TestCluster(LocalCluster.create(folder, nodes, settings.apply(first)));
    made.cluster.start();
    made.cluster.awaitMembership(PATIENCE);
    return made;
  }

  public LocalNode node(int number) {
    return cluster.node(number);
  }

  /** From now on the node halts, or fails, at a step of a snapshot; see {@link NodeFaults}. */
  public void fault(int node, String fault) {
    NodeFaults.set(cluster.node(node), fault);
  }

  public synchronized CqlSession session() {
    if (session == null) {
      session =
          CqlSession.builder()
              .addContactPoints(cluster.contactPoints())
              .withLocalDatacenter("datacenter1")
              .withConfigLoader(
                  DriverConfigLoader.programmaticBuilder()
                      .withDuration(DefaultDriverOption.REQUEST_TIMEOUT, Duration.ofSeconds(60))
                      .withDuration(
                          DefaultDriverOption.CONTROL_CONNECTION_TIMEOUT, Duration.ofSeconds(20))
                      .withDuration(
                          DefaultDriverOption.CONNECTION_INIT_QUERY_TIMEOUT, Duration.ofSeconds(20))
                      .withDuration(
                          DefaultDriverOption.RECONNECTION_BASE_DELAY, Duration.ofMillis(200))
                      .withDuration(
                          DefaultDriverOption.RECONNECTION_MAX_DELAY, Duration.ofSeconds(1))
                      .withBoolean(DefaultDriverOption.METADATA_SCHEMA_ENABLED, false)
                      .withBoolean(DefaultDriverOption.PREPARE_ON_ALL_NODES, false)
                      .build())
              .build();
    }
    return session;
  }

  /** Executes on one node, and waits until all know of it, if it changed the schema. */
  public void change(String... statements) {
    for (String statement : statements) {
      on(1, statement);
    }
    awaitSchema();
  }

  /** Waits until each node has written down the last change of the schema. */
  public void awaitSchema() {
    cluster.awaitSchemaAgreement(PATIENCE);
  }

  /** Executes through a node. */
  public ResultSet on(int number, String cql) {
    return on(number, SimpleStatement.newInstance(cql));
  }

  public ResultSet on(int number, SimpleStatement statement) {
    return session()
        .execute(statement.setNode(driverNode(number)).setTimeout(Duration.ofSeconds(60)));
  }

  private Node driverNode(int number) {
    return session().getMetadata().getNodes().values().stream()
        .filter(node -> node.getEndPoint().resolve().equals(cluster.node(number).contactPoint()))
        .findFirst()
        .orElseThrow();
  }

  /** Waits until a node that is to halt has done so. */
  public void awaitDead(int number) {
    Await.until("it is dead", () -> !cluster.node(number).isAlive());
  }

  /** All of them, at once. */
  public void killAll() {
    cluster.kill();
  }

  /** Starts all that are dead again, and waits until they see each other. */
  public void startAllAgain() {
    cluster.start();
    disconnect();
  }

  /** Starts a node again, and waits until it and the others see each other. */
  public void startAgain(int number) {
    awaitDead(number);
    cluster.node(number).start();
    cluster.awaitMembership(PATIENCE);
    disconnect();
  }

  public synchronized void disconnect() {
    if (session != null) {
      session.close();
      session = null;
    }
  }

  @Override
  public void close() {
    disconnect();
    cluster.remove();
  }
}
