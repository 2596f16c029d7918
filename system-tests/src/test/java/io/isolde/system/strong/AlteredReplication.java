// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.strong;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.datastax.oss.driver.api.core.DefaultConsistencyLevel;
import com.datastax.oss.driver.api.core.cql.ResultSet;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.servererrors.InvalidQueryException;
import io.isolde.system.Await;
import java.util.List;

/** A strong keyspace that is to have more or fewer replicas, while it is written. */
final class AlteredReplication {
  private static final int ROWS = 60;

  private final StrongCluster nodes;

  private AlteredReplication(StrongCluster nodes) {
    this.nodes = nodes;
  }

  static void check(StrongCluster nodes) throws InterruptedException {
    new AlteredReplication(nodes).check();
  }

  private void check() throws InterruptedException {
    nodes.execute("DROP KEYSPACE IF EXISTS altered"); // Of a test that failed.
    nodes.execute(
        "CREATE KEYSPACE altered WITH replication = {'class': 'ReplicatedLogStrategy',"
            + " 'replication_factor': 1}");
    nodes.execute("CREATE TABLE altered.t (p int PRIMARY KEY, v text)");
    nodes.execute("CREATE TABLE altered.n (p int PRIMARY KEY, n counter)");
    nodes.cluster.awaitSchemaAgreement(StrongCluster.PATIENCE);
    for (int key = 0; key < ROWS; key++) {
      nodes.on(1 + key % 3, "INSERT INTO altered.t (p, v) VALUES (?, 'old')", key);
      nodes.on(1 + key % 3, "UPDATE altered.n SET n = n + 5 WHERE p = ?", key % 7);
    }
    OngoingWrites writes =
        OngoingWrites.start(nodes, 1, "INSERT INTO altered.t (p, v) VALUES (?, 'new')", 1000);
    for (int replicas : new int[] {3, 1, 2}) {
      resize(replicas);
      writes.awaitMore();
    }
    int all = ROWS + writes.end().size();
    for (int node = 1; node <= 3; node++) {
      assertThat(nodes.on(node, "SELECT p FROM altered.t").all()).hasSize(all);
      int asked = node;
      Await.until("replicas have all", () -> rowsAtOne(asked) == all);
      assertThat(nodes.on(node, "SELECT SUM(n) FROM altered.n").one().getLong(0))
          .isEqualTo(ROWS * 5L);
    }
    checkRefusals();
    nodes.execute("DROP KEYSPACE altered");
  }

  private void resize(int replicas) {
    String alter =
        "ALTER KEYSPACE altered WITH replication = {'class': 'ReplicatedLogStrategy',"
            + " 'replication_factor': %d}".formatted(replicas);
    nodes.on(2, alter);
    assertThat(warnings(nodes.on(2, alter))).anyMatch(text -> text.contains("nothing was changed"));
    ResultSet moved =
        nodes.on(
            3,
            SimpleStatement.newInstance("ALTER KEYSPACE altered REBALANCE")
                .setTimeout(StrongCluster.PATIENCE));
    assertThat(moved.one().getInt("moved_replicas")).isPositive();
    nodes.cluster.awaitSchemaAgreement(StrongCluster.PATIENCE);
    for (int node = 1; node <= 3; node++) {
      List<Row> groups =
          nodes
              .on(node, "SELECT * FROM isolde.replica_groups WHERE keyspace_name = 'altered'")
              .all();
      assertThat(groups)
          .isNotEmpty()
          .allSatisfy(
              group -> assertThat(group.getList("members", String.class)).hasSize(replicas));
    }
  }

  private static List<String> warnings(ResultSet answer) {
    return answer.getExecutionInfo().getWarnings();
  }

  private int rowsAtOne(int node) {
    return nodes
        .on(
            node,
            SimpleStatement.newInstance("SELECT p FROM altered.t")
                .setConsistencyLevel(DefaultConsistencyLevel.ONE))
        .all()
        .size();
  }

  private void checkRefusals() {
    refused("'replication_factor': 4", "as many nodes as replicas");
    refused("'nowhere': 2", "no datacenter 'nowhere'");
    refused("'replication_factor': 2, 'groups': 3", "'groups' is '1', and stays so");
    refused("'replication_factor': 2, 'durability': 'periodic'", "'durability' is 'batch'");
    assertThatThrownBy(
            () ->
                nodes.execute(
                    "ALTER KEYSPACE altered WITH replication = {'class': 'SimpleStrategy',"
                        + " 'replication_factor': 1}"))
        .isInstanceOf(InvalidQueryException.class)
        .hasMessageContaining("code=UNSUPPORTED_KEYSPACE");
  }

  private void refused(String options, String why) {
    assertThatThrownBy(
            () ->
                nodes.execute(
                    "ALTER KEYSPACE altered WITH replication = {'class':"
                        + " 'ReplicatedLogStrategy', %s}".formatted(options)))
        .as(options)
        .isInstanceOf(InvalidQueryException.class)
        .hasMessageContaining(why)
        .hasMessageContaining("code=UNSUPPORTED_KEYSPACE");
  }
}
