// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.strong;

import static io.isolde.system.Refusals.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;

import com.datastax.oss.driver.api.core.DefaultConsistencyLevel;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import io.isolde.client.ErrorCode;
import io.isolde.client.IsolationLevel;
import io.isolde.client.Isolde;
import io.isolde.client.IsoldeException;
import io.isolde.client.Transaction;
import io.isolde.client.TransactionOptions;
import io.isolde.system.Await;
import io.isolde.system.NodeLogs;
import io.isolde.system.Pace;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.extension.ExtendWith;

/** Transactions over the groups of a strong keyspace, together with an ordinary one. */
@ExtendWith(NodeLogs.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class StrongTransactionsTest {
  private static final int ACCOUNTS = 12;
  private static final int EACH = 100;
  private static final int CLIENTS = 4;
  private static final String READ = "SELECT balance FROM g.accounts WHERE id = ?";
  private static final String SET = "UPDATE g.accounts SET balance = ? WHERE id = ?";

  private StrongCluster nodes;
  private Isolde isolde;

  @BeforeAll
  void start() {
    nodes = StrongCluster.start("strong-transactions", "127.0.49.1");
    isolde = Isolde.on(nodes.session);
    nodes.execute(
        "CREATE KEYSPACE g WITH replication = {'class': 'ReplicatedLogStrategy',"
            + " 'replication_factor': 3, 'groups': 3}");
    nodes.execute(
        "CREATE KEYSPACE o WITH replication = {'class': 'SimpleStrategy', 'replication_factor':"
            + " 3}");
    nodes.execute(
        "CREATE TABLE g.accounts (id int PRIMARY KEY, balance int, note text, l list<int>)");
    nodes.execute("CREATE TABLE o.journal (client int, n int, PRIMARY KEY (client, n))");
    nodes.cluster.awaitSchemaAgreement(StrongCluster.PATIENCE);
    for (int id = 0; id < ACCOUNTS; id++) {
      nodes.on(1 + id % 3, "INSERT INTO g.accounts (id, balance) VALUES (?, ?)", id, EACH);
    }
    nodes.execute("ENABLE TRANSACTIONS ON g.accounts");
    nodes.execute("ENABLE TRANSACTIONS ON o.journal");
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
  void whenEnabledThenWhatWasThereIsReadAndEachStatementIsATransaction() {
    for (int node = 1; node <= 3; node++) {
      assertThat(nodes.on(node, "SELECT id FROM g.accounts").all()).hasSize(ACCOUNTS);
      nodes.on(node, "UPDATE g.accounts SET note = ? WHERE id = 1", "by " + node);
      for (int reader = 1; reader <= 3; reader++) {
        SimpleStatement newest =
            SimpleStatement.newInstance("SELECT note FROM g.accounts WHERE id = 1")
                .setConsistencyLevel(DefaultConsistencyLevel.SERIAL);
        assertThat(nodes.on(reader, newest).one().getString("note")).isEqualTo("by " + node);
      }
    }
    assertThat(
            nodes
                .execute("UPDATE g.accounts SET note = 'if' WHERE id = 1 IF note = 'by 3'")
                .wasApplied())
        .isTrue();
    assertThat(
            nodes
                .execute("UPDATE g.accounts SET note = 'no' WHERE id = 1 IF note = 'by 3'")
                .wasApplied())
        .isFalse();
  }

  @Test
  @Order(1)
  void whenATableIsTruncatedThenTransactionsFromBeforeCannotGoOnAndLaterOnesFindNothing() {
    nodes.execute("CREATE TABLE g.emptied (p int PRIMARY KEY, v int)");
    nodes.cluster.awaitSchemaAgreement(StrongCluster.PATIENCE);
    nodes.execute("ENABLE TRANSACTIONS ON g.emptied");
    nodes.cluster.awaitSchemaAgreement(StrongCluster.PATIENCE);
    String insert = "INSERT INTO g.emptied (p, v) VALUES (?, 1)";
    for (int p = 0; p < ACCOUNTS; p++) {
      nodes.on(1 + p % 3, insert, p);
    }
    try (Transaction reader = isolde.begin();
        Transaction writer = isolde.begin()) {
      assertThat(reader.execute("SELECT p FROM g.emptied")).hasSize(ACCOUNTS);
      writer.execute(insert, 100);
      nodes.on(2, "TRUNCATE g.emptied");
      assertRefused(
          ErrorCode.SNAPSHOT_TOO_OLD, () -> reader.execute("SELECT p FROM g.emptied WHERE p = 1"));
      assertRefused(ErrorCode.SNAPSHOT_TOO_OLD, writer::commit);
    }
    for (int node = 1; node <= 3; node++) {
      assertThat(nodes.on(node, "SELECT p FROM g.emptied").all()).isEmpty();
    }
    for (int node = 1; node <= 3; node++) {
      nodes.on(node, insert, 200 + node);
    }
    isolde.runVoid(tx -> assertThat(tx.execute("SELECT p FROM g.emptied")).hasSize(3));
  }

  @Test
  @Order(1)
  void whenATableHasAUniqueIndexThenItsEntriesAreInTheGroupsToo() {
    nodes.execute("CREATE TABLE g.members (id int PRIMARY KEY, email text)");
    nodes.cluster.awaitSchemaAgreement(StrongCluster.PATIENCE);
    nodes.execute("ENABLE TRANSACTIONS ON g.members");
    nodes.execute("INSERT INTO g.members (id, email) VALUES (0, 'zero')");
    nodes.execute("CREATE UNIQUE INDEX members_email ON g.members (email)");
    for (int node = 1; node <= 3; node++) {
      int from = node;
      String insert = "INSERT INTO g.members (id, email) VALUES (?, ?)";
      nodes.on(node, insert, node, "of " + node);
      assertRefused(ErrorCode.UNIQUE_VIOLATION, () -> nodes.on(from, insert, 10 + from, "zero"));
      assertThat(nodes.on(node, "SELECT id FROM g.members WHERE email = 'zero'").one().getInt("id"))
          .isZero();
    }
    nodes.on(3, "TRUNCATE g.members");
    for (int node = 1; node <= 3; node++) {
      assertThat(nodes.on(node, "SELECT id FROM g.members_email").all()).isEmpty();
    }
    nodes.on(2, "INSERT INTO g.members (id, email) VALUES (7, 'zero')");
    nodes.execute("DROP TABLE g.members");
    nodes.cluster.awaitSchemaAgreement(StrongCluster.PATIENCE);
    assertThat(nodes.execute("SELECT table_name FROM system_schema.tables").all())
        .noneMatch(row -> row.getString(0).equals("members_email"));
  }

  @Test
  @Order(1)
  void whenThereAreStrongKeyspacesThenTheDriverStillKnowsTheReplicasOfAllKeyspaces() {
    nodes.execute(
        "CREATE KEYSPACE single WITH replication ="
            + " {'class': 'SimpleStrategy', 'replication_factor': 1}");
    ByteBuffer key = ByteBuffer.allocate(Integer.BYTES).putInt(0, 5);
    for (Map.Entry<String, Integer> expected : Map.of("single", 1, "o", 3, "g", 3).entrySet()) {
      Await.until(
          "the replicas of " + expected.getKey() + " are known",
          () ->
              nodes
                      .session
                      .getMetadata()
                      .getTokenMap()
                      .orElseThrow()
                      .getReplicas(expected.getKey(), key)
                      .size()
                  == expected.getValue());
    }
  }

  @Test
  @Order(2)
  void whenATransactionSpansGroupsAndKeyspacesThenAllOfItIsSeenOrNothing() {
    Transaction reader = isolde.begin(TransactionOptions.reading());
    isolde.runVoid(
        tx -> {
          for (int id = 0; id < ACCOUNTS; id++) {
            tx.execute(
                "UPDATE g.accounts SET note = 'spans', l = l + ? WHERE id = ?", List.of(id), id);
          }
          tx.execute("INSERT INTO o.journal (client, n) VALUES (1000, 1)");
          assertThat(tx.execute("SELECT id FROM g.accounts WHERE note = 'spans' ALLOW FILTERING"))
              .hasSize(ACCOUNTS);
          tx.execute("DELETE FROM g.accounts WHERE id = 100");
        });
    for (int id = 0; id < ACCOUNTS; id++) {
      String select = "SELECT note, l FROM g.accounts WHERE id = " + id;
      assertThat(reader.execute(select).one().getString("note")).isNotEqualTo("spans");
      try (Transaction now = isolde.begin()) {
        Row row = now.execute(select).one();
        assertThat(row.getString("note")).isEqualTo("spans");
        assertThat(row.getList("l", Integer.class)).containsExactly(id);
      }
    }
    SimpleStatement pages =
        SimpleStatement.newInstance("SELECT id, note FROM g.accounts").setPageSize(5);
    Set<Integer> seen = new HashSet<>();
    for (Row row : reader.execute(pages)) {
      assertThat(row.getString("note")).isNotEqualTo("spans");
      assertThat(seen.add(row.getInt("id"))).isTrue();
    }
    assertThat(seen).hasSize(ACCOUNTS);
    assertThat(reader.execute("SELECT id FROM g.accounts WHERE id IN (1, 2, 3, 99)")).hasSize(3);
    assertThat(reader.execute("SELECT n FROM o.journal WHERE client = 1000")).isEmpty();
    reader.close();
  }

  @Test
  @Order(2)
  void whenStatementsEndEarlyThenTheirTablesAreFlushedAndDropped() {
    EndedEarly.check(nodes, "g.early", false);
    EndedEarly.check(nodes, "g.early_tx", true);
    EndedEarly.check(nodes, "o.early_tx", true);
    EndedEarly.drain(nodes, 3);
  }

  @Test
  @Order(3)
  void whenOneReadsWhatAnotherWritesThenOneOfThemConflicts() {
    try (Transaction one = isolde.begin();
        Transaction other = isolde.begin()) {
      one.execute(READ, 1);
      other.execute(READ, 2);
      one.execute("UPDATE g.accounts SET note = 'skew' WHERE id = 2");
      other.execute("UPDATE g.accounts SET note = 'skew' WHERE id = 1");
      one.commit();
      assertRefused(ErrorCode.CONFLICT, other::commit);
    }
    try (Transaction one = isolde.begin(snapshotIsolation());
        Transaction other = isolde.begin(snapshotIsolation())) {
      one.execute("UPDATE g.accounts SET note = 'first' WHERE id = 3");
      other.execute("UPDATE g.accounts SET note = 'second' WHERE id = 3");
      one.commit();
      assertRefused(ErrorCode.CONFLICT, other::commit);
    }
  }

  private static TransactionOptions snapshotIsolation() {
    return TransactionOptions.builder().isolationLevel(IsolationLevel.SNAPSHOT).build();
  }

  @Test
  @Order(4)
  void whenItWritesMoreToAPartitionThanALogTakesThenItIsRefusedBeforeTheDecision() {
    try (Transaction large = isolde.begin()) {
      large.execute("UPDATE g.accounts SET note = ? WHERE id = 4", "x".repeat(7 << 19));
      assertRefused(ErrorCode.TRANSACTION_TOO_LARGE, large::commit);
    }
    nodes.execute("UPDATE g.accounts SET note = 'small' WHERE id = 4");
  }

  /** What the killed node leads and coordinates, others take over; nothing is lost or half done. */
  @Test
  @Order(5)
  void whenANodeIsKilledThenTransfersGoOnAndNoMoneyIsLost() throws Exception {
    AtomicBoolean isOver = new AtomicBoolean();
    Set<String> acknowledged = ConcurrentHashMap.newKeySet();
    List<Throwable> wrong = new CopyOnWriteArrayList<>();
    List<Transaction> old = new ArrayList<>();
    List<Thread> clients = new ArrayList<>();
    for (int client = 0; client < CLIENTS; client++) {
      int id = client;
      clients.add(
          new Thread(
              () -> {
                Random random = new Random(id);
                for (int n = 0; !isOver.get(); n++) {
                  transfer(id, n, random, acknowledged);
                  Pace.pause();
                }
              }));
    }
    clients.add(
        new Thread(
            () -> {
              while (!isOver.get()) {
                sum(wrong);
                Pace.pause();
              }
            }));
    clients.forEach(Thread::start);
    try {
      awaitMore(acknowledged);
      for (int i = 0; i < 6; i++) {
        old.add(isolde.begin(TransactionOptions.reading()));
      }
      nodes.cluster.node(2).kill();
      awaitMore(acknowledged);
      nodes.restart(2);
      awaitMore(acknowledged);
    } finally {
      isOver.set(true);
      for (Thread client : clients) {
        client.join();
      }
    }
    assertThat(wrong).isEmpty();
    String address = nodes.cluster.node(2).spec().address();
    assertTooOldOrRight(old, address);
    assertThat(total()).isEqualTo(ACCOUNTS * EACH);
    for (int client = 0; client < CLIENTS; client++) {
      Set<String> found = new HashSet<>();
      int id = client;
      isolde.runVoid(
          tx ->
              tx.execute("SELECT n FROM o.journal WHERE client = ?", id)
                  .forEach(row -> found.add(row.getInt("n") + "")));
      assertThat(found)
          .containsAll(
              acknowledged.stream()
                  .filter(transfer -> transfer.startsWith(id + " "))
                  .map(transfer -> transfer.substring(2))
                  .toList());
    }
  }

  /**
   * The versions that they read were in the memory of the node that was killed. While it leads,
   * they are refused; it may hand leadership over at any moment, and another leader has them.
   */
  private void assertTooOldOrRight(List<Transaction> transactions, String address) {
    List<ErrorCode> refused = new ArrayList<>();
    for (Transaction each : transactions) {
      Await.until("the restarted node leads", () -> leads(address));
      try (each) {
        assertThat(sumOf(each)).isEqualTo(ACCOUNTS * EACH);
      } catch (RuntimeException e) {
        refused.add(IsoldeException.find(e).orElseThrow(() -> e).code());
      }
    }
    // The killed node's own transactions are gone with it.
    assertThat(refused).contains(ErrorCode.SNAPSHOT_TOO_OLD);
  }

  private boolean leads(String address) {
    try {
      nodes.on(1, "ALTER KEYSPACE g LEADER '%s'".formatted(address));
      return true;
    } catch (RuntimeException e) {
      return false; // It has not caught up yet.
    }
  }

  private static void awaitMore(Set<String> acknowledged) {
    int before = acknowledged.size();
    Await.until("transfers go on", () -> acknowledged.size() > before + 40);
  }

  private void transfer(int client, int n, Random random, Set<String> acknowledged) {
    int from = random.nextInt(ACCOUNTS);
    int to = (from + 1 + random.nextInt(ACCOUNTS - 1)) % ACCOUNTS;
    try {
      isolde.runVoid(
          patient(),
          tx -> {
            int source = tx.execute(READ, from).one().getInt("balance");
            int target = tx.execute(READ, to).one().getInt("balance");
            tx.execute(SET, source - 1, from);
            tx.execute(SET, target + 1, to);
            tx.execute("INSERT INTO o.journal (client, n) VALUES (?, ?)", client, n);
          });
      acknowledged.add(client + " " + n);
    } catch (RuntimeException conflictOrKilled) {
      // It may have committed or not.
    }
  }

  private static TransactionOptions patient() {
    return TransactionOptions.builder().maxAttempts(50).timeLimit(Duration.ofSeconds(30)).build();
  }

  private void sum(List<Throwable> wrong) {
    try {
      int total = total();
      if (total != ACCOUNTS * EACH) {
        wrong.add(new AssertionError("The balances sum up to " + total));
      }
    } catch (RuntimeException e) {
      // Its node was killed, or the leader's versions died with it.
      if (IsoldeException.find(e).filter(known -> !known.isRetryable()).isPresent()) {
        wrong.add(e);
      }
    }
  }

  private int total() {
    return isolde.run(TransactionOptions.reading(), StrongTransactionsTest::sumOf);
  }

  private static int sumOf(Transaction transaction) {
    int sum = 0;
    for (Row row : transaction.execute("SELECT balance FROM g.accounts")) {
      sum += row.getInt("balance");
    }
    return sum;
  }

  @Test
  @Order(6)
  void whenDisabledThenTheGroupsServeItAgainAndNothingIsLost() {
    nodes.execute("UPDATE g.accounts SET balance = 7 WHERE id = 5");
    nodes.execute("DISABLE TRANSACTIONS ON g.accounts");
    nodes.cluster.awaitSchemaAgreement(StrongCluster.PATIENCE);
    for (int node = 1; node <= 3; node++) {
      assertThat(nodes.on(node, READ, 5).one().getInt("balance")).isEqualTo(6 + node);
      nodes.on(node, SET, 7 + node, 5);
      assertThat(nodes.on(node, READ, 5).one().getInt("balance")).isEqualTo(7 + node);
    }
    String swap = "UPDATE g.accounts SET balance = 20 WHERE id = 5 IF balance = 10";
    assertThat(nodes.on(1, swap).wasApplied()).isTrue();
    assertThat(nodes.on(2, swap).wasApplied()).isFalse();
  }

  @Test
  @Order(7)
  void whenMemtablesFillFasterThanTheyAreFlushedThenAnotherNodeLeads() {
    StallingLeader.check(nodes, "g");
    assertThat(nodes.on(2, READ, 5).one()).isNotNull();
  }
}
