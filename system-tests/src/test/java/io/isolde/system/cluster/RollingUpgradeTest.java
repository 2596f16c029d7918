// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.cluster;

import static java.util.stream.Collectors.toSet;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.datastax.oss.driver.api.core.ConsistencyLevel;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import io.isolde.client.ErrorCode;
import io.isolde.client.Isolde;
import io.isolde.client.IsoldeException;
import io.isolde.cluster.LocalNode;
import io.isolde.cluster.NodeSpec;
import io.isolde.system.Await;
import io.isolde.system.TestCluster;
import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/**
 * A cluster that gets another build node by node while clients write, and from which Isolde is
 * taken in the end. Each acknowledged write is there afterwards.
 */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class RollingUpgradeTest {
  private static final int FORMAT = OtherBuild.newestOfThisBuild();

  private static final int NODES = 3;
  private static final String STRONG =
      "CREATE KEYSPACE %s WITH replication = {'class':"
          + " 'io.isolde.replication.ReplicatedLogStrategy', 'replication_factor': 3}";

  private static TestCluster cluster;
  private static List<NodeSpec> asMade;
  private static AcknowledgedWrites plain;
  private static AcknowledgedWrites transactions;
  private static AcknowledgedWrites strong;

  @BeforeAll
  static void start() {
    cluster = TestCluster.start("rolling-upgrade", NODES, "127.0.83.1", spec -> spec);
    asMade = List.of(1, 2, 3).stream().map(number -> cluster.node(number).spec()).toList();
    cluster.change(
        "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 3}",
        "CREATE TABLE k.plain (id int PRIMARY KEY)",
        "CREATE TABLE k.t (id int, part int, PRIMARY KEY (part, id))",
        "ENABLE TRANSACTIONS ON k.t",
        STRONG.formatted("s"),
        "CREATE TABLE s.t (id int PRIMARY KEY)");
    Isolde isolde = Isolde.on(cluster.session());
    plain =
        AcknowledgedWrites.start("plain", id -> insert("INSERT INTO k.plain (id) VALUES (?)", id));
    strong =
        AcknowledgedWrites.start("strong", id -> insert("INSERT INTO s.t (id) VALUES (?)", id));
    transactions =
        AcknowledgedWrites.start(
            "transactional",
            id ->
                isolde.runVoid(
                    tx -> {
                      tx.execute("INSERT INTO k.t (id, part) VALUES (?, 0)", id);
                      tx.execute("INSERT INTO k.t (id, part) VALUES (?, 1)", id);
                    }));
  }

  @AfterAll
  static void remove() {
    List.of(plain, transactions, strong).forEach(AcknowledgedWrites::close);
    cluster.close();
  }

  private static void insert(String cql, int id) {
    cluster
        .session()
        .execute(
            SimpleStatement.newInstance(cql, id)
                .setConsistencyLevel(ConsistencyLevel.QUORUM)
                .setIdempotent(true));
  }

  private static void restart(int number, UnaryOperator<NodeSpec> change) {
    LocalNode node = cluster.node(number);
    node.stop();
    node.reconfigure(spec -> change.apply(asMade.get(number - 1)));
    node.start();
    Await.until(
        "clients reach the node again",
        () -> cluster.on(number, "SELECT key FROM system.local").one() != null);
  }

  private static void awaitMoreOfAll() {
    List.of(plain, transactions, strong).forEach(AcknowledgedWrites::awaitMore);
  }

  private static boolean hasProblem(int number, String words) {
    Row oracle = cluster.on(number, "SELECT problem FROM isolde.oracle").one();
    return !oracle.isNull(0) && oracle.getString(0).contains(words);
  }

  @Test
  @Order(1)
  void whenABuildSpeaksNothingThatTheOthersUnderstandThenItIsRefusedAndTheyGoOn() {
    restart(3, OtherBuild.ofFormats(FORMAT + 1, FORMAT + 2)::on);
    String formats = "formats %d to %d".formatted(FORMAT + 1, FORMAT + 2);
    Await.until(
        "the others say whom they do not understand",
        () -> hasProblem(1, "127.0.83.3 runs a build of Isolde that speaks " + formats));
    Await.until("it says so itself", () -> hasProblem(3, "and this node's speaks " + formats));
    awaitMoreOfAll();
    Await.until(
        "it is seen as up, and keeps Isolde out of the schema", RollingUpgradeTest::isInTheWay);
    restart(3, UnaryOperator.identity());
    Await.until("nothing is said any more", () -> !hasProblem(1, "127.0.83.3"));
    awaitMoreOfAll();
  }

  /** Until it is seen as up, the refusal is that it is down. */
  private static boolean isInTheWay() {
    Throwable thrown = catchThrowable(() -> cluster.on(1, STRONG.formatted("late")));
    IsoldeException refusal = IsoldeException.find(thrown).orElseThrow();
    assertThat(refusal.code()).isIn(ErrorCode.UNAVAILABLE, ErrorCode.NODE_WITHOUT_ISOLDE);
    return refusal.code() == ErrorCode.NODE_WITHOUT_ISOLDE
        && refusal.getMessage().contains("the node 127.0.83.3 runs another build");
  }

  @Test
  @Order(2)
  void whenBuildsHaveAFormatInCommonThenNodesAreUpgradedOneByOneAndNothingIsLost() {
    OtherBuild next = OtherBuild.ofFormats(FORMAT, FORMAT + 1);
    for (int number = 1; number <= NODES; number++) {
      restart(number, next::on);
      awaitMoreOfAll();
      if (number == 1) {
        cluster.change(STRONG.formatted("while_mixed"));
      }
    }
    strong.close();
    transactions.close();
    // At SERIAL: at other levels a node answers as of the newest commit that it has heard of.
    for (int part = 0; part < 2; part++) {
      String select = "SELECT id FROM k.t WHERE part = " + part;
      transactions.assertAllIn(present(select, ConsistencyLevel.SERIAL));
    }
    strong.assertAllIn(present("SELECT id FROM s.t"));
  }

  @Test
  @Order(3)
  void whenNothingOfIsoldeIsInTheSchemaThenNodesLoseTheJarOneByOneAndNothingIsLost() {
    cluster.change("DISABLE TRANSACTIONS ON k.t", "DROP KEYSPACE s", "DROP KEYSPACE while_mixed");
    for (int number = 1; number <= NODES; number++) {
      restart(number, spec -> spec.withPlugin(false));
      plain.awaitMore();
    }
    plain.close();
    plain.assertAllIn(present("SELECT id FROM k.plain"));
    transactions.assertAllIn(present("SELECT id FROM k.t WHERE part = 0"));
    transactions.assertAllIn(present("SELECT id FROM k.t WHERE part = 1"));
  }

  private static Set<Integer> present(String select) {
    return present(select, ConsistencyLevel.QUORUM);
  }

  private static Set<Integer> present(String select, ConsistencyLevel level) {
    return StreamSupport.stream(
            cluster
                .session()
                .execute(SimpleStatement.newInstance(select).setConsistencyLevel(level))
                .spliterator(),
            false)
        .map(row -> row.getInt("id"))
        .collect(toSet());
  }
}
