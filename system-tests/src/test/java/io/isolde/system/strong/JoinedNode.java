// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.strong;

import static org.assertj.core.api.Assertions.assertThat;

import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import io.isolde.cluster.LocalCluster;
import io.isolde.system.Await;
import io.isolde.system.JoiningNode;
import io.isolde.system.Pace;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * A fourth node that joins the ring while a keyspace is written and read, is given replicas, and
 * gets those of an older node that goes.
 */
final class JoinedNode implements AutoCloseable {
  static final String ADDRESS = "127.0.46.4";

  private static final String INSERT = "INSERT INTO grown.t (p, v) VALUES (?, 'meanwhile')";

  /** A key of another keyspace, which is emptied too. */
  private static final int KEPT = 6_000;

  private final StrongCluster nodes;
  private final OngoingWrites writes;
  private final Thread reader = new Thread(this::readOnAndOn);
  private final List<String> wrong = new CopyOnWriteArrayList<>();
  private volatile boolean isOver;
  private LocalCluster process;

  private JoinedNode(StrongCluster nodes) {
    this.nodes = nodes;
    writes = OngoingWrites.start(nodes, 1, INSERT, 0);
    reader.setDaemon(true);
    reader.start();
  }

  static JoinedNode join(StrongCluster nodes) {
    nodes.execute(
        "CREATE KEYSPACE grown WITH replication = {'class': 'ReplicatedLogStrategy',"
            + " 'replication_factor': 3, 'groups': 3}");
    nodes.execute("CREATE TABLE grown.t (p int PRIMARY KEY, v text)");
    nodes.cluster.awaitSchemaAgreement(StrongCluster.PATIENCE);
    nodes.execute("INSERT INTO s.t (p, c, v) VALUES (?, 0, 'kept')", KEPT);
    JoinedNode joined = new JoinedNode(nodes);
    try {
      joined.bootstrap();
      joined.rebalance("grown", "");
      assertThat(joined.replicas("grown"))
          .hasSize(4)
          .allSatisfy((address, count) -> assertThat(count).isBetween(2, 3));
      joined.writes.awaitMore();
      return joined;
    } catch (RuntimeException | Error e) {
      joined.close();
      throw e;
    }
  }

  /** What was answered last must be found by whoever reads after that. */
  private void readOnAndOn() {
    for (int i = 0; !isOver; i++) {
      int key = writes.newest();
      try {
        if (nodes.on(1 + i % 2, "SELECT v FROM grown.t WHERE p = ?", key).one() == null) {
          wrong.add(key + " was not there");
        }
        Pace.pause();
      } catch (RuntimeException e) {
        wrong.add(key + ": " + e);
      }
    }
  }

  private void bootstrap() {
    process = JoiningNode.create("strong-joined", nodes.cluster.node(1), ADDRESS);
    process.start();
    Await.until("the client knows it", () -> nodes.knows(ADDRESS));
    assertThat(nodes.on(ADDRESS, "SELECT p FROM grown.t").one()).isNotNull();
  }

  /** An older node shall have nothing any more. */
  void empty(String address) {
    for (String keyspace : List.of("grown", "s")) {
      assertThat(rebalance(keyspace, " WITHOUT '" + address + "'")).isPositive();
      assertThat(replicas(keyspace))
          .hasSize(3)
          .containsKey(ADDRESS)
          .doesNotContainKey(address)
          .allSatisfy((member, count) -> assertThat(count).isEqualTo(groups(keyspace).size()));
    }
  }

  /** Neither through others nor where the new node leads. */
  void assertNothingLost() throws InterruptedException {
    writes.awaitMore();
    isOver = true;
    reader.join();
    Set<Integer> written = new HashSet<>(writes.end());
    assertThat(wrong).isEmpty();
    assertThat(keys(1)).containsAll(written);
    nodes.execute("ALTER KEYSPACE grown LEADER '" + ADDRESS + "'");
    nodes.execute("ALTER KEYSPACE s LEADER '" + ADDRESS + "'");
    assertThat(keys(2)).containsAll(written);
    assertThat(nodes.on(1, "SELECT v FROM s.t WHERE p = ?", KEPT).one()).isNotNull();
  }

  private Set<Integer> keys(int node) {
    Set<Integer> keys = new HashSet<>();
    nodes.on(node, "SELECT p FROM grown.t").forEach(row -> keys.add(row.getInt("p")));
    return keys;
  }

  private int rebalance(String keyspace, String without) {
    SimpleStatement statement =
        SimpleStatement.newInstance("ALTER KEYSPACE " + keyspace + " REBALANCE" + without)
            .setTimeout(StrongCluster.PATIENCE);
    return nodes.on(1, statement).one().getInt("moved_replicas");
  }

  private List<Row> groups(String keyspace) {
    return nodes
        .on(1, "SELECT * FROM isolde.replica_groups WHERE keyspace_name = ?", keyspace)
        .all();
  }

  private Map<String, Integer> replicas(String keyspace) {
    nodes.cluster.awaitSchemaAgreement(StrongCluster.PATIENCE);
    return MovedReplicas.replicas(groups(keyspace));
  }

  @Override
  public void close() {
    isOver = true;
    if (process != null) {
      process.remove();
    }
  }
}
