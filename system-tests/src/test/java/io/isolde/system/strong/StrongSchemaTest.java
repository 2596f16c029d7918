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
import io.isolde.torture.ClockSkew;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.extension.ExtendWith;

/** The log of a strong keyspace outlives changes of the schema; and what can't be right there. */
@ExtendWith(NodeLogs.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class StrongSchemaTest {
  private StrongCluster nodes;

  private static final int MISSED_TABLES = 10;
  private static final int MISSED_ROWS = 20;
  private static final long LONG_AGO_MICROS = 1_000;
  private static final long AHEAD_MILLIS = 30_000;

  /** Below the time-outs of Cassandra, which drops messages that look older. */
  private static final int WRONG_MILLIS = 1_500;

  private static final int SKEWED_ROWS = 6;

  @BeforeAll
  void start() {
    nodes = StrongCluster.startWithFaults("strong-schema", "127.0.52.1");
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

  /** What drives the log ahead of all clocks are commits of transactions that are ahead of them. */
  @Test
  void whenTheLogIsAheadOfClocksThenWhatIsDroppedIsGoneAndWhatComesLaterStays() {
    change(
        "CREATE TABLE s.ahead (p int PRIMARY KEY, v text)",
        "CREATE TABLE s.commits (p int PRIMARY KEY, v text)",
        "CREATE KEYSPACE f WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 3}",
        "CREATE TABLE f.future (p int PRIMARY KEY, v text)");
    long micros = 1000 * (System.currentTimeMillis() + AHEAD_MILLIS);
    nodes.execute("INSERT INTO f.future (p, v) VALUES (1, 'x') USING TIMESTAMP " + micros);
    change("ENABLE TRANSACTIONS ON f.future", "ENABLE TRANSACTIONS ON s.commits");
    nodes.execute("INSERT INTO s.commits (p, v) VALUES (1, 'x')");
    for (int key = 1; key <= MISSED_ROWS; key++) {
      nodes.execute("INSERT INTO s.ahead (p, v) VALUES (?, 'old')", key);
    }
    change("ALTER TABLE s.ahead DROP v", "ALTER TABLE s.ahead ADD v text");
    for (int key = 1; key <= MISSED_ROWS; key++) {
      Row old = nodes.execute("SELECT v FROM s.ahead WHERE p = ?", key).one();
      assertThat(old.getString("v")).as("row %d", key).isNull();
      nodes.execute("INSERT INTO s.ahead (p, v) VALUES (?, 'x')", MISSED_ROWS + key);
      nodes.execute(
          "INSERT INTO s.ahead (p, v) VALUES (?, 'x') IF NOT EXISTS", 2 * MISSED_ROWS + key);
    }
    for (int replica = 1; replica <= 3; replica++) {
      assertDroppedOnReplica(replica);
    }
    nodes.cluster.node(3).kill();
    nodes.restart(3); // It reads the log again, and knows of the drop from the beginning.
    assertDroppedOnReplica(3);
  }

  @Test
  void whenTablesAreTruncatedThenWhatCameBeforeIsGoneAndNothingElse() throws Exception {
    TruncatedTables.prepare(nodes);
    TruncatedTables.check(nodes);
    TruncatedTables.checkWriters(nodes);
    TruncatedTables.checkNodeThatIsDown(nodes);
    TruncatedTables.checkKilledNodes(nodes);
  }

  /** Last, since timestamps stay ahead of the clocks afterwards. */
  @Test
  @Order(Integer.MAX_VALUE)
  void whenClocksOfNodesAreApartThenWhatIsDroppedIsGoneAndWhatComesLaterStays() {
    change(
        "CREATE KEYSPACE clocks WITH replication ="
            + " {'class': 'SimpleStrategy', 'replication_factor': 3}",
        "CREATE TABLE s.clocks (p int PRIMARY KEY, v text)",
        "CREATE TABLE s.clocks_tx (p int PRIMARY KEY, v text)",
        "CREATE TABLE clocks.tx (p int PRIMARY KEY, v text)",
        "ENABLE TRANSACTIONS ON s.clocks_tx",
        "ENABLE TRANSACTIONS ON clocks.tx");
    int key = 0;
    // Not the first, which changes the schema: stock Cassandra takes its clock for the order.
    for (int wrong = 2; wrong <= 3; wrong++) {
      for (int sign : new int[] {1, -1}) {
        ClockSkew.begin(nodes.cluster.node(wrong), sign * WRONG_MILLIS);
        for (String table : List.of("s.clocks", "s.clocks_tx", "clocks.tx")) {
          dropAndAdd(table, key, "node %d, %+d ms".formatted(wrong, sign * WRONG_MILLIS));
        }
        ClockSkew.end(nodes.cluster.node(wrong));
        key += 2 * SKEWED_ROWS;
      }
    }
  }

  private void dropAndAdd(String table, int first, String which) {
    String insert = "INSERT INTO %s (p, v) VALUES (?, ?)".formatted(table);
    String decided = table.equals("s.clocks") ? insert + " IF NOT EXISTS" : insert;
    for (int i = 0; i < SKEWED_ROWS; i++) {
      nodes.on(1 + i % 3, i % 2 == 0 ? insert : decided, first + i, "old");
    }
    change("ALTER TABLE " + table + " DROP v", "ALTER TABLE " + table + " ADD v text");
    for (int i = SKEWED_ROWS; i < 2 * SKEWED_ROWS; i++) {
      nodes.on(1 + i % 3, i % 2 == 0 ? insert : decided, first + i, "new");
    }
    for (int reader = 1; reader <= 3; reader++) {
      for (int i = 0; i < 2 * SKEWED_ROWS; i++) {
        SimpleStatement newest =
            SimpleStatement.newInstance("SELECT v FROM " + table + " WHERE p = ?", first + i)
                .setConsistencyLevel(DefaultConsistencyLevel.SERIAL);
        assertThat(nodes.on(reader, newest).one().getString("v"))
            .as("%s: row %d of %s through node %d", which, i, table, reader)
            .isEqualTo(i < SKEWED_ROWS ? null : "new");
      }
    }
  }

  private void assertDroppedOnReplica(int replica) {
    for (int key = MISSED_ROWS + 1; key <= 3 * MISSED_ROWS; key++) {
      assertOnReplica("s.ahead", replica, key);
    }
    SimpleStatement ofThisReplica =
        SimpleStatement.newInstance("SELECT v FROM s.ahead WHERE v = 'old' ALLOW FILTERING")
            .setConsistencyLevel(DefaultConsistencyLevel.ONE);
    assertThat(nodes.on(replica, ofThisReplica).all()).as("node %d", replica).isEmpty();
  }

  @Test
  void whenTheMomentOfADropIsGivenThenItIsRefused() {
    change("CREATE TABLE s.given (p int PRIMARY KEY, v text)");
    assertRefused(
        ErrorCode.UNSUPPORTED_TIMESTAMP,
        () -> nodes.execute("ALTER TABLE s.given DROP v USING TIMESTAMP 1"));
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
  void whenARequestHasATimestampFarFromNowThenItIsIgnoredAndTheClientIsWarned() {
    change(
        "CREATE TABLE s.stamped (p int PRIMARY KEY, v text)",
        "CREATE TABLE s.stamped_tx (p int PRIMARY KEY, v text)",
        "ENABLE TRANSACTIONS ON s.stamped_tx");
    String insert = "INSERT INTO %s (p, v) VALUES (1, 'a')";
    String swap = "UPDATE s.stamped SET v = 'a' WHERE p = 1 IF v = 'a'";
    for (String table : List.of("s.stamped", "s.stamped_tx")) {
      assertTimestampIgnored(insert.formatted(table));
      assertTimestampIgnored("BEGIN BATCH " + insert.formatted(table) + "; APPLY BATCH");
      SimpleStatement newest =
          SimpleStatement.newInstance("SELECT writetime(v) FROM " + table + " WHERE p = 1")
              .setConsistencyLevel(DefaultConsistencyLevel.SERIAL);
      long micros = nodes.session.execute(newest).one().getLong(0);
      assertThat(micros).isGreaterThan(LONG_AGO_MICROS);
    }
    assertTimestampIgnored(swap);
  }

  private void assertTimestampIgnored(String write) {
    SimpleStatement now = SimpleStatement.newInstance(write);
    assertThat(nodes.on(1, now).getExecutionInfo().getWarnings()).as(write).isEmpty();
    SimpleStatement old = now.setQueryTimestamp(LONG_AGO_MICROS);
    assertThat(nodes.on(1, old).getExecutionInfo().getWarnings())
        .as(write)
        .singleElement()
        .asString()
        .contains("timestamp", "ignored");
  }

  @Test
  void whenABatchReadsListsOfSeveralPartitionsThenItIsRefused() {
    change("CREATE TABLE s.lists (p int PRIMARY KEY, l list<int>)");
    nodes.execute("INSERT INTO s.lists (p, l) VALUES (1, [1, 2])");
    nodes.execute("INSERT INTO s.lists (p, l) VALUES (2, [1, 2])");
    assertRefused(
        ErrorCode.UNSUPPORTED_KEYSPACE,
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
