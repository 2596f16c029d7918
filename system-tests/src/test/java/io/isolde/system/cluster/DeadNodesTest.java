// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.DriverException;
import com.datastax.oss.driver.api.core.config.DefaultDriverOption;
import com.datastax.oss.driver.api.core.config.DriverConfigLoader;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.metadata.Node;
import io.isolde.client.Isolde;
import io.isolde.client.IsoldeException;
import io.isolde.client.Transaction;
import io.isolde.client.TransactionOptions;
import io.isolde.cluster.LocalCluster;
import io.isolde.cluster.NodeSpec;
import io.isolde.system.Await;
import io.isolde.system.NodeLogs;
import io.isolde.system.Pace;
import io.isolde.system.ShortLived;
import io.isolde.system.TestFork;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Three nodes that are the oracle's members and the coordinators at once, one of which is killed
 * while money moves. What it had decided is finished by the others, what it had not is gone, and
 * nobody waits for it.
 */
@ExtendWith(NodeLogs.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class DeadNodesTest {
  private static final int NODES = 3;
  private static final int ACCOUNTS = 12;
  private static final int INITIAL = 100;
  private static final int CLIENTS = 3;
  private static final int LOCKERS = 6;
  private static final long LEASE_MILLIS = 5_000;
  private static final int ADDITIONS = 20;

  /** After a death: enough that none of the accounts is stuck. */
  private static final int TRANSFERS = 30;

  private static final Duration PATIENCE = Duration.ofMinutes(3);

  private final AtomicInteger done = new AtomicInteger();
  private final AtomicBoolean isOver = new AtomicBoolean();
  private LocalCluster cluster;
  private CqlSession session;

  @BeforeAll
  void startCluster() {
    Path folder = TestFork.clusters().resolve("dead-nodes");
    LocalCluster.removeIfPresent(folder);
    NodeSpec first = ShortLived.nodeAt("127.0.41.1");
    cluster = LocalCluster.create(folder, NODES, first);
    cluster.start();
    cluster.awaitMembership(PATIENCE);
    session =
        CqlSession.builder()
            .addContactPoints(cluster.contactPoints())
            .withLocalDatacenter("datacenter1")
            .withConfigLoader(
                DriverConfigLoader.programmaticBuilder()
                    .withDuration(DefaultDriverOption.REQUEST_TIMEOUT, Duration.ofSeconds(20))
                    .withDuration(
                        DefaultDriverOption.CONTROL_CONNECTION_TIMEOUT, Duration.ofSeconds(20))
                    .withDuration(
                        DefaultDriverOption.RECONNECTION_BASE_DELAY, Duration.ofMillis(200))
                    .withDuration(DefaultDriverOption.RECONNECTION_MAX_DELAY, Duration.ofSeconds(2))
                    .build())
            .build();
    executeOnOneNode(
        "CREATE KEYSPACE bank WITH replication ="
            + " {'class': 'SimpleStrategy', 'replication_factor': 3}",
        "CREATE TABLE bank.accounts (id int PRIMARY KEY, balance int)",
        "ENABLE TRANSACTIONS ON bank.accounts");
    for (int id = 0; id < ACCOUNTS; id++) {
      session.execute(
          "INSERT INTO bank.accounts (id, balance) VALUES (%d, %d)".formatted(id, INITIAL));
    }
  }

  /** Each of the statements needs the one before, which other nodes may not know of yet. */
  private void executeOnOneNode(String... statements) {
    Node node = session.getMetadata().getNodes().values().iterator().next();
    for (String statement : statements) {
      session.execute(SimpleStatement.newInstance(statement).setNode(node));
    }
    cluster.awaitSchemaAgreement(PATIENCE);
  }

  @AfterAll
  void removeCluster() {
    if (session != null) {
      session.close();
    }
    if (cluster != null) {
      cluster.kill();
      cluster.remove();
    }
  }

  @Test
  void whenTheLeaderIsKilledAndThenAnotherNodeThenMoneyMovesOnAndNoneIsLost() throws Exception {
    ExecutorService clients = Executors.newFixedThreadPool(CLIENTS);
    try {
      List<CompletableFuture<Void>> all = new ArrayList<>();
      for (int client = 0; client < CLIENTS; client++) {
        Random random = new Random(client);
        String how = client == 0 ? "" : " FOR UPDATE"; // Locks of the dead must not stay.
        all.add(CompletableFuture.runAsync(() -> transferUntilOver(random, how), clients));
      }
      awaitTransfers("before any death");
      killAndStart(leader());
      killAndStart(1 + leader() % NODES);
      isOver.set(true);
      CompletableFuture.allOf(all.toArray(CompletableFuture[]::new))
          .get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    } finally {
      isOver.set(true);
      clients.shutdownNow();
    }
    assertThat(sum()).isEqualTo(ACCOUNTS * INITIAL);
  }

  /** The queues are in the cluster: it does not matter over which node a client comes. */
  @Test
  void whenManyLockOneRowOverAllNodesThenNobodyHasAConflict() throws Exception {
    session.execute("INSERT INTO bank.accounts (id, balance) VALUES (-1, 0)");
    ExecutorService clients = Executors.newFixedThreadPool(LOCKERS);
    try {
      List<CompletableFuture<Void>> all = new ArrayList<>();
      for (int client = 0; client < LOCKERS; client++) {
        all.add(CompletableFuture.runAsync(this::addWithLock, clients));
      }
      CompletableFuture.allOf(all.toArray(CompletableFuture[]::new))
          .get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    } finally {
      clients.shutdownNow();
    }
    int balance = Isolde.on(session).run(options(), tx -> balance(tx, -1, ""));
    assertThat(balance).isEqualTo(LOCKERS * ADDITIONS);
    session.execute("DELETE FROM bank.accounts WHERE id = -1");
  }

  /** Nodes renew what they have, at whoever leads. */
  @Test
  void whenAnotherMemberLeadsThenWhatWasLockedIsLocked() throws Exception {
    try (Transaction first = Isolde.on(session).begin();
        Transaction second = Isolde.on(session).begin()) {
      assertThat(balance(first, 1, " FOR UPDATE")).isPositive();
      String next = cluster.node(1 + leader() % NODES).spec().address();
      session.execute("ALTER ORACLE LEADER '%s'".formatted(next));
      Await.until("another member leads", () -> next.equals(leaderAddress()));
      Thread.sleep(LEASE_MILLIS); // What is not renewed has gone by then.
      assertThatThrownBy(() -> balance(second, 1, " FOR UPDATE NOWAIT"))
          .hasMessageContaining("ROW_LOCKED")
          .hasMessageContaining(first.id().toString());
      first.commit();
      assertThat(balance(second, 1, " FOR UPDATE")).isPositive();
    }
  }

  private void addWithLock() {
    for (int i = 0; i < ADDITIONS; i++) {
      try (Transaction tx = Isolde.on(session).begin()) { // No attempt but this one.
        int before = balance(tx, -1, " FOR UPDATE");
        tx.execute("UPDATE bank.accounts SET balance = ? WHERE id = -1", before + 1);
        tx.commit();
      }
    }
  }

  private void killAndStart(int number) throws InterruptedException {
    cluster.node(number).kill();
    awaitTransfers("after the death of node " + number);
    assertThat(sum()).isEqualTo(ACCOUNTS * INITIAL);
    cluster.node(number).start();
    awaitTransfers("after the return of node " + number);
  }

  /** The number of the node that leads the oracle. */
  private int leader() {
    Await.until("a node knows who leads", () -> leaderAddress() != null);
    String address = leaderAddress();
    return IntStream.rangeClosed(1, NODES)
        .filter(number -> cluster.node(number).spec().address().equals(address))
        .findFirst()
        .orElseThrow(() -> new AssertionError("no node at " + address));
  }

  private String leaderAddress() {
    return session.execute("SELECT leader FROM isolde.oracle").one().getString(0);
  }

  private void transferUntilOver(Random random, String how) {
    while (!isOver.get()) {
      int from = random.nextInt(ACCOUNTS);
      int to = (from + 1 + random.nextInt(ACCOUNTS - 1)) % ACCOUNTS;
      try {
        Isolde.on(session).runVoid(options(), tx -> transfer(tx, from, to, how));
        done.incrementAndGet();
      } catch (IsoldeException | DriverException itsNodeDied) {
        // Whether it is committed may be unknown to the client; the sum must be right either way.
      }
      Pace.pause();
    }
  }

  private static TransactionOptions options() {
    return TransactionOptions.builder().maxAttempts(50).timeLimit(Duration.ofSeconds(30)).build();
  }

  private static void transfer(Transaction tx, int from, int to, String how) {
    int source = balance(tx, from, how);
    int target = balance(tx, to, how);
    tx.execute("UPDATE bank.accounts SET balance = ? WHERE id = ?", source - 1, from);
    tx.execute("UPDATE bank.accounts SET balance = ? WHERE id = ?", target + 1, to);
  }

  private static int balance(Transaction tx, int id, String how) {
    return tx.execute("SELECT balance FROM bank.accounts WHERE id = ?" + how, id).one().getInt(0);
  }

  private int sum() {
    return Isolde.on(session)
        .run(
            TransactionOptions.reading().toBuilder().timeLimit(PATIENCE).maxAttempts(50).build(),
            tx -> {
              int sum = 0;
              for (Row row : tx.execute("SELECT balance FROM bank.accounts")) {
                sum += row.getInt(0);
              }
              return sum;
            });
  }

  private void awaitTransfers(String when) throws InterruptedException {
    int target = done.get() + TRANSFERS;
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (done.get() < target) {
      assertThat(System.nanoTime())
          .as("%d of %d transfers %s", done.get() + TRANSFERS - target, TRANSFERS, when)
          .isLessThan(deadline);
      Thread.sleep(50);
    }
  }
}
