// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.pushing;

import static org.assertj.core.api.Assertions.assertThat;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.DefaultConsistencyLevel;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import io.isolde.client.Isolde;
import io.isolde.client.PushOptions;
import io.isolde.client.Watch;
import io.isolde.client.WatchListener;
import io.isolde.system.Await;
import io.isolde.system.Pace;
import io.isolde.system.TestCluster;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * A thousand clients hear of changes while nodes die and come back, and sessions move. Each change
 * makes a row of its own, so the table says at last what there was to be heard.
 */
class HandOverTest {
  private static final int CLIENTS = 1_000;
  private static final int KEYS = 20;
  private static final String TABLE = "systests.pushed";
  private static final int MAX_BALANCE_SECONDS = 60;
  private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

  private static TestCluster cluster;

  /** What one client has heard. */
  private static final class Heard implements WatchListener {
    private final int key;
    private final ConcurrentLinkedQueue<Long> commits = new ConcurrentLinkedQueue<>();
    private final AtomicInteger lost = new AtomicInteger();
    private volatile Throwable failure;
    private Watch watch;

    private Heard(int key) {
      this.key = key;
    }

    @Override
    public void changed(long commitTimestamp) {
      commits.add(commitTimestamp);
    }

    @Override
    public void lost(long position) {
      lost.incrementAndGet();
    }

    @Override
    public void failed(Throwable error) {
      failure = error;
    }
  }

  @BeforeAll
  static void startCluster() {
    cluster =
        TestCluster.start(
            "push-cluster", 3, "127.0.59.1", spec -> spec.withIsoldeSetting("push_port", "7314"));
    cluster.change(
        "CREATE KEYSPACE systests WITH replication ="
            + " {'class': 'SimpleStrategy', 'replication_factor': 3}",
        "CREATE TABLE %s (p int, c int, v int, PRIMARY KEY (p, c))".formatted(TABLE),
        "ENABLE TRANSACTIONS ON " + TABLE);
  }

  @AfterAll
  static void stopCluster() {
    cluster.close();
  }

  private static Map<String, Integer> watchersByNode() {
    Map<String, Integer> watchers = new HashMap<>();
    for (Row row : cluster.on(1, "SELECT node, watchers FROM isolde.push_nodes")) {
      watchers.put(row.getString("node"), row.getInt("watchers"));
    }
    return watchers;
  }

  /** Some may be on their way, and are counted twice, or nowhere. */
  private static boolean isBalanced(int nodes) {
    Map<String, Integer> watchers = watchersByNode();
    int all = watchers.values().stream().mapToInt(each -> each).sum();
    int share = all / nodes;
    return watchers.size() == nodes
        && Math.abs(all - CLIENTS) <= CLIENTS / 20
        && watchers.values().stream().allMatch(each -> Math.abs(each - share) <= share / 4);
  }

  private static void awaitBalance(int nodes) {
    long start = System.nanoTime();
    while (!isBalanced(nodes)) {
      assertThat(System.nanoTime() - start)
          .as("the watchers are balanced: %s", watchersByNode())
          .isLessThan(TimeUnit.SECONDS.toNanos(MAX_BALANCE_SECONDS));
      LockSupport.parkNanos(LOOK_NANOS);
    }
    System.out.printf(
        "Balanced within %d ms: %s%n", (System.nanoTime() - start) / 1_000_000, watchersByNode());
  }

  private static long now() {
    return position("SELECT CHANGES FROM %s AFTER NOW WITHIN 0 MILLISECONDS".formatted(TABLE));
  }

  private static long position(String select) {
    long position = 0;
    for (Row row : cluster.on(1, select)) {
      position = row.getLong("timestamp");
    }
    return position;
  }

  private static List<Long> committed(int key) {
    SimpleStatement select =
        SimpleStatement.newInstance("SELECT WRITETIME(v) FROM %s WHERE p = ?".formatted(TABLE), key)
            .setConsistencyLevel(DefaultConsistencyLevel.SERIAL);
    return cluster.on(1, select).all().stream().map(row -> row.getLong(0)).sorted().toList();
  }

  @Test
  void whenNodesDieAndSessionsMoveThenEachClientHearsOfEachCommitOnceAndInOrder() throws Exception {
    CqlSession session = cluster.session();
    PushOptions options = PushOptions.defaults();
    long begin = now();
    List<Heard> clients = new ArrayList<>();
    for (int i = 0; i < CLIENTS; i++) {
      Heard heard = new Heard(i % KEYS);
      heard.watch =
          Isolde.on(session)
              .withPush(options)
              .watch(
                  "SELECT CHANGES FROM %s WHERE p = ?".formatted(TABLE),
                  List.of(heard.key),
                  OptionalLong.of(begin),
                  heard);
      clients.add(heard);
    }
    awaitBalance(3);
    AtomicBoolean isOver = new AtomicBoolean();
    CompletableFuture<List<CompletableFuture<?>>> writing =
        CompletableFuture.supplyAsync(() -> write(isOver));
    Thread.sleep(3_000);
    cluster.node(3).kill();
    Thread.sleep(3_000);
    cluster.node(3).start();
    Await.until("sessions move", () -> watchersByNode().getOrDefault(address(3), 0) > 0);
    cluster.node(2).kill(); // which they leave
    Thread.sleep(3_000);
    cluster.node(2).start();
    awaitBalance(3);
    isOver.set(true);
    List<CompletableFuture<?>> writes = writing.join();
    long answered = writes.stream().filter(each -> !failed(each)).count();
    for (int key = 0; key < KEYS; key++) {
      cluster.on(1, insert(key, -1));
    }
    long last = now();
    Await.until(
        "all have heard of all",
        () ->
            clients.stream()
                .allMatch(
                    heard -> heard.failure != null || heard.watch.position().orElse(0) >= last));
    int commits = 0;
    for (int key = 0; key < KEYS; key++) {
      List<Long> committed = committed(key);
      commits += committed.size();
      for (Heard heard : clients) {
        if (heard.key == key) {
          assertThat(heard.failure).isNull();
          assertThat(heard.lost).hasValue(0);
          assertThat(List.copyOf(heard.commits)).as("key %d", key).isEqualTo(committed);
        }
      }
    }
    System.out.printf("%d commits, %d of them answered.%n", commits, answered + KEYS);
    assertThat(answered).isPositive();
    assertThat(commits).isGreaterThanOrEqualTo((int) answered + KEYS);
    clients.forEach(heard -> heard.watch.close());
  }

  private static String address(int node) {
    return cluster.node(node).spec().address();
  }

  /** Waits for the answer; one that failed may be written or not. */
  private static boolean failed(CompletableFuture<?> write) {
    return write.handle((done, error) -> error != null).join();
  }

  private static List<CompletableFuture<?>> write(AtomicBoolean isOver) {
    List<CompletableFuture<?>> answers = new ArrayList<>();
    for (int i = 0; !isOver.get(); i++) {
      answers.add(cluster.session().executeAsync(insert(i % KEYS, i)).toCompletableFuture());
      Pace.pause();
    }
    return answers;
  }

  private static String insert(int key, int row) {
    return "INSERT INTO %s (p, c, v) VALUES (%d, %d, 1)".formatted(TABLE, key, row);
  }
}
