// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.pushing;

import static org.assertj.core.api.Assertions.assertThat;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.ResultSet;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import io.isolde.client.Isolde;
import io.isolde.client.PushOptions;
import io.isolde.client.Watch;
import io.isolde.client.WatchListener;
import io.isolde.system.Await;
import io.isolde.system.TestCluster;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * A thousand clients hear of changes while nodes die and come back, and sessions move. What each
 * has heard is compared with what the oracle says was committed.
 */
class HandOverTest {
  private static final int CLIENTS = 1_000;
  private static final int KEYS = 20;
  private static final int PAUSE_MILLIS = 10;
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
            "push-cluster", 3, "127.0.49.1", spec -> spec.withIsoldeSetting("push_port", "7314"));
    cluster.change(
        "CREATE KEYSPACE systests WITH replication ="
            + " {'class': 'SimpleStrategy', 'replication_factor': 3}",
        "CREATE TABLE %s (p int PRIMARY KEY, v int)".formatted(TABLE),
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

  /** As the oracle knows them, asked for in the other way. */
  private static List<Long> committed(int key, long begin, long end) {
    List<Long> commits = new ArrayList<>();
    long position = begin;
    while (position < end) {
      ResultSet rows =
          cluster.on(
              1,
              SimpleStatement.newInstance(
                  "SELECT CHANGES FROM %s WHERE p = %d AFTER %d WITHIN 0 MILLISECONDS"
                      .formatted(TABLE, key, position)));
      for (Row row : rows) {
        if (row.getString("event").equals("change") && row.getLong("timestamp") <= end) {
          commits.add(row.getLong("timestamp"));
        }
        position = row.getLong("timestamp");
      }
    }
    return commits;
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
    AtomicInteger written = new AtomicInteger();
    Thread writer = new Thread(() -> write(isOver, written));
    writer.start();
    Thread.sleep(3_000);
    cluster.node(3).kill();
    Thread.sleep(3_000);
    cluster.node(3).start();
    awaitBalance(3);
    isOver.set(true);
    writer.join();
    int answered = written.get(); // Others are still under way.
    Thread.sleep(1_000); // All nodes know of these then.
    long end = now();
    for (int key = 0; key < KEYS; key++) {
      write(key);
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
      List<Long> committed = committed(key, begin, end);
      commits += committed.size();
      for (Heard heard : clients) {
        if (heard.key == key) {
          assertThat(heard.failure).isNull();
          assertThat(heard.lost).hasValue(0);
          assertThat(heard.commits.stream().filter(each -> each <= end).toList())
              .as("key %d", key)
              .isEqualTo(committed);
        }
      }
    }
    System.out.printf("%d commits, %d of them answered.%n", commits, answered);
    assertThat(commits).isGreaterThanOrEqualTo(answered);
    clients.forEach(heard -> heard.watch.close());
  }

  private static void write(AtomicBoolean isOver, AtomicInteger written) {
    for (int i = 0; !isOver.get(); i++) {
      var unused =
          cluster
              .session()
              .executeAsync("UPDATE %s SET v = %d WHERE p = %d".formatted(TABLE, i, i % KEYS))
              .thenRun(written::incrementAndGet);
      try {
        Thread.sleep(PAUSE_MILLIS);
      } catch (InterruptedException e) {
        return;
      }
    }
  }

  private static void write(int key) {
    cluster.on(1, "UPDATE %s SET v = -1 WHERE p = %d".formatted(TABLE, key));
  }
}
