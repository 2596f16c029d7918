// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.strong;

import static io.isolde.system.Refusals.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;

import com.datastax.oss.driver.api.core.DefaultConsistencyLevel;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import io.isolde.client.ErrorCode;
import io.isolde.system.Await;
import io.isolde.system.NodeLogs;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;

/** The log of a strong keyspace outlives changes of the schema; and what can't be right there. */
@ExtendWith(NodeLogs.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class StrongSchemaTest {
  private StrongCluster nodes;

  private static final int MISSED_TABLES = 10;
  private static final int MISSED_ROWS = 20;

  @BeforeAll
  void start() {
    nodes = StrongCluster.start("strong-schema", "127.0.52.1");
  }

  @AfterAll
  void stop() {
    if (nodes != null) {
      nodes.close();
    }
  }

  private void change(String... statements) {
    for (String statement : statements) {
      nodes.on(1, statement);
      nodes.cluster.awaitSchemaAgreement(StrongCluster.PATIENCE);
    }
  }

  @Test
  void whenAColumnIsDroppedAndAddedAgainThenWhatIsWrittenToItIsThereOnAllReplicas() {
    change(
        "CREATE TABLE s.c (p int PRIMARY KEY, v text)",
        "ALTER TABLE s.c DROP v",
        "ALTER TABLE s.c ADD v text");
    for (int node = 1; node <= 3; node++) {
      nodes.on(node, "INSERT INTO s.c (p, v) VALUES (?, 'x')", node);
      nodes.on(node, "INSERT INTO s.c (p, v) VALUES (?, 'x') IF NOT EXISTS", 10 + node);
      nodes.on(
          node,
          "BEGIN BATCH INSERT INTO s.c (p, v) VALUES (%1$d, 'a');".formatted(20 + node)
              + " UPDATE s.c SET v = 'x' WHERE p = %1$d; APPLY BATCH".formatted(20 + node));
    }
    for (int node = 1; node <= 3; node++) {
      for (int key : new int[] {node, 10 + node, 20 + node}) {
        for (int replica = 1; replica <= 3; replica++) {
          assertOnReplica("s.c", replica, key);
        }
      }
    }
  }

  private void assertOnReplica(String table, int replica, int key) {
    SimpleStatement ofThisReplica =
        SimpleStatement.newInstance("SELECT v FROM " + table + " WHERE p = ?", key)
            .setConsistencyLevel(DefaultConsistencyLevel.ONE);
    Await.until(
        "node " + replica + " has " + key, () -> nodes.on(replica, ofThisReplica).one() != null);
    Row row = nodes.on(replica, ofThisReplica).one();
    assertThat(row.getString("v")).as("node %d, row %d", replica, key).isEqualTo("x");
  }

  /** A node knows a new table a moment before its store is open for what the log has of it. */
  @Test
  void whenANodeWasAwayWhenTablesAndColumnsWereMadeThenItHasAllThatWasWrittenToThem() {
    change("CREATE TABLE s.widened (p int PRIMARY KEY)");
    nodes.cluster.node(3).kill();
    nodes.on(1, "ALTER TABLE s.widened ADD v text");
    nodes.on(1, "INSERT INTO s.widened (p, v) VALUES (1, 'x')");
    for (int table = 0; table < MISSED_TABLES; table++) {
      nodes.on(1, "CREATE TABLE s.missed%d (p int PRIMARY KEY, v int)".formatted(table));
    }
    for (int i = 0; i < MISSED_TABLES * MISSED_ROWS; i++) {
      nodes.on(
          1,
          "INSERT INTO s.missed%d (p, v) VALUES (?, 1)".formatted(i % MISSED_TABLES),
          i / MISSED_TABLES);
    }
    nodes.restart(3);
    assertOnReplica("s.widened", 3, 1);
    for (int table = 0; table < MISSED_TABLES; table++) {
      SimpleStatement ofThisReplica =
          SimpleStatement.newInstance("SELECT p FROM s.missed" + table)
              .setConsistencyLevel(DefaultConsistencyLevel.ONE);
      Await.until(
          "node 3 has all of table " + table,
          () -> nodes.on(3, ofThisReplica).all().size() == MISSED_ROWS);
    }
  }

  @Test
  void whenABatchReadsListsOfSeveralPartitionsThenItIsRefused() {
    change("CREATE TABLE s.lists (p int PRIMARY KEY, l list<int>)");
    nodes.execute("INSERT INTO s.lists (p, l) VALUES (1, [1, 2])");
    nodes.execute("INSERT INTO s.lists (p, l) VALUES (2, [1, 2])");
    assertRefused(
        ErrorCode.UNSUPPORTED_LIST_READ,
        () ->
            nodes.execute(
                "BEGIN BATCH UPDATE s.lists SET l[0] = 9 WHERE p = 1;"
                    + " UPDATE s.lists SET l[0] = 9 WHERE p = 2; APPLY BATCH"));
    assertThat(nodes.execute("SELECT l FROM s.lists WHERE p = 1").one().getList("l", Integer.class))
        .containsExactly(1, 2);
  }

  @Test
  void whenTheNearestAreAskedForThenTheyAreThoseOfAReplicaOrRefused() {
    change(
        "CREATE TABLE s.places (p int PRIMARY KEY, v vector<float, 2>)",
        "CREATE INDEX ON s.places (v) USING 'sai'");
    for (int i = 0; i < 20; i++) {
      nodes.execute("INSERT INTO s.places (p, v) VALUES (%1$d, [%1$d.0, 1.0])".formatted(i));
    }
    String nearest = "SELECT p FROM s.places ORDER BY v ANN OF [0.0, 1.0] LIMIT 1";
    assertRefused(ErrorCode.UNSUPPORTED_INDEX_QUERY, () -> nodes.execute(nearest));
    SimpleStatement ofAnyReplica =
        SimpleStatement.newInstance(nearest).setConsistencyLevel(DefaultConsistencyLevel.ONE);
    Await.until("a replica has it", () -> nodes.on(1, ofAnyReplica).one().getInt("p") == 0);
  }
}
