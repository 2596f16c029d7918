// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.snapshots;

import static io.isolde.system.Refusals.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.datastax.oss.driver.api.core.ConsistencyLevel;
import com.datastax.oss.driver.api.core.DriverException;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import io.isolde.client.ErrorCode;
import io.isolde.client.Isolde;
import io.isolde.client.IsoldeException;
import io.isolde.client.Transaction;
import io.isolde.client.TransactionOptions;
import io.isolde.system.Await;
import io.isolde.system.NodeFaults;
import io.isolde.system.NodeLogs;
import io.isolde.system.Pace;
import io.isolde.system.Results;
import io.isolde.system.TestCluster;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.IntConsumer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.extension.ExtendWith;

/** Snapshots of three nodes: the same everywhere, exact, and on all of them or on none. */
@ExtendWith(NodeLogs.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class SnapshotsOfAClusterTest {
  private static final int NODES = 3;
  private static final int ACCOUNTS = 8;
  private static final int SNAPSHOTS = 3;
  private static final int CLIENTS = 4;
  private static final int ROUNDS = 5;

  private TestCluster cluster;

  @BeforeAll
  void startCluster() {
    cluster =
        TestCluster.start(
            "snapshots",
            NODES,
            "127.0.47.1",
            spec ->
                NodeFaults.allowedBy(spec)
                    .withIsoldeSetting("version_retention", "5m")
                    .withIsoldeSetting("snapshot_gate_limit", "9s")
                    .withCassandraSetting("write_request_timeout", "30s"));
    cluster.change(
        "CREATE KEYSPACE k WITH replication ="
            + " {'class': 'SimpleStrategy', 'replication_factor': 3}",
        "CREATE KEYSPACE one WITH replication ="
            + " {'class': 'SimpleStrategy', 'replication_factor': 1}",
        "CREATE TABLE k.plain (p int PRIMARY KEY, v int)",
        "CREATE TABLE k.a (id int PRIMARY KEY, balance int)",
        "CREATE TABLE k.b (id int PRIMARY KEY, balance int)",
        "CREATE TABLE one.cause (n int PRIMARY KEY)",
        "CREATE TABLE one.effect (n int PRIMARY KEY)",
        "ENABLE TRANSACTIONS ON k.a",
        "ENABLE TRANSACTIONS ON k.b");
    for (int i = 0; i < 10; i++) {
      cluster.on(1 + i % NODES, "INSERT INTO k.plain (p, v) VALUES (%d, %d)".formatted(i, i));
    }
    for (int id = 0; id < ACCOUNTS; id++) {
      for (String table : List.of("a", "b")) {
        cluster.on(1, "INSERT INTO k.%s (id, balance) VALUES (%d, 100)".formatted(table, id));
      }
    }
  }

  @AfterAll
  void removeCluster() {
    if (cluster != null) {
      cluster.close();
    }
  }

  @AfterEach
  void noMoreFaults() {
    for (int node = 1; node <= NODES; node++) {
      cluster.fault(node, "");
      if (!cluster.node(node).isAlive()) {
        cluster.startAgain(node); // a test has failed; the others are to tell more
      }
    }
    // The next test may kill a node. Stock Cassandra does not start again where it was killed while
    // it wrote down that a table is dropped: the columns are gone, and the table is not yet.
    cluster.awaitSchema();
  }

  private void assertNothingIsLeft(String snapshot) {
    for (int number = 1; number <= NODES; number++) {
      int node = number;
      Await.until(
          "node %d knows nothing of it".formatted(node),
          () ->
              Results.lines(cluster.on(node, "SELECT table_name FROM system_schema.tables"))
                  .stream()
                  .noneMatch(table -> table.endsWith("__" + snapshot)));
    }
  }

  @Test
  void whenItIsMadeThroughOneNodeThenItIsReadThroughAll() {
    Row made = cluster.on(1, "CREATE SNAPSHOT everywhere ON k.plain").one();
    assertThat(made.getInt("nodes")).isEqualTo(NODES);
    for (int node = 1; node <= NODES; node++) {
      assertThat(
              Results.lines(
                  cluster.on(
                      node, "SELECT count(*), sum(v) FROM k.plain AS OF SNAPSHOT everywhere")))
          .containsExactly("10 45");
    }
    Await.until("all replicas are ready", () -> Set.of("READY").equals(states("everywhere")));
    cluster.on(3, "DROP SNAPSHOT everywhere");
    assertThat(Results.lines(cluster.on(3, "SELECT name FROM isolde.snapshots")))
        .doesNotContain("everywhere");
  }

  @Test
  void whenTwoNodesMakeOneOfTheSameNameThenAtMostOneIsThere() {
    for (int round = 0; round < ROUNDS; round++) {
      List<CompletableFuture<Boolean>> attempts = new ArrayList<>();
      for (String statement :
          List.of("1 twin ON k.plain", "2 twin ON one.cause", "3 twin ON k.a")) {
        String[] parts = statement.split(" ", 2);
        attempts.add(
            CompletableFuture.supplyAsync(
                () -> {
                  try {
                    cluster.on(Integer.parseInt(parts[0]), "CREATE SNAPSHOT " + parts[1]);
                    return true;
                  } catch (DriverException refused) {
                    return false;
                  }
                }));
      }
      long made = attempts.stream().filter(CompletableFuture::join).count();
      assertThat(made).as("round %s", round).isLessThanOrEqualTo(1);
      String select = "SELECT name FROM isolde.snapshots";
      for (int node = 1; node <= NODES; node++) {
        assertThat(Results.lines(cluster.on(node, select)).stream().filter("twin"::equals).count())
            .as("round %s, node %s", round, node)
            .isEqualTo(made);
      }
      cluster.on(1, "DROP SNAPSHOT IF EXISTS twin");
      assertNothingIsLeft("twin");
    }
  }

  /** Of all replicas, as the second node hears them; one that is slow to tell has no answer. */
  private Set<String> states(String snapshot) {
    Map<String, String> states =
        cluster
            .on(2, "SELECT replicas FROM isolde.snapshots WHERE name = '%s'".formatted(snapshot))
            .one()
            .getMap("replicas", String.class, String.class);
    assertThat(states).hasSize(NODES);
    return Set.copyOf(states.values());
  }

  @Test
  void whenMoneyMovesThenEverySnapshotAddsUpAndIsTheStateAtItsTimestamp() throws Exception {
    whileClients(
        this::transfer,
        () -> {
          for (int i = 0; i < SNAPSHOTS; i++) {
            String name = "sums" + i;
            Row made =
                cluster.on(1 + i % NODES, "CREATE SNAPSHOT %s ON k.a, k.b".formatted(name)).one();
            List<String> past = balances(TransactionOptions.asOf(made.getLong("timestamp")));
            for (int node = 1; node <= NODES; node++) {
              List<String> found = new ArrayList<>();
              for (String table : List.of("a", "b")) {
                found.addAll(
                    quorum(node, "SELECT * FROM k.%s AS OF SNAPSHOT %s".formatted(table, name)));
              }
              assertThat(sum(found)).isEqualTo(2 * 100 * ACCOUNTS);
              assertThat(found).isEqualTo(past);
            }
            cluster.node(1 + i % NODES).nodeTool().flush("k", "a", "b");
          }
        });
    for (int i = 0; i < SNAPSHOTS; i++) {
      cluster.on(1, "DROP SNAPSHOT sums" + i);
    }
  }

  private List<String> quorum(int node, String cql) {
    assertThat(node).isPositive();
    return Results.lines(
        cluster
            .session()
            .execute(
                SimpleStatement.newInstance(cql)
                    .setConsistencyLevel(ConsistencyLevel.QUORUM)
                    .setTimeout(Duration.ofSeconds(20))));
  }

  private List<String> balances(TransactionOptions when) {
    List<String> balances = new ArrayList<>();
    try (Transaction transaction = Isolde.on(cluster.session()).begin(when)) {
      balances.addAll(Results.lines(transaction.execute("SELECT * FROM k.a")));
      balances.addAll(Results.lines(transaction.execute("SELECT * FROM k.b")));
    }
    return balances;
  }

  private static int sum(List<String> rows) {
    return rows.stream().mapToInt(row -> Integer.parseInt(row.split(" ", -1)[1])).sum();
  }

  @Test
  void whenTheOtherReplicasHaveRestartedThenWhatWasBeforeIsTooOldWhoeverIsAsked() {
    long before;
    try (Transaction now = Isolde.on(cluster.session()).begin()) {
      before = now.startTimestamp();
    }
    for (int node = 2; node <= NODES; node++) {
      cluster.node(node).kill();
      cluster.startAgain(node);
    }
    for (int i = 0; i < 2 * NODES; i++) {
      try (Transaction past = Isolde.on(cluster.session()).begin(TransactionOptions.asOf(before))) {
        assertRefused(
            ErrorCode.AS_OF_TOO_OLD, () -> past.execute("SELECT balance FROM k.a WHERE id = 1"));
      }
    }
  }

  private void transfer(int client) {
    Random random = new Random();
    String from = "k." + (random.nextBoolean() ? "a" : "b");
    String to = "k." + (random.nextBoolean() ? "a" : "b");
    int source = random.nextInt(ACCOUNTS);
    int target = random.nextInt(ACCOUNTS);
    if (from.equals(to) && source == target) {
      return;
    }
    try (Transaction transaction = Isolde.on(cluster.session()).begin()) {
      move(transaction, from, source, -1);
      move(transaction, to, target, 1);
      transaction.commit();
    } catch (IsoldeException conflict) {
      // The next one has more luck.
    }
  }

  private static void move(Transaction transaction, String table, int id, int amount) {
    Row row =
        transaction.execute("SELECT balance FROM %s WHERE id = %d".formatted(table, id)).one();
    transaction.execute(
        "UPDATE %s SET balance = %d WHERE id = %d".formatted(table, row.getInt(0) + amount, id));
  }

  /** Runs something while clients work, and fails if a client did. */
  private static void whileClients(IntConsumer work, Runnable something) throws Exception {
    AtomicBoolean isOver = new AtomicBoolean();
    ExecutorService threads = Executors.newFixedThreadPool(CLIENTS);
    List<CompletableFuture<?>> clients = new ArrayList<>();
    try {
      for (int client = 0; client < CLIENTS; client++) {
        int number = client;
        clients.add(
            CompletableFuture.runAsync(
                () -> {
                  while (!isOver.get()) {
                    work.accept(number);
                    Pace.pause();
                  }
                },
                threads));
      }
      something.run();
    } finally {
      isOver.set(true);
      threads.shutdown();
    }
    for (CompletableFuture<?> client : clients) {
      client.get();
    }
  }

  @Test
  void whenWritesWaitForTheCutThenNoEffectIsThereWithoutItsCause() throws Exception {
    int[] next = new int[CLIENTS];
    whileClients(
        client -> {
          int n = CLIENTS * next[client]++ + client;
          cluster.session().execute("INSERT INTO one.cause (n) VALUES (%d)".formatted(n));
          cluster.session().execute("INSERT INTO one.effect (n) VALUES (%d)".formatted(n));
        },
        () -> {
          for (int i = 0; i < SNAPSHOTS; i++) {
            cluster.on(
                1 + i % NODES,
                "CREATE SNAPSHOT gated%d ON KEYSPACE one WITH gate = true".formatted(i));
          }
        });
    for (int i = 0; i < SNAPSHOTS; i++) {
      Set<String> causes =
          new HashSet<>(
              Results.lines(cluster.on(1, "SELECT n FROM one.cause AS OF SNAPSHOT gated" + i)));
      List<String> effects =
          Results.lines(cluster.on(1, "SELECT n FROM one.effect AS OF SNAPSHOT gated" + i));
      assertThat(causes).as("snapshot %d", i).containsAll(effects);
      cluster.on(1, "DROP SNAPSHOT gated" + i);
    }
    assertThat(next[0]).isGreaterThan(SNAPSHOTS);
  }

  @Test
  void whenNodesAreRepairedThenSnapshotsStayWhatTheyWereOnEachReplica() {
    RepairedSnapshot.check(cluster);
  }

  @Test
  void whenANodeCanNotThenNothingIsLeftAndTheErrorSaysWhich() {
    for (String step : List.of("RESERVE", "SEE_TABLES", "CUT", "LOAD")) {
      cluster.fault(2, step + ":fail");
      IsoldeException error =
          assertRefused(
              ErrorCode.SNAPSHOT_FAILED, () -> cluster.on(1, "CREATE SNAPSHOT full ON k.plain"));
      assertThat(error.getMessage()).contains("127.0.47.2", "No space left on device");
      assertNothingIsLeft("full");
    }
    cluster.fault(2, "");
    cluster.on(1, "CREATE SNAPSHOT full ON k.plain");
    cluster.on(2, "DROP SNAPSHOT full");
  }

  @Test
  void whenANodeDiesInTheMiddleThenNothingIsLeftAndWhileItIsDownNothingIsMade() {
    cluster.fault(3, "CUT:halt");
    IsoldeException died =
        assertRefused(
            ErrorCode.SNAPSHOT_FAILED, () -> cluster.on(1, "CREATE SNAPSHOT dead ON k.plain"));
    assertThat(died.getMessage()).contains("127.0.47.3");
    // Node 2 hears of it by its own failure detector, later than node 1 perhaps; until then, the
    // creation fails at the dead node.
    Await.until(
        "node 2 refuses since a replica is down",
        () ->
            catchThrowable(() -> cluster.on(2, "CREATE SNAPSHOT dead ON k.plain"))
                .getMessage()
                .contains("down: 127.0.47.3"));
    cluster.fault(3, "");
    cluster.startAgain(3);
    assertNothingIsLeft("dead");
    // The creator dies, when all data is there but the decision is not made.
    cluster.fault(2, "LOAD:halt");
    assertThatThrownBy(() -> cluster.on(2, "CREATE SNAPSHOT dead ON k.plain"))
        .isInstanceOf(DriverException.class);
    assertRefused(
        ErrorCode.SNAPSHOT_UNAVAILABLE,
        () -> cluster.on(1, "SELECT * FROM k.plain AS OF SNAPSHOT dead"));
    cluster.fault(2, "");
    cluster.startAgain(2);
    Await.until(
        "it is removed",
        () -> !Results.lines(cluster.on(1, "SELECT name FROM isolde.snapshots")).contains("dead"));
    assertNothingIsLeft("dead");
    cluster.on(3, "CREATE SNAPSHOT dead ON k.plain");
    assertThat(
            Results.lines(
                cluster.on(2, "SELECT count(*), sum(v) FROM k.plain AS OF SNAPSHOT dead")))
        .containsExactly("10 45");
    cluster.on(1, "DROP SNAPSHOT dead");
  }

  @Test
  @Order(Integer.MAX_VALUE)
  void whenANodeIsReplacedThenTheNewOneHasTheSnapshots() {
    ReplacedNode.check(cluster);
  }
}
