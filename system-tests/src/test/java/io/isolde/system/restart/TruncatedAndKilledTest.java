// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.restart;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.datastax.oss.driver.api.core.DefaultConsistencyLevel;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import io.isolde.client.Isolde;
import io.isolde.client.Transaction;
import io.isolde.system.Await;
import io.isolde.system.NodeLogs;
import io.isolde.system.Results;
import io.isolde.system.TestCluster;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Nodes are killed right after TRUNCATE while the timestamps of commits are ahead of their clocks,
 * and get back from the oracle's log what they have lost: nothing from before.
 */
@ExtendWith(NodeLogs.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class TruncatedAndKilledTest {
  private static final int NODES = 3;
  private static final int ROWS = 20;

  /** Longer than it takes from the first commit to TRUNCATE. */
  private static final long AHEAD_MILLIS = 60_000;

  private TestCluster cluster;

  @BeforeAll
  void startCluster() {
    cluster =
        TestCluster.start(
            "truncated-and-killed",
            NODES,
            "127.0.61.1",
            spec ->
                spec.withCassandraSetting("commitlog_sync", "periodic")
                    .withCassandraSetting("commitlog_sync_period", "10s")
                    .withIsoldeSetting("max_timestamp_lead", "2m"));
    cluster.change(
        "CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 3}",
        "CREATE TABLE shop.baskets (id int PRIMARY KEY, v int)",
        "CREATE TABLE shop.future (id int PRIMARY KEY, v int)",
        "ENABLE TRANSACTIONS ON shop.baskets");
  }

  @AfterAll
  void removeCluster() {
    if (cluster != null) {
      cluster.close();
    }
  }

  @Test
  void whenNodesAreKilledAfterTruncateThenNothingFromBeforeComesBackAndNothingLaterIsLost() {
    letTimestampsRunAhead();
    insert(0);
    cluster.on(1, "TRUNCATE shop.baskets");
    insert(ROWS);
    cluster.node(NODES).kill();
    Await.until("TRUNCATE is refused as a node is down", this::isTruncateRefused);
    cluster.killAll();
    cluster.disconnect();
    cluster.startAllAgain();
    assertThat(rows()).isEqualTo(ids(ROWS));
  }

  /** A node that is down would apply what it lost after a TRUNCATE that it comes back for. */
  private boolean isTruncateRefused() {
    Throwable refusal = catchThrowable(() -> cluster.on(1, "TRUNCATE shop.baskets"));
    assertThat(refusal).isNotNull();
    return refusal.getMessage().contains("The node 127.0.61.3 is down");
  }

  private void letTimestampsRunAhead() {
    long micros = 1000 * (System.currentTimeMillis() + AHEAD_MILLIS);
    cluster.on(1, "INSERT INTO shop.future (id, v) VALUES (1, 1) USING TIMESTAMP " + micros);
    cluster.change("ENABLE TRANSACTIONS ON shop.future");
  }

  private void insert(int from) {
    Isolde isolde = Isolde.on(cluster.session());
    for (int id = from; id < from + ROWS; id++) {
      try (Transaction transaction = isolde.begin()) {
        transaction.execute("INSERT INTO shop.baskets (id, v) VALUES (%d, 1)".formatted(id));
        transaction.commit();
      }
    }
  }

  private static Set<String> ids(int from) {
    return new TreeSet<>(
        IntStream.range(from, from + ROWS).mapToObj(id -> "%d 1".formatted(id)).toList());
  }

  /** Of all replicas. */
  private Set<String> rows() {
    SimpleStatement select =
        SimpleStatement.newInstance("SELECT id, v FROM shop.baskets")
            .setConsistencyLevel(DefaultConsistencyLevel.ALL);
    Set<String> found = new TreeSet<>();
    Await.until("it can be read", () -> found.addAll(Results.lines(cluster.on(1, select))));
    return found;
  }
}
