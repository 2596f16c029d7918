// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.strong;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.datastax.oss.driver.api.core.DefaultConsistencyLevel;
import com.datastax.oss.driver.api.core.DriverException;
import com.datastax.oss.driver.api.core.cql.ResultSet;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.servererrors.InvalidQueryException;
import io.isolde.client.Isolde;
import io.isolde.system.Await;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;

/** Two replicas of each range on three nodes: they leave the third, and come back. */
final class MovedReplicas {
  private static final int KEPT = 200;
  private static final int DELETED = 400;
  private static final int LARGE = 300;
  private static final int TOGETHER = 20;
  private static final long MAX_MOVE_MILLIS = 3_000;

  private final StrongCluster nodes;
  private final String third;

  private MovedReplicas(StrongCluster nodes) {
    this.nodes = nodes;
    this.third = nodes.cluster.node(3).spec().address();
  }

  static void check(StrongCluster nodes) throws InterruptedException {
    new MovedReplicas(nodes).check();
  }

  private void check() throws InterruptedException {
    nodes.execute("DROP KEYSPACE IF EXISTS moved"); // Of a test that failed.
    nodes.execute(
        "CREATE KEYSPACE moved WITH replication = {'class': 'ReplicatedLogStrategy',"
            + " 'replication_factor': 2}");
    nodes.execute(
        "CREATE TABLE moved.t (p int PRIMARY KEY, v text) WITH gc_grace_seconds = 0"
            + " AND compaction = {'class': 'SizeTieredCompactionStrategy', 'enabled': false}");
    nodes.execute("CREATE TABLE moved.together (p int PRIMARY KEY, v int)");
    nodes.execute("ENABLE TRANSACTIONS ON moved.together");
    for (int key = 0; key < TOGETHER; key++) {
      nodes.execute("INSERT INTO moved.together (p, v) VALUES (?, 0)", key);
    }
    nodes.cluster.awaitSchemaAgreement(StrongCluster.PATIENCE);
    for (int key = 0; key < DELETED; key++) {
      nodes.on(1 + key % 3, "INSERT INTO moved.t (p, v) VALUES (?, 'old')", key);
    }
    assertThat(replicas())
        .hasSize(3)
        .allSatisfy((address, count) -> assertThat(count).isEqualTo(2));
    OngoingWrites writes =
        OngoingWrites.start(nodes, 3, "INSERT INTO moved.t (p, v) VALUES (?, 'meanwhile')", 1000);
    replaceTogether(0, 1);
    assertThat(rebalance(" WITHOUT '" + third + "'")).isEqualTo(2);
    writes.awaitMore();
    replaceTogether(1, 2);
    assertThat(replicas()).hasSize(2).doesNotContainKey(third);
    for (int key = KEPT; key < DELETED; key++) {
      nodes.on(3, "DELETE FROM moved.t WHERE p = ?", key);
    }
    Map<Integer, Long> afterDeletions = indexes("applied_index");
    String kilobytes = "x".repeat(40_000);
    for (int key = 0; key < LARGE; key++) {
      nodes.on(1, "INSERT INTO moved.t (p, v) VALUES (?, ?)", -1 - key, kilobytes);
    }
    awaitPurged(afterDeletions);
    forgetDeletions();
    assertThat(rebalance("")).isEqualTo(2);
    writes.awaitMore();
    assertThat(replicas())
        .hasSize(3)
        .allSatisfy((address, count) -> assertThat(count).isEqualTo(2));
    replaceTogether(2, 3);
    assertThat(rebalance("")).isZero();
    List<Integer> written = writes.end();
    Await.until("everybody has all", () -> keysAt(3) == KEPT + LARGE + written.size());
    for (int node = 1; node <= 3; node++) {
      assertThat(nodes.on(node, "SELECT p FROM moved.t").all())
          .hasSize(KEPT + LARGE + written.size());
    }
    refused(" WITHOUT '127.0.99.99'", "127.0.99.99 is not the address of a node");
    refused(" WITHOUT '" + third + "', '127.0.46.2'", "as many nodes as replicas, not 1 for 2");
    nodes.execute("DROP KEYSPACE moved");
  }

  /** The node that moves replicas, and is about to have more of them, dies at some moment. */
  static void checkInterruption(StrongCluster nodes) throws InterruptedException {
    MovedReplicas moved = new MovedReplicas(nodes);
    nodes.execute("DROP KEYSPACE IF EXISTS moved"); // Of a test that failed.
    nodes.execute(
        "CREATE KEYSPACE moved WITH replication = {'class': 'ReplicatedLogStrategy',"
            + " 'replication_factor': 2}");
    nodes.execute("CREATE TABLE moved.t (p int PRIMARY KEY, v text)");
    nodes.cluster.awaitSchemaAgreement(StrongCluster.PATIENCE);
    String kilobytes = "x".repeat(40_000);
    for (int key = 0; key < LARGE; key++) {
      nodes.on(1 + key % 3, "INSERT INTO moved.t (p, v) VALUES (?, ?)", key, kilobytes);
    }
    OngoingWrites writes =
        OngoingWrites.start(nodes, 1, "INSERT INTO moved.t (p, v) VALUES (?, 'meanwhile')", 1000);
    String rebalance = "ALTER KEYSPACE moved REBALANCE WITHOUT '" + moved.third + "'";
    var unused =
        nodes.session.executeAsync(
            SimpleStatement.newInstance(rebalance).setNode(nodes.driverNode(2)));
    long afterMillis = ThreadLocalRandom.current().nextLong(MAX_MOVE_MILLIS);
    System.out.println("Killing the node that moves replicas after " + afterMillis + " ms");
    Thread.sleep(afterMillis);
    nodes.cluster.node(2).kill();
    nodes.restart(2);
    Await.until("what was begun is finished", () -> moved.isDone(rebalance));
    assertThat(moved.replicas()).hasSize(2).doesNotContainKey(moved.third);
    writes.awaitMore();
    List<Integer> written = writes.endWithFailures();
    for (int node = 1; node <= 3; node++) {
      assertThat(keys(nodes.on(node, "SELECT p FROM moved.t")))
          .containsAll(written)
          .hasSizeGreaterThanOrEqualTo(LARGE + written.size());
    }
    nodes.execute("DROP KEYSPACE moved");
  }

  /** One transaction for all rows of a table; none may be missing, or as it was before. */
  private void replaceTogether(int before, int after) {
    Isolde.on(nodes.session)
        .runVoid(
            tx -> {
              List<Row> rows = tx.execute("SELECT p, v FROM moved.together").all();
              assertThat(rows).hasSize(TOGETHER);
              for (Row row : rows) {
                assertThat(row.getInt("v")).isEqualTo(before);
                int key = row.getInt("p");
                tx.execute("UPDATE moved.together SET v = ? WHERE p = ?", after, key);
              }
            });
  }

  private static Set<Integer> keys(ResultSet rows) {
    Set<Integer> keys = new HashSet<>();
    rows.forEach(row -> keys.add(row.getInt("p")));
    return keys;
  }

  private boolean isDone(String statement) {
    try {
      moving(statement);
      return true;
    } catch (DriverException notYet) {
      System.out.println(notYet.getMessage());
      return false;
    }
  }

  /**
   * A node joins the cluster, and another leaves it for ever. With one replica of each range, so
   * that whoever asks the wrong node finds nothing.
   */
  static void checkDecommission(StrongCluster nodes) throws InterruptedException {
    MovedReplicas moved = new MovedReplicas(nodes);
    nodes.execute("DROP KEYSPACE IF EXISTS moved"); // Of a test that failed.
    nodes.execute(
        "CREATE KEYSPACE moved WITH replication = {'class': 'ReplicatedLogStrategy',"
            + " 'replication_factor': 1}");
    nodes.execute("CREATE TABLE moved.t (p int PRIMARY KEY, v text)");
    nodes.cluster.awaitSchemaAgreement(StrongCluster.PATIENCE);
    for (int key = 0; key < KEPT; key++) {
      nodes.on(1 + key % 3, "INSERT INTO moved.t (p, v) VALUES (?, 'old')", key);
    }
    OngoingWrites writes =
        OngoingWrites.start(nodes, 1, "INSERT INTO moved.t (p, v) VALUES (?, 'meanwhile')", 1000);
    try (JoinedNode joined = JoinedNode.join(nodes)) {
      assertThat(moved.rebalance(" WITHOUT '" + moved.third + "'")).isEqualTo(1);
      writes.awaitMore();
      assertThat(moved.replicas())
          .hasSize(3)
          .containsKey(JoinedNode.ADDRESS)
          .doesNotContainKey(moved.third);
      joined.empty(moved.third);
      try (var tool = nodes.cluster.node(3).nodeTool()) {
        tool.decommission();
      }
      writes.awaitMore();
      joined.assertNothingLost();
      int all = KEPT + writes.end().size();
      for (int node = 1; node <= 2; node++) {
        assertThat(moved.keysAt(node)).isEqualTo(all);
        assertThat(nodes.on(node, "SELECT p FROM moved.t").all()).hasSize(all);
      }
      nodes.execute("DROP KEYSPACE moved");
    }
  }

  /**
   * Whoever comes has to copy the tables then, as the log does not tell of the deletions any more.
   */
  private void awaitPurged(Map<Integer, Long> until) {
    Await.until(
        "the log was purged",
        () -> {
          Map<Integer, Long> from = indexes("log_from_index");
          return until.keySet().stream().allMatch(group -> from.get(group) > until.get(group));
        });
  }

  /** Of each group, as the first node has it. */
  private Map<Integer, Long> indexes(String column) {
    Map<Integer, Long> indexes = new HashMap<>();
    for (Row group : groups(1)) {
      indexes.put(group.getInt("group_number"), group.getLong(column));
    }
    return indexes;
  }

  private List<Row> groups(int node) {
    return nodes
        .on(node, "SELECT * FROM isolde.replica_groups WHERE keyspace_name = 'moved'")
        .all();
  }

  /** Where the rows are, their tombstones go; whoever has old rows would bring them back. */
  private void forgetDeletions() {
    for (int node = 1; node <= 2; node++) {
      try (var tool = nodes.cluster.node(node).nodeTool()) {
        tool.flush("moved", "t");
        tool.compact("moved", "t");
      }
    }
  }

  private int rebalance(String without) {
    return moving("ALTER KEYSPACE moved REBALANCE" + without).one().getInt("moved_replicas");
  }

  /** It copies tables, and waits for the schema. */
  private ResultSet moving(String statement) {
    return nodes.on(1, SimpleStatement.newInstance(statement).setTimeout(StrongCluster.PATIENCE));
  }

  private void refused(String without, String why) {
    assertThatThrownBy(() -> rebalance(without))
        .isInstanceOf(InvalidQueryException.class)
        .hasMessageContaining(why);
  }

  /** How many replicas each node has that has any, as the third one sees it. */
  private Map<String, Integer> replicas() {
    nodes.cluster.awaitSchemaAgreement(StrongCluster.PATIENCE);
    return replicas(groups(3));
  }

  /** How many replicas each node has that has any, in rows of {@code isolde.replica_groups}. */
  static Map<String, Integer> replicas(List<Row> groups) {
    Map<String, Integer> replicas = new HashMap<>();
    for (Row group : groups) {
      for (String member : group.getList("members", String.class)) {
        replicas.merge(member.replaceFirst(":\\d+$", ""), 1, Integer::sum);
      }
    }
    return replicas;
  }

  /** What reads at ONE find through a node, which asks itself where it has a replica. */
  private int keysAt(int node) {
    return nodes
        .on(
            node,
            SimpleStatement.newInstance("SELECT p FROM moved.t")
                .setConsistencyLevel(DefaultConsistencyLevel.ONE))
        .all()
        .size();
  }
}
