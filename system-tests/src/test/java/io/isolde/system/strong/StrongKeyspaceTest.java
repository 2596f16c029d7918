// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.strong;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.datastax.oss.driver.api.core.DefaultConsistencyLevel;
import com.datastax.oss.driver.api.core.cql.BatchStatement;
import com.datastax.oss.driver.api.core.cql.DefaultBatchType;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.ResultSet;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.servererrors.InvalidQueryException;
import io.isolde.system.Await;
import io.isolde.system.NodeLogs;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.extension.ExtendWith;

/** What a strong keyspace does with statements, and what becomes of it when nodes die. */
@ExtendWith(NodeLogs.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class StrongKeyspaceTest {
  private StrongCluster nodes;

  @BeforeAll
  void start() {
    nodes = StrongCluster.start("strong", "127.0.46.1");
    nodes.execute("CREATE TABLE s.t (p int, c int, v text, l list<int>, PRIMARY KEY (p, c))");
    nodes.cluster.awaitSchemaAgreement(StrongCluster.PATIENCE);
  }

  @AfterAll
  void stop() {
    if (nodes != null) {
      nodes.close();
    }
  }

  @Test
  @Order(1)
  void whenANodeHasAnsweredAWriteThenEveryNodeReadsIt() {
    for (int i = 0; i < 60; i++) {
      int writer = 1 + i % 3;
      nodes.on(writer, "INSERT INTO s.t (p, c, v) VALUES (?, 0, ?)", i, "v" + i);
      for (int reader = 1; reader <= 3; reader++) {
        Row row = nodes.on(reader, "SELECT v FROM s.t WHERE p = ?", i).one();
        assertThat(row.getString("v")).isEqualTo("v" + i);
      }
    }
    nodes.on(2, "UPDATE s.t SET v = 'new' WHERE p = 3 AND c = 0");
    nodes.on(3, "DELETE FROM s.t WHERE p = 4");
    assertThat(nodes.on(1, "SELECT v FROM s.t WHERE p = 3").one().getString("v")).isEqualTo("new");
    assertThat(nodes.on(1, "SELECT v FROM s.t WHERE p = 4").one()).isNull();
  }

  @Test
  @Order(2)
  void whenSeveralPartitionsAreReadThenAllOfThemComeOnceAndInPages() {
    for (int node = 1; node <= 3; node++) {
      Set<Integer> keys = new HashSet<>();
      ResultSet all =
          nodes.on(node, SimpleStatement.newInstance("SELECT p, c FROM s.t").setPageSize(7));
      for (Row row : all) {
        if (row.getInt("p") < 60) {
          assertThat(keys.add(row.getInt("p"))).isTrue();
        }
      }
      assertThat(keys).hasSize(59);
      assertThat(nodes.on(node, "SELECT v FROM s.t WHERE p IN (1, 2, 3, 4)").all()).hasSize(3);
      assertThat(nodes.on(node, "SELECT p FROM s.t LIMIT 5").all()).hasSize(5);
      assertThat(nodes.on(node, "SELECT p FROM s.t WHERE token(p) > 0").all())
          .hasSizeBetween(10, 50);
    }
    SimpleStatement stale =
        SimpleStatement.newInstance("SELECT v FROM s.t WHERE p = 1")
            .setConsistencyLevel(DefaultConsistencyLevel.ONE);
    Await.until("any replica has it", () -> nodes.on(1, stale).one() != null);
  }

  @Test
  @Order(2)
  void whenANodePassesARequestOnThenItsAnswerSaysWhoLeads() {
    int leader = nodes.leader(1, "s");
    Row staleness = nodes.stalenessAtOnce(leader, "s");
    assertThat(staleness.getDouble("fresh")).isBetween(1 / 3.0, 1.0);
    for (String column : List.of("fresh", "within_2_versions", "monotonic", "fresh_99_after_ms")) {
      assertThat(staleness.getDouble(column))
          .as(column)
          .isBetween(staleness.getDouble(column + "_low"), staleness.getDouble(column + "_high"));
    }
    String address = nodes.cluster.node(leader).spec().address() + ":9042";
    for (int node = 1; node <= 3; node++) {
      for (String statement :
          List.of(
              "INSERT INTO s.t (p, c, v) VALUES (150, 0, 'a')",
              "SELECT v FROM s.t WHERE p = 150",
              "UPDATE s.t SET v = 'a' WHERE p = 150 AND c = 0 IF v = 'a'")) {
        ByteBuffer hint =
            nodes.on(node, statement).getExecutionInfo().getIncomingPayload().get("isolde-leader");
        assertThat(hint == null ? "" : StandardCharsets.UTF_8.decode(hint).toString())
            .as(statement)
            .isEqualTo(node == leader ? "" : address);
      }
    }
  }

  @Test
  @Order(3)
  void whenAConditionHoldsOnceThenItIsAppliedOnce() throws Exception {
    nodes.execute("INSERT INTO s.t (p, c, v) VALUES (100, 0, '0')");
    PreparedStatement swap =
        nodes.session.prepare("UPDATE s.t SET v = ? WHERE p = 100 AND c = 0 IF v = ?");
    AtomicInteger applied = new AtomicInteger();
    List<Thread> clients = new ArrayList<>();
    for (int client = 0; client < 6; client++) {
      int node = 1 + client % 3;
      Thread thread =
          new Thread(
              () -> {
                for (int i = 0; i < 30; i++) {
                  String now =
                      nodes
                          .on(node, "SELECT v FROM s.t WHERE p = 100 AND c = 0")
                          .one()
                          .getString("v");
                  String next = Integer.toString(Integer.parseInt(now) + 1);
                  if (nodes.on(node, swap.bind(next, now)).wasApplied()) {
                    applied.incrementAndGet();
                  }
                }
              });
      thread.start();
      clients.add(thread);
    }
    for (Thread client : clients) {
      client.join();
    }
    assertThat(nodes.on(1, "SELECT v FROM s.t WHERE p = 100").one().getString("v"))
        .isEqualTo(Integer.toString(applied.get()));
    String insert = "INSERT INTO s.t (p, c, v) VALUES (101, 0, 'a') IF NOT EXISTS";
    assertThat(nodes.on(1, insert).wasApplied()).isTrue();
    Row second = nodes.on(2, insert).one();
    assertThat(second.getBoolean("[applied]")).isFalse();
    assertThat(second.getString("v")).isEqualTo("a");
    ResultSet batch =
        nodes.on(
            3,
            "BEGIN BATCH UPDATE s.t SET v = 'b' WHERE p = 101 AND c = 0 IF v = 'a';"
                + " INSERT INTO s.t (p, c, v) VALUES (101, 1, 'c'); APPLY BATCH");
    assertThat(batch.wasApplied()).isTrue();
    assertThat(nodes.on(1, "SELECT v FROM s.t WHERE p = 101").all()).hasSize(2);
    PreparedStatement check =
        nodes.session.prepare("UPDATE s.t SET v = 'd' WHERE p = 101 AND c = ? IF v = ?");
    BatchStatement list =
        BatchStatement.newInstance(
            DefaultBatchType.LOGGED, check.bind(0, "b"), check.bind(1, "wrong"));
    for (int node = 1; node <= 3; node++) {
      assertThat(nodes.on(node, list).wasApplied()).isFalse();
    }
  }

  @Test
  @Order(4)
  void whenListsAreReadFirstThenTheLeaderDoes() {
    for (int node = 1; node <= 3; node++) {
      int key = 110 + node;
      nodes.on(node, "UPDATE s.t SET l = [1, 2, 3] WHERE p = ? AND c = 0", key);
      nodes.on(node, "UPDATE s.t SET l = l + [4] WHERE p = ? AND c = 0", key);
      nodes.on(node, "UPDATE s.t SET l = [0] + l WHERE p = ? AND c = 0", key);
      nodes.on(node, "UPDATE s.t SET l[1] = 10 WHERE p = ? AND c = 0", key);
      nodes.on(node, "UPDATE s.t SET l = l - [3] WHERE p = ? AND c = 0", key);
      nodes.on(node, "UPDATE s.t SET l = l + [5] WHERE p = ? AND c = 0 IF l[0] = 0", key);
      assertThat(
              nodes.on(1, "SELECT l FROM s.t WHERE p = ?", key).one().getList("l", Integer.class))
          .containsExactly(0, 10, 2, 4, 5);
    }
  }

  @Test
  @Order(5)
  void whenABatchIsOfOneGroupThenItIsWrittenAndStatementsWinInTheirOrder() {
    nodes.on(
        2,
        "BEGIN BATCH INSERT INTO s.t (p, c, v) VALUES (120, 0, 'x');"
            + " DELETE FROM s.t WHERE p = 120 AND c = 0;"
            + " INSERT INTO s.t (p, c, v) VALUES (121, 0, 'y'); APPLY BATCH");
    assertThat(nodes.on(1, "SELECT v FROM s.t WHERE p = 120").one()).isNull();
    assertThat(nodes.on(1, "SELECT v FROM s.t WHERE p = 121").one().getString("v")).isEqualTo("y");
  }

  @Test
  @Order(6)
  void whenSomethingIsNotForStrongKeyspacesThenItIsRefusedWithACode() {
    nodes.execute(
        "CREATE KEYSPACE many WITH replication = {'class': 'ReplicatedLogStrategy',"
            + " 'replication_factor': 3, 'groups': 3, 'durability': 'periodic'}");
    nodes.execute("CREATE TABLE many.t (p int PRIMARY KEY, v int)");
    nodes.cluster.awaitSchemaAgreement(StrongCluster.PATIENCE);
    assertThat(
            nodes.on(1, "SELECT * FROM isolde.replica_groups WHERE keyspace_name = 'many'").all())
        .hasSize(3);
    StringBuilder batch = new StringBuilder("BEGIN BATCH ");
    for (int i = 0; i < 20; i++) {
      nodes.on(1 + i % 3, "INSERT INTO many.t (p, v) VALUES (?, ?)", i, i);
      batch.append("INSERT INTO many.t (p, v) VALUES (" + i + ", 0); ");
    }
    assertThat(nodes.on(2, "SELECT * FROM many.t").all()).hasSize(20);
    refused("BATCH_SPANS_GROUPS", batch + "APPLY BATCH");
    refused("UNSUPPORTED_KEYSPACE", "CREATE TRIGGER x ON s.t USING 'not.there'");
    refused("UNSUPPORTED_TIMESTAMP", "INSERT INTO s.t (p, c) VALUES (1, 1) USING TIMESTAMP 1");
    refused("UNSUPPORTED_TABLE", "CREATE SNAPSHOT snap ON s.t");
    refused("UNSUPPORTED_KEYSPACE", "ALTER KEYSPACE s WITH durable_writes = true");
    nodes.execute("DROP KEYSPACE many");
    nodes.cluster.awaitSchemaAgreement(StrongCluster.PATIENCE);
    assertThat(
            nodes.on(1, "SELECT * FROM isolde.replica_groups WHERE keyspace_name = 'many'").all())
        .isEmpty();
  }

  private void refused(String code, String cql) {
    assertThatThrownBy(() -> nodes.execute(cql))
        .as(cql)
        .isInstanceOf(InvalidQueryException.class)
        .hasMessageContaining("code=" + code);
  }

  @Test
  @Order(7)
  void whenALeaderIsChosenThenItLeadsAndWritesGoOn() {
    int before = nodes.leader(1, "s");
    int transferTarget = 1 + before % 3;
    String address = nodes.cluster.node(transferTarget).spec().address();
    for (int i = 1; i <= 3; i++) {
      nodes.on(i, "ALTER KEYSPACE s LEADER '%s'".formatted(address));
      assertThat(nodes.leader(transferTarget, "s")).isEqualTo(transferTarget);
      nodes.on(i, "INSERT INTO s.t (p, c, v) VALUES (?, 0, 'chosen')", 900 + i);
    }
    assertThatThrownBy(() -> nodes.on(1, "ALTER KEYSPACE s LEADER '127.0.99.99'"))
        .isInstanceOf(InvalidQueryException.class)
        .hasMessageContaining("no replica");
    assertThatThrownBy(() -> nodes.on(1, "ALTER KEYSPACE system LEADER '" + address + "'"))
        .isInstanceOf(InvalidQueryException.class)
        .hasMessageContaining("not a strong keyspace");
  }

  @Test
  @Order(7)
  void whenCountersAreAddedToThenEachCountsOnce() throws Exception {
    StrongCounters.check(nodes);
  }

  @Test
  @Order(7)
  void whenAnyNodeIsAskedThenItTellsOfAllReplicas() {
    String leader = nodes.cluster.node(nodes.leader(1, "s")).spec().address();
    for (int node : List.of(1, 2, 3)) {
      List<Row> replicas = nodes.replicasWithoutLag(node, "s");
      assertThat(replicas).hasSize(3);
      for (Row replica : replicas) {
        boolean isLeader = replica.getString("member").equals(leader);
        assertThat(replica.getString("state")).isEqualTo(isLeader ? "LEADER" : "FOLLOWER");
        assertThat(replica.isNull("compactions_pending")).isFalse();
      }
    }
  }

  @Test
  @Order(7)
  void whenASessionHasLearnedWhoLeadsThenItsRequestsGoThere() {
    RoutedRequests.check(nodes);
  }

  @Test
  @Order(7)
  void whenLeadersAndKeyspacesComeAndGoThenTheConfigurationSaysSo() throws Exception {
    ClusterConfigurations.check(nodes);
  }

  @Test
  @Order(7)
  void whenReplicasMoveThenNothingIsLostAndWhatWasDeletedStaysSo() throws Exception {
    MovedReplicas.check(nodes);
    AlteredReplication.check(nodes);
  }

  @Test
  @Order(8)
  void whenTheLeaderDiesThenClientsOfOthersDoNotNotice() throws Exception {
    int leader = nodes.leader(1, "s");
    int other = 1 + leader % 3;
    OngoingWrites writes =
        OngoingWrites.start(nodes, other, "INSERT INTO s.t (p, c, v) VALUES (?, 0, 'w')", 1000);
    StrongCounters counting = StrongCounters.start(nodes, other);
    nodes.cluster.node(leader).kill();
    writes.awaitMore();
    counting.end(other);
    for (int key : writes.end()) {
      assertThat(nodes.on(other, "SELECT v FROM s.t WHERE p = ?", key).one()).isNotNull();
    }
    nodes.restart(leader);
  }

  /** The log that the killed node misses is purged, as more is written than it may hold. */
  @Test
  @Order(9)
  void whenANodeMissedMoreThanTheLogHoldsThenItCopiesAndFollows() {
    int away = nodes.leader(1, "s");
    int other = 1 + away % 3;
    int third = 1 + other % 3;
    TruncatedTables emptied = TruncatedTables.onDisk(nodes);
    nodes.cluster.node(away).kill();
    emptied.awaitTruncated(other);
    String kilobytes = "x".repeat(40_000);
    for (int i = 0; i < 300; i++) {
      nodes.on(other, "INSERT INTO s.t (p, c, v) VALUES (?, 0, ?)", 2000 + i, kilobytes);
    }
    for (int node : new int[] {other, third}) {
      Await.until(
          "the log was purged",
          () -> {
            nodes.on(other, "INSERT INTO s.t (p, c, v) VALUES (1999, 0, 'more')");
            return nodes.group(node, "s").getLong("log_from_index") > 200;
          });
    }
    nodes.restart(away);
    Await.until(
        "it has caught up",
        () ->
            nodes.group(away, "s").getLong("last_write_micros")
                == nodes.group(other, "s").getLong("last_write_micros"));
    nodes.cluster.node(third).kill();
    SimpleStatement own =
        SimpleStatement.newInstance("SELECT p FROM s.t WHERE p = 2299")
            .setConsistencyLevel(DefaultConsistencyLevel.ONE);
    for (int i = 0; i < 6; i++) {
      assertThat(nodes.on(away, own).one()).isNotNull();
    }
    emptied.awaitOnReplica(away, Set.of());
    nodes.on(away, "INSERT INTO s.t (p, c, v) VALUES (3000, 0, 'two are a majority')");
    nodes.restart(third);
  }

  @Test
  @Order(10)
  void whenAllNodesAreKilledAtOnceThenNothingThatWasAnsweredIsLost() {
    for (int i = 0; i < 100; i++) {
      nodes.on(1 + i % 3, "INSERT INTO s.t (p, c, v) VALUES (?, 0, 'kept')", 4000 + i);
    }
    nodes.killAll();
    for (int i = 0; i < 100; i++) {
      assertThat(nodes.execute("SELECT v FROM s.t WHERE p = ?", 4000 + i).one()).isNotNull();
    }
    assertThat(nodes.execute("SELECT v FROM s.t WHERE p = 2299").one()).isNotNull();
    StrongCounters.checkAgain(nodes);
  }

  @Test
  @Order(10)
  void whenProcessesOfAPeriodicKeyspaceDieThenNothingThatWasAnsweredIsLost() throws Exception {
    PeriodicDurability.check(nodes);
  }

  @Test
  @Order(12)
  void whenTheNodeThatMovesReplicasDiesThenItIsFinishedLaterAndNothingIsLost() throws Exception {
    MovedReplicas.checkInterruption(nodes);
  }

  @Test
  @Order(13)
  void whenANodeJoinsAndAnotherIsEmptiedAndDecommissionedThenAllIsReadAtAnyConsistency()
      throws Exception {
    MovedReplicas.checkDecommission(nodes);
  }

  @Test
  @Order(11)
  void whenHeavyCompactionsAreDueThenLeadersHandOverFirstAndAllNodesGetTheirTurns() {
    HeavyCompactions.check(nodes);
    CompactionStrategies.check(nodes);
  }
}
