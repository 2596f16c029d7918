// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.strong;

import static org.assertj.core.api.Assertions.assertThat;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.DriverException;
import com.datastax.oss.driver.api.core.config.DefaultDriverOption;
import com.datastax.oss.driver.api.core.config.DriverConfigLoader;
import com.datastax.oss.driver.api.core.cql.ResultSet;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.cql.Statement;
import com.datastax.oss.driver.api.core.metadata.Node;
import io.isolde.client.IsoldeSessionBuilder;
import io.isolde.cluster.LocalCluster;
import io.isolde.cluster.NodeSpec;
import io.isolde.system.Await;
import io.isolde.system.NodeFaults;
import io.isolde.system.ShortLived;
import io.isolde.system.TestFork;
import io.isolde.torture.ClockSkew;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

/** Three nodes with a strong keyspace {@code s}, and another client that asks one node. */
final class StrongCluster implements AutoCloseable {
  static final Duration PATIENCE = Duration.ofMinutes(2);

  final LocalCluster cluster;
  volatile CqlSession session;

  /** What was sent with them may still be answered. */
  private final List<CqlSession> formerSessions = new CopyOnWriteArrayList<>();

  private StrongCluster(LocalCluster cluster, CqlSession session) {
    this.cluster = cluster;
    this.session = session;
  }

  static StrongCluster start(String name, String address) {
    return start(name, ShortLived.nodeAt(address), cluster -> {});
  }

  /** With nodes whose clocks can be set wrong, and that can be told to die at a step. */
  static StrongCluster startWithFaults(String name, String address) {
    NodeSpec node = NodeFaults.allowedBy(ClockSkew.allowedBy(ShortLived.nodeAt(address)));
    return start(name, node, ClockSkew::prepare);
  }

  private static StrongCluster start(
      String name, NodeSpec node, Consumer<LocalCluster> preparation) {
    Path folder = TestFork.clusters().resolve(name);
    LocalCluster.removeIfPresent(folder);
    LocalCluster cluster =
        LocalCluster.create(
            folder,
            3,
            node.withIsoldeSetting("strong_log_size", "1MiB")
                .withIsoldeSetting("leadership_policy", "least-loaded")
                .withIsoldeSetting("leadership_threshold", "1MiB")
                .withIsoldeSetting("strong_timeout", "10s")
                .withIsoldeSetting("transaction_max_idle", "10m")
                .withIsoldeSetting("transaction_max_age", "10m")
                .withIsoldeSetting("staleness_sample_one_in", "4")
                .withIsoldeSetting("push_port", "7314"));
    preparation.accept(cluster);
    try {
      return withKeyspace(cluster);
    } catch (RuntimeException e) {
      cluster.remove(); // or it would be in the way of others
      throw e;
    }
  }

  private static StrongCluster withKeyspace(LocalCluster cluster) {
    cluster.start();
    StrongCluster started = new StrongCluster(cluster, connect(cluster));
    started.execute(
        "CREATE KEYSPACE s WITH replication = {'class':"
            + " 'io.isolde.replication.ReplicatedLogStrategy', 'replication_factor': 3}");
    return started;
  }

  /** A session of the caller's own. */
  CqlSession connect() {
    return connect(cluster);
  }

  private static CqlSession connect(LocalCluster cluster) {
    return new IsoldeSessionBuilder()
        .addContactPoints(cluster.contactPoints())
        .withLocalDatacenter("datacenter1")
        .withConfigLoader(
            DriverConfigLoader.programmaticBuilder()
                .withDuration(DefaultDriverOption.REQUEST_TIMEOUT, Duration.ofSeconds(40))
                .withDuration(DefaultDriverOption.RECONNECTION_BASE_DELAY, Duration.ofMillis(200))
                .withDuration(DefaultDriverOption.RECONNECTION_MAX_DELAY, Duration.ofSeconds(1))
                .withString(DefaultDriverOption.REQUEST_CONSISTENCY, "QUORUM")
                .build())
        .build();
  }

  ResultSet execute(String cql, Object... values) {
    return session.execute(SimpleStatement.newInstance(cql, values));
  }

  /** Through a node, whose number begins with 1. */
  ResultSet on(int node, String cql, Object... values) {
    return on(node, SimpleStatement.newInstance(cql, values));
  }

  ResultSet on(int node, Statement<?> statement) {
    CqlSession now = session;
    return now.execute(statement.setNode(nodeOf(now, node)));
  }

  ResultSet on(String address, String cql) {
    return session.execute(SimpleStatement.newInstance(cql).setNode(driverNode(address)));
  }

  Node driverNode(int number) {
    return driverNode(cluster.node(number).spec().address());
  }

  Node driverNode(String address) {
    return known(address).orElseThrow();
  }

  /** Whether the client has heard of a node, and is connected with it. */
  boolean knows(String address) {
    return known(address).filter(node -> node.getOpenConnections() > 0).isPresent();
  }

  /** A node, as another session than this one's knows it. */
  Node nodeOf(CqlSession other, int number) {
    return known(other, cluster.node(number).spec().address()).orElseThrow();
  }

  private Optional<Node> known(String address) {
    return known(session, address);
  }

  private static Optional<Node> known(CqlSession session, String address) {
    return session.getMetadata().getNodes().values().stream()
        .filter(node -> node.getEndPoint().toString().contains(address + ":"))
        .findFirst();
  }

  /** Starts a node that was killed, and waits until a client has found it again. */
  void restart(int number) {
    cluster.node(number).start();
    connectAgain();
    awaitConnected(number);
  }

  /**
   * The driver whose control connection is lost while it reads the schema never ends that, and
   * waits for it after each change of the schema from then on. So there is another session after
   * nodes were killed.
   */
  private void connectAgain() {
    formerSessions.add(session);
    session = connect(cluster);
  }

  /** Kills all nodes and starts them again. */
  void killAll() {
    cluster.kill();
    cluster.start();
    connectAgain();
    for (int node = 1; node <= 3; node++) {
      awaitConnected(node);
    }
  }

  void awaitConnected(int number) {
    Await.until("node " + number + " answers", () -> isConnected(number));
  }

  private boolean isConnected(int number) {
    try {
      return on(number, "SELECT release_version FROM system.local").one() != null;
    } catch (DriverException e) {
      return false;
    }
  }

  /** The only group of a keyspace, as a node sees it. */
  Row group(int node, String keyspace) {
    return on(node, "SELECT * FROM isolde.replica_groups WHERE keyspace_name = ?", keyspace).one();
  }

  /** The replicas of a keyspace as a node shows them, once followers have nearly caught up. */
  List<Row> replicasWithoutLag(int node, String keyspace) {
    Await.until(
        "followers have caught up",
        () -> replicas(node, keyspace).stream().allMatch(StrongCluster::hasCaughtUp));
    return replicas(node, keyspace);
  }

  private static boolean hasCaughtUp(Row replica) {
    assertThat(replica.getLong("lag_entries")).isNotNegative();
    return replica.getLong("lag_entries") <= 100;
  }

  private List<Row> replicas(int node, String keyspace) {
    return on(node, "SELECT * FROM isolde.group_replicas WHERE keyspace_name = ?", keyspace).all();
  }

  /**
   * How probably a read at ONE right after a write's answer sees it, as the leader has measured.
   */
  Row stalenessAtOnce(int leader, String keyspace) {
    String staleness =
        "SELECT * FROM isolde.follower_staleness"
            + " WHERE keyspace_name = ? AND group_number = 0 AND after_ms = 0";
    Await.until("followers were asked", () -> on(leader, staleness, keyspace).one() != null);
    return on(leader, staleness, keyspace).one();
  }

  /** The number of the node that leads the only group of a keyspace, as another one knows it. */
  int leader(int askedNode, String keyspace) {
    Await.until("a leader", () -> group(askedNode, keyspace).getString("leader") != null);
    String address = group(askedNode, keyspace).getString("leader");
    for (int i = 1; i <= 3; i++) {
      if (cluster.node(i).spec().address().equals(address)) {
        return i;
      }
    }
    throw new AssertionError(address);
  }

  @Override
  public void close() {
    formerSessions.forEach(CqlSession::close);
    session.close();
    cluster.remove();
  }
}
