// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.strong;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.datastax.oss.driver.api.core.DefaultConsistencyLevel;
import com.datastax.oss.driver.api.core.DriverException;
import com.datastax.oss.driver.api.core.cql.BatchStatement;
import com.datastax.oss.driver.api.core.cql.DefaultBatchType;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.servererrors.InvalidQueryException;
import io.isolde.system.Await;
import io.isolde.system.Pace;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/** Counters of a strong keyspace: what was answered is counted once, whoever dies. */
final class StrongCounters {
  private static final int CLIENTS = 3;
  private static final int ADDED = 40;

  private final StrongCluster nodes;
  private final AtomicBoolean isOver = new AtomicBoolean();
  private final AtomicLong answered = new AtomicLong();
  private final AtomicLong unknown = new AtomicLong();
  private final Thread thread;

  private StrongCounters(StrongCluster nodes, int through) {
    this.nodes = nodes;
    thread = new Thread(() -> count(through));
    thread.setDaemon(true);
  }

  private void count(int through) {
    while (!isOver.get()) {
      try {
        nodes.on(through, "UPDATE s.counted SET a = a + 1 WHERE p = 99 AND c = 0");
        answered.incrementAndGet();
      } catch (DriverException e) {
        unknown.incrementAndGet();
      }
      Pace.pause();
    }
  }

  /** A client that counts through a node until it is ended. */
  static StrongCounters start(StrongCluster nodes, int through) {
    StrongCounters counting = new StrongCounters(nodes, through);
    counting.thread.start();
    Await.until("it counts", () -> counting.answered.get() > 5);
    return counting;
  }

  /** Ends it, and compares what was answered with what each node says. */
  void end(int... askedNodes) throws InterruptedException {
    isOver.set(true);
    thread.join();
    for (int node : askedNodes) {
      assertThat(value(nodes, node, "a", 99, 0))
          .isBetween(answered.get(), answered.get() + unknown.get());
    }
  }

  static void check(StrongCluster nodes) throws InterruptedException {
    nodes.execute(
        "CREATE TABLE s.counted (p int, c int, s counter static, a counter, b counter,"
            + " PRIMARY KEY (p, c))");
    nodes.cluster.awaitSchemaAgreement(StrongCluster.PATIENCE);
    checkThatAllAreCounted(nodes);
    checkDeletions(nodes);
    checkBatches(nodes);
  }

  private static Long value(StrongCluster nodes, int node, String column, int p, int c) {
    Row row = nodes.on(node, "SELECT * FROM s.counted WHERE p = ? AND c = ?", p, c).one();
    return row == null ? null : row.get(column, Long.class);
  }

  private static void checkThatAllAreCounted(StrongCluster nodes) throws InterruptedException {
    PreparedStatement add =
        nodes.session.prepare("UPDATE s.counted SET a = a + ?, b = b - 1 WHERE p = 0 AND c = 0");
    Thread[] clients = new Thread[CLIENTS];
    for (int i = 0; i < CLIENTS; i++) {
      int node = i + 1;
      clients[i] =
          new Thread(
              () -> {
                for (long added = 1; added <= ADDED; added++) {
                  nodes.on(node, add.bind(added));
                }
              });
      clients[i].start();
    }
    for (Thread client : clients) {
      client.join();
    }
    for (int node = 1; node <= 3; node++) {
      assertThat(value(nodes, node, "a", 0, 0)).isEqualTo(CLIENTS * ADDED * (ADDED + 1L) / 2);
      assertThat(value(nodes, node, "b", 0, 0)).isEqualTo(-CLIENTS * (long) ADDED);
    }
  }

  /** Cassandra would never show a counter again that was deleted as a column. */
  private static void checkDeletions(StrongCluster nodes) {
    nodes.on(1, "UPDATE s.counted SET a = a + 7, b = b + 8 WHERE p = 1 AND c = 0");
    nodes.on(2, "DELETE a FROM s.counted WHERE p = 1 AND c = 0");
    assertThat(value(nodes, 3, "a", 1, 0)).isNull();
    awaitOnReplicas(nodes, "b", 8);
    refused(nodes, "DELETE s FROM s.counted WHERE p = 1");
    refused(
        nodes,
        "BEGIN COUNTER BATCH DELETE a FROM s.counted WHERE p = 1 AND c = 0;"
            + " UPDATE s.counted SET a = a + 1 WHERE p = 1 AND c = 0; APPLY BATCH");
    nodes.on(3, "UPDATE s.counted SET a = a + 1, b = b + 1 WHERE p = 1 AND c = 0");
    assertThat(value(nodes, 1, "a", 1, 0)).isEqualTo(1);
    assertThat(value(nodes, 1, "b", 1, 0)).isEqualTo(9);
    nodes.on(1, "DELETE FROM s.counted WHERE p = 1");
    nodes.on(2, "UPDATE s.counted SET a = a + 2, s = s + 3 WHERE p = 1 AND c = 0");
    assertThat(value(nodes, 3, "a", 1, 0)).isEqualTo(2);
    assertThat(value(nodes, 3, "b", 1, 0)).isNull();
    assertThat(value(nodes, 3, "s", 1, 0)).isEqualTo(3);
    nodes.on(3, "TRUNCATE s.counted");
    nodes.on(1, "UPDATE s.counted SET a = a + 4 WHERE p = 1 AND c = 0");
    assertThat(value(nodes, 2, "a", 1, 0)).isEqualTo(4);
    awaitOnReplicas(nodes, "a", 4);
  }

  private static void refused(StrongCluster nodes, String cql) {
    assertThatThrownBy(() -> nodes.on(1, cql))
        .isInstanceOf(InvalidQueryException.class)
        .hasMessageContaining("code=UNSUPPORTED_COUNTER");
  }

  /** What followers have comes from the bytes of the log. */
  private static void awaitOnReplicas(StrongCluster nodes, String column, long value) {
    SimpleStatement onReplica =
        SimpleStatement.newInstance("SELECT a, b FROM s.counted WHERE p = 1 AND c = 0")
            .setConsistencyLevel(DefaultConsistencyLevel.ONE);
    for (int node = 1; node <= 3; node++) {
      int asked = node;
      Await.until(
          "each replica has it",
          () -> {
            Row row = nodes.on(asked, onReplica).one();
            return row != null && row.getLong(column) == value;
          });
    }
  }

  private static void checkBatches(StrongCluster nodes) {
    StringBuilder batch = new StringBuilder("BEGIN COUNTER BATCH ");
    for (int p = 10; p < 20; p++) {
      batch.append("UPDATE s.counted SET a = a + 1 WHERE p = %d AND c = 0; ".formatted(p));
      batch.append("UPDATE s.counted SET a = a + 1 WHERE p = %d AND c = 0; ".formatted(p));
    }
    PreparedStatement add =
        nodes.session.prepare("UPDATE s.counted SET a = a + ? WHERE p = ? AND c = 0");
    BatchStatement list =
        BatchStatement.newInstance(
            DefaultBatchType.COUNTER, add.bind(10L, 10), add.bind(10L, 10), add.bind(20L, 11));
    for (int node = 1; node <= 3; node++) {
      nodes.on(node, batch + "APPLY BATCH");
      nodes.on(node, list);
    }
    assertThat(value(nodes, 1, "a", 10, 0)).isEqualTo(66);
    assertThat(value(nodes, 2, "a", 11, 0)).isEqualTo(66);
    assertThat(value(nodes, 3, "a", 19, 0)).isEqualTo(6);
  }

  /** After all nodes were killed and have applied their logs again. */
  static void checkAgain(StrongCluster nodes) {
    for (int node = 1; node <= 3; node++) {
      assertThat(value(nodes, node, "a", 10, 0)).isEqualTo(66);
      assertThat(value(nodes, node, "a", 1, 0)).isEqualTo(4);
    }
  }
}
