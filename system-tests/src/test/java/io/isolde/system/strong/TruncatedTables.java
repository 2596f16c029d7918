// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.strong;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.datastax.oss.driver.api.core.DefaultConsistencyLevel;
import com.datastax.oss.driver.api.core.DriverException;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import io.isolde.system.Await;
import io.isolde.system.NodeFaults;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** TRUNCATE in a keyspace of several groups: what came before is gone, and nothing else. */
final class TruncatedTables {
  private static final int ROWS = 60;

  /** So far apart that no two writers meet. */
  private static final int KEYS_OF_A_WRITER = 1_000_000;

  private static final int LATER = 1_000;

  private final StrongCluster nodes;
  private final String table;
  private final String insert;

  private TruncatedTables(StrongCluster nodes, String table) {
    this.nodes = nodes;
    this.table = table;
    this.insert = "INSERT INTO " + table + " (p, v, w) VALUES (?, 'x', 1)";
  }

  /** Makes the keyspace. */
  static void prepare(StrongCluster nodes) {
    nodes.execute(
        "CREATE KEYSPACE cut WITH replication = {'class': 'ReplicatedLogStrategy',"
            + " 'replication_factor': 3, 'groups': 3}");
  }

  private static TruncatedTables make(StrongCluster nodes, String table) {
    nodes.execute("CREATE TABLE " + table + " (p int PRIMARY KEY, v text, w int)");
    nodes.cluster.awaitSchemaAgreement(StrongCluster.PATIENCE);
    return new TruncatedTables(nodes, table);
  }

  static void check(StrongCluster nodes) {
    TruncatedTables other = make(nodes, "cut.other");
    TruncatedTables emptied = make(nodes, "cut.emptied");
    nodes.execute("CREATE INDEX ON cut.emptied (v)");
    nodes.execute("CREATE INDEX ON cut.emptied (w) USING 'sai'");
    nodes.cluster.awaitSchemaAgreement(StrongCluster.PATIENCE);
    other.insert(0);
    emptied.insert(0);
    emptied.assertHas(keys(0));
    nodes.on(2, "TRUNCATE cut.emptied");
    emptied.assertHas(Set.of());
    emptied.assertSnapshots(1);
    emptied.insert(LATER);
    emptied.assertHas(keys(LATER));
    nodes.on(3, "TRUNCATE TABLE cut.emptied");
    nodes.on(1, "TRUNCATE cut.emptied");
    emptied.assertHas(Set.of());
    emptied.insert(0);
    emptied.assertHas(keys(0));
    for (int replica = 1; replica <= 3; replica++) {
      emptied.awaitOnReplica(replica, keys(0));
      assertThat(other.read(replica, "")).isEqualTo(keys(0));
    }
  }

  static void checkNodeThatIsDown(StrongCluster nodes) {
    TruncatedTables missed = make(nodes, "cut.missed");
    missed.insert(0);
    nodes.cluster.node(3).kill();
    missed.awaitTruncated(1);
    missed.insert(LATER, 2);
    nodes.restart(3);
    missed.awaitOnReplica(3, keys(LATER));
    for (int node = 1; node <= 3; node++) {
      assertThat(missed.read(node, "")).isEqualTo(keys(LATER));
    }
  }

  static void checkKilledNodes(StrongCluster nodes) {
    TruncatedTables killed = make(nodes, "cut.killed");
    TruncatedTables empty = make(nodes, "cut.empty");
    killed.insert(0);
    empty.insert(0);
    nodes.on(1, "TRUNCATE cut.killed");
    killed.insert(LATER);
    nodes.on(2, "TRUNCATE cut.empty");
    TruncatedTables orphaned = checkCoordinatorThatDies(nodes);
    nodes.killAll();
    for (int node = 1; node <= 3; node++) {
      assertThat(orphaned.read(node, "")).isEmpty();
    }
    for (int node = 1; node <= 3; node++) {
      assertThat(killed.read(node, "")).isEqualTo(keys(LATER));
      assertThat(empty.read(node, "")).isEmpty();
    }
    for (int replica = 1; replica <= 3; replica++) {
      killed.awaitOnReplica(replica, keys(LATER));
      empty.awaitOnReplica(replica, Set.of());
    }
  }

  /**
   * It dies when the first group has truncated the table, and has asked none of the others.
   * Barriers on the other nodes stay closed; they are gone when all nodes have started again.
   */
  private static TruncatedTables checkCoordinatorThatDies(StrongCluster nodes) {
    TruncatedTables orphaned = make(nodes, "cut.orphaned");
    orphaned.insert(0);
    NodeFaults.set(nodes.cluster.node(2), "OTHERS:halt");
    assertThatThrownBy(() -> nodes.on(2, "TRUNCATE cut.orphaned"))
        .isInstanceOf(DriverException.class);
    Await.until("node 2 has died", () -> !nodes.cluster.node(2).isAlive());
    NodeFaults.set(nodes.cluster.node(2), "");
    String id =
        nodes
            .on(
                1,
                "SELECT id FROM system_schema.tables"
                    + " WHERE keyspace_name = 'cut' AND table_name = 'orphaned'")
            .one()
            .getUuid("id")
            .toString();
    Await.until("another node finishes", () -> says(nodes, 1, id) || says(nodes, 3, id));
    return orphaned;
  }

  private static boolean says(StrongCluster nodes, int node, String table) {
    return nodes
        .cluster
        .node(node)
        .logTail(500)
        .contains("TRUNCATE of the table " + table + " is in the logs of all replica groups");
  }

  /** A write is gone if it was answered before, and there if it began after the answer. */
  static void checkWriters(StrongCluster nodes) throws InterruptedException {
    TruncatedTables busy = make(nodes, "cut.busy");
    List<OngoingWrites> writers = new ArrayList<>();
    for (int node = 1; node <= 3; node++) {
      writers.add(OngoingWrites.start(nodes, node, busy.insert, node * KEYS_OF_A_WRITER));
    }
    List<Integer> before = List.of();
    List<Integer> after = List.of();
    for (int node = 1; node <= 3; node++) {
      writers.forEach(OngoingWrites::awaitMore);
      before = writers.stream().map(OngoingWrites::newest).toList();
      nodes.on(node, "TRUNCATE cut.busy");
      after = writers.stream().map(OngoingWrites::newest).toList();
    }
    writers.forEach(OngoingWrites::awaitMore);
    List<List<Integer>> written = new ArrayList<>();
    for (OngoingWrites writer : writers) {
      written.add(writer.end());
    }
    for (int reader = 1; reader <= 3; reader++) {
      Set<Integer> found = busy.read(reader, "");
      for (int writer = 0; writer < writers.size(); writer++) {
        int gone = before.get(writer);
        int underWay = after.get(writer) + 1;
        assertThat(found)
            .as("node %d, writer %d", reader, writer)
            .noneMatch(key -> key <= gone && key / KEYS_OF_A_WRITER == gone / KEYS_OF_A_WRITER)
            .containsAll(written.get(writer).stream().filter(key -> key > underWay).toList());
      }
    }
  }

  /** So much that all replicas have it on disk. */
  static TruncatedTables onDisk(StrongCluster nodes) {
    TruncatedTables large = make(nodes, "s.large");
    for (int key = 0; key < ROWS; key++) {
      nodes.on(1, "INSERT INTO s.large (p, v, w) VALUES (?, ?, 1)", key, "x".repeat(40_000));
    }
    for (int node = 1; node <= 3; node++) {
      int number = node;
      Await.until(
          "node " + node + " has flushed",
          () -> nodes.group(number, "s").getLong("log_from_index") > ROWS / 2);
    }
    return large;
  }

  /** Also beside a node that has just died, of which the others have to hear first. */
  void awaitTruncated(int through) {
    Await.until("TRUNCATE of " + table, () -> isTruncated(through));
  }

  private boolean isTruncated(int through) {
    try {
      nodes.on(through, "TRUNCATE " + table);
      return true;
    } catch (DriverException e) {
      return false;
    }
  }

  private static Set<Integer> keys(int first) {
    return IntStream.range(first, first + ROWS)
        .boxed()
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private void insert(int first) {
    insert(first, 3);
  }

  private void insert(int first, int lastNode) {
    for (int key : keys(first)) {
      nodes.on(1 + key % lastNode, insert, key);
    }
  }

  private void assertHas(Set<Integer> keys) {
    for (int node = 1; node <= 3; node++) {
      for (String where : List.of("", " WHERE v = 'x'", " WHERE w = 1")) {
        assertThat(read(node, where)).as("through node %d%s", node, where).isEqualTo(keys);
      }
    }
  }

  private Set<Integer> read(int node, String where) {
    return read(node, where, DefaultConsistencyLevel.QUORUM);
  }

  private Set<Integer> read(int node, String where, DefaultConsistencyLevel level) {
    SimpleStatement select =
        SimpleStatement.newInstance("SELECT p FROM " + table + where).setConsistencyLevel(level);
    Set<Integer> found = new TreeSet<>();
    nodes.on(node, select).forEach(row -> found.add(row.getInt("p")));
    return found;
  }

  void awaitOnReplica(int replica, Set<Integer> keys) {
    Await.until(
        "node %d has of %s what it should have".formatted(replica, table),
        () -> read(replica, "", DefaultConsistencyLevel.ONE).equals(keys));
  }

  /** Cassandra's own, as {@code auto_snapshot} says; one of a TRUNCATE, whatever groups do. */
  private void assertSnapshots(int count) {
    for (int node = 1; node <= 3; node++) {
      assertThat(nodes.on(node, "SELECT * FROM system_views.snapshots").all())
          .filteredOn(
              row ->
                  table.equals(row.getString("keyspace_name") + "." + row.getString("table_name")))
          .hasSize(count)
          .allMatch(row -> row.getString("name").startsWith("truncated-"));
    }
  }
}
