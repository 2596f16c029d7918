// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.restart;

import static io.isolde.system.Refusals.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.client.ErrorCode;
import io.isolde.client.Transaction;
import io.isolde.client.TransactionOptions;
import io.isolde.system.Await;
import io.isolde.system.Results;
import io.isolde.system.SystemNode;
import java.time.Duration;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/** A node that stops, or is killed, and comes back with what it has committed. */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class RestartTest {

  private static final int KILLS = 4;
  private static final int ACCOUNTS = 10;
  private static final int CLIENTS = 3;
  private static final long LOAD_MILLIS = 800;

  private static SystemNode node;
  private static String table;
  private static String journal;

  @BeforeAll
  static void startNode() {
    node =
        SystemNode.start(
            "restart",
            "127.0.31.5",
            spec ->
                spec.withCassandraSetting("commitlog_sync", "batch")
                    .withCassandraSetting("commitlog_sync_period", "0ms"));
    node.useKeyspace();
    table = node.table("id int PRIMARY KEY, balance int");
    journal = node.table("client int, n int, PRIMARY KEY (client, n)");
    for (int id = 0; id < ACCOUNTS; id++) {
      node.session().execute("INSERT INTO %s (id, balance) VALUES (%d, 100)".formatted(table, id));
    }
  }

  @AfterAll
  static void stopNode() {
    node.close();
  }

  @Test
  @Order(1)
  void whenRestartedThenDataIsThereTimeGoesOnAndThePastIsRefused() {
    long committed;
    Transaction open = node.isolde().begin();
    try (Transaction transaction = node.isolde().begin()) {
      transaction.execute("UPDATE %s SET balance = 100 WHERE id = 1".formatted(table));
      committed = transaction.commit().commitTimestamp().orElseThrow();
    }
    node.disconnect();
    node.process().restart();
    assertThat(sum()).isEqualTo(100 * ACCOUNTS);
    assertRefused(
        ErrorCode.AS_OF_TOO_OLD,
        () -> {
          try (Transaction past = node.isolde().begin(TransactionOptions.asOf(committed))) {
            past.execute("SELECT * FROM " + table);
          }
        });
    try (Transaction transaction = node.isolde().begin()) {
      assertThat(transaction.startTimestamp()).isGreaterThan(committed);
      transaction.execute("UPDATE %s SET balance = 100 WHERE id = 1".formatted(table));
      assertThat(transaction.commit().commitTimestamp().orElseThrow()).isGreaterThan(committed);
    }
    assertThat(open.isOpen()).isTrue();
  }

  @Test
  @Order(2)
  void whenKilledUnderLoadThenEveryCommitIsWholeAndNoneIsLost() throws Exception {
    Set<String> acknowledged = new ConcurrentSkipListSet<>();
    long last = 0;
    for (int kill = 0; kill < KILLS; kill++) {
      last = Math.max(last, loadUntilKilled(kill, acknowledged));
      node.disconnect();
      node.process().start();
      assertThat(sum()).as("after kill %d", kill).isEqualTo(100 * ACCOUNTS);
      Set<String> found =
          new TreeSet<>(Results.lines(node.session().execute("SELECT * FROM " + journal)));
      assertThat(found).as("after kill %d", kill).containsAll(acknowledged);
      try (Transaction transaction = node.isolde().begin()) {
        assertThat(transaction.startTimestamp()).isGreaterThan(last);
      }
    }
  }

  /** Returns the newest commit timestamp that anybody was told. */
  private static long loadUntilKilled(int round, Set<String> acknowledged) throws Exception {
    int before = acknowledged.size();
    AtomicBoolean running = new AtomicBoolean(true);
    var newest = new AtomicLong();
    CompletableFuture<?>[] clients = new CompletableFuture<?>[CLIENTS];
    for (int client = 0; client < CLIENTS; client++) {
      int id = 100 * round + client;
      clients[client] =
          CompletableFuture.runAsync(
              () -> {
                for (int n = 0; running.get(); n++) {
                  long committed = transfer(id, n);
                  newest.accumulateAndGet(committed, Math::max);
                  if (committed > 0) {
                    acknowledged.add(id + " " + n);
                  }
                }
              });
    }
    Thread.sleep(LOAD_MILLIS);
    Await.until("commits were answered", () -> acknowledged.size() > before + CLIENTS);
    node.process().kill();
    running.set(false);
    for (CompletableFuture<?> client : clients) {
      client.get();
    }
    return newest.get();
  }

  /** Returns the commit timestamp, or 0 if it was not committed, or nobody said so. */
  private static long transfer(int client, int n) {
    int from = n % ACCOUNTS;
    int to = (n + 1 + client % (ACCOUNTS - 1)) % ACCOUNTS;
    try (Transaction transaction =
        node.isolde()
            .begin(TransactionOptions.builder().timeLimit(Duration.ofMillis(100)).build())) {
      int source = balance(transaction, from);
      int target = balance(transaction, to);
      if (from != to) {
        set(transaction, from, source - 1);
        set(transaction, to, target + 1);
      }
      transaction.execute(
          "INSERT INTO %s (client, n) VALUES (%d, %d)".formatted(journal, client, n));
      return transaction.commit().commitTimestamp().orElse(0);
    } catch (RuntimeException conflictOrKilled) {
      return 0;
    }
  }

  private static int balance(Transaction transaction, int id) {
    return transaction
        .execute("SELECT balance FROM %s WHERE id = %d".formatted(table, id))
        .one()
        .getInt("balance");
  }

  private static void set(Transaction transaction, int id, int balance) {
    transaction.execute("UPDATE %s SET balance = %d WHERE id = %d".formatted(table, balance, id));
  }

  private static int sum() {
    return Results.lines(node.session().execute("SELECT balance FROM " + table)).stream()
        .mapToInt(Integer::parseInt)
        .sum();
  }
}
