// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.restart;

import static org.assertj.core.api.Assertions.assertThat;

import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import io.isolde.client.Isolde;
import io.isolde.client.Transaction;
import io.isolde.system.Await;
import io.isolde.system.NodeLogs;
import io.isolde.system.Results;
import io.isolde.system.TestCluster;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * All nodes of a cluster are killed at the same moment, and none has the end of its commit log on
 * disk: Cassandra reads it up to its last mark, which may be a tenth of a second old.
 */
@ExtendWith(NodeLogs.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class KilledTogetherTest {
  private static final int NODES = 3;
  private static final int KILLS = 2;
  private static final int CLIENTS = 16;
  private static final long LOAD_MILLIS = 6_000;
  private static final int ENOUGH = 50;

  /** Together more than an entry of the oracle's log takes at once. */
  private static final int LARGE_PARTS = 30;

  private static final int LARGE_PART_BYTES = 64 << 10;

  /** Cassandra reads the values too, and nodes send each other no more than 32 MiB at once. */
  private static final int PAGE_OF_LARGE = 100;

  private static final int DEFAULT_PAGE = 5000;

  private TestCluster cluster;

  /** What clients were told is committed: a client and its number. */
  private final Set<String> acknowledged = new ConcurrentSkipListSet<>();

  /** The numbers of the large ones of this round. */
  private final Set<Integer> acknowledgedLarge = new ConcurrentSkipListSet<>();

  @BeforeAll
  void startCluster() {
    cluster =
        TestCluster.start(
            "killed-together",
            NODES,
            "127.0.54.1",
            spec ->
                spec.withCassandraSetting("commitlog_sync", "periodic")
                    .withCassandraSetting("commitlog_sync_period", "10s"));
    cluster.change(
        "CREATE KEYSPACE bank WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 3}");
    for (String table : new String[] {"debits", "credits"}) {
      cluster.change(
          "CREATE TABLE bank.%s (client int, n int, PRIMARY KEY ((client, n)))".formatted(table),
          "ENABLE TRANSACTIONS ON bank." + table);
    }
    cluster.change(
        "CREATE TABLE bank.large (round int, n int, part int, v blob, PRIMARY KEY ((n, part), round))",
        "ENABLE TRANSACTIONS ON bank.large");
  }

  @AfterAll
  void removeCluster() {
    if (cluster != null) {
      cluster.close();
    }
  }

  @Test
  void whenAllNodesAreKilledThenNoCommitIsLostOrTorn() throws Exception {
    for (int kill = 0; kill < KILLS; kill++) {
      loadUntilKilled(kill);
      cluster.disconnect();
      cluster.startAllAgain();
      for (int node = 1; node <= NODES; node++) {
        Set<String> debits = rows(node, "debits");
        assertThat(debits).as("after kill %d, node %d", kill, node).containsAll(acknowledged);
        assertThat(rows(node, "credits")).as("after kill %d, torn", kill).isEqualTo(debits);
        assertThat(large(node, kill))
            .as("after kill %d, large", kill)
            .containsAll(acknowledgedLarge);
      }
    }
  }

  private Set<String> rows(int node, String table) {
    return rows(node, "SELECT * FROM bank." + table, DEFAULT_PAGE);
  }

  private Set<String> rows(int node, String query, int pageRows) {
    Set<String> found = new TreeSet<>();
    SimpleStatement statement = SimpleStatement.newInstance(query).setPageSize(pageRows);
    Await.until("it can be read", () -> found.addAll(Results.lines(cluster.on(node, statement))));
    return found;
  }

  /**
   * Returns the numbers of the large commits that are there, and makes sure that they are whole.
   */
  private Set<Integer> large(int node, int round) {
    Map<Integer, Integer> parts = new TreeMap<>();
    for (String line : rows(node, "SELECT n, part, round FROM bank.large", PAGE_OF_LARGE)) {
      String[] columns = line.split(" ", -1);
      if (Integer.parseInt(columns[2]) == round) {
        parts.merge(Integer.parseInt(columns[0]), 1, Integer::sum);
      }
    }
    assertThat(parts.values()).as("parts of large commits").containsOnly(LARGE_PARTS);
    return parts.keySet();
  }

  private void writeLargeWhile(AtomicBoolean isRunning, Isolde isolde, int round) {
    ByteBuffer value = ByteBuffer.allocate(LARGE_PART_BYTES);
    for (int n = 0; isRunning.get(); n++) {
      try (Transaction transaction = isolde.begin()) {
        for (int part = 0; part < LARGE_PARTS; part++) {
          transaction.execute(
              "INSERT INTO bank.large (n, part, round, v) VALUES (?, ?, ?, ?)",
              n,
              part,
              round,
              value.duplicate());
        }
        if (transaction.commit().commitTimestamp().isPresent()) {
          acknowledgedLarge.add(n);
        }
      } catch (RuntimeException killed) {
        // It was not acknowledged.
      }
    }
  }

  private void loadUntilKilled(int round) throws Exception {
    acknowledgedLarge.clear();
    int before = acknowledged.size();
    AtomicBoolean isRunning = new AtomicBoolean(true);
    Isolde isolde = Isolde.on(cluster.session());
    ExecutorService threads = Executors.newFixedThreadPool(CLIENTS + 1);
    try {
      CompletableFuture<?>[] clients = new CompletableFuture<?>[CLIENTS + 1];
      clients[CLIENTS] =
          CompletableFuture.runAsync(() -> writeLargeWhile(isRunning, isolde, round), threads);
      for (int i = 0; i < CLIENTS; i++) {
        int client = 100 * round + i;
        clients[i] =
            CompletableFuture.runAsync(() -> writeWhile(isRunning, isolde, client), threads);
      }
      Thread.sleep(LOAD_MILLIS);
      Await.until(
          "commits were answered",
          () -> acknowledged.size() > before + ENOUGH && acknowledgedLarge.size() > 1);
      cluster.killAll();
      isRunning.set(false);
      CompletableFuture.allOf(clients).get();
    } finally {
      threads.shutdownNow();
    }
  }

  private void writeWhile(AtomicBoolean isRunning, Isolde isolde, int client) {
    for (int n = 0; isRunning.get(); n++) {
      try (Transaction transaction = isolde.begin()) {
        transaction.execute(insert("debits", client, n));
        transaction.execute(insert("credits", client, n));
        if (transaction.commit().commitTimestamp().isPresent()) {
          acknowledged.add(client + " " + n);
        }
      } catch (RuntimeException killed) {
        // Then nobody was told that it is committed.
      }
    }
  }

  private static String insert(String table, int client, int n) {
    return "INSERT INTO bank.%s (client, n) VALUES (%d, %d)".formatted(table, client, n);
  }
}
