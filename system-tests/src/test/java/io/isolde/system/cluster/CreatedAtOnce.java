// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import com.datastax.oss.driver.api.core.ConsistencyLevel;
import com.datastax.oss.driver.api.core.DriverException;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import io.isolde.system.Results;
import io.isolde.system.TestCluster;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Instances of an application that start at once: each makes keyspaces and tables through a node of
 * its own, if they are not there, and writes. Nothing of that may be gone.
 */
final class CreatedAtOnce {
  private static final int NODES = 3;
  private static final int ROUNDS = 3;

  private static final String STRONG =
      "WITH replication = {'class': 'ReplicatedLogStrategy', 'replication_factor': 3, 'groups': 2}";
  private static final String PLAIN =
      "WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 3}";

  private final TestCluster cluster;

  CreatedAtOnce(TestCluster cluster) {
    this.cluster = cluster;
  }

  void check() {
    // Plain keyspaces are Cassandra's: only the table is made at once.
    cluster.change("CREATE KEYSPACE IF NOT EXISTS plain_once " + PLAIN);
    for (int round = 0; round < ROUNDS; round++) {
      int number = round;
      String strong = "strong_once" + round;
      check(
          "CREATE KEYSPACE IF NOT EXISTS %s %s".formatted(strong, STRONG),
          "CREATE TABLE IF NOT EXISTS %s.t (p int PRIMARY KEY, v int)".formatted(strong),
          strong + ".t");
      check(
          "CREATE TABLE IF NOT EXISTS plain_once.t%d (p int PRIMARY KEY, v int)".formatted(number)
              + " WITH transactional_mode = 'full'",
          "SELECT count(*) FROM plain_once.t" + number,
          "plain_once.t" + number);
      cluster.on(1 + round % NODES, "DROP KEYSPACE " + strong);
    }
    cluster.change("DROP KEYSPACE plain_once");
  }

  private void check(String first, String second, String table) {
    ExecutorService threads = Executors.newFixedThreadPool(NODES);
    try {
      List<CompletableFuture<Void>> instances = new ArrayList<>();
      for (int instance = 1; instance <= NODES; instance++) {
        int node = instance;
        String insert =
            "INSERT INTO %s (p, v) VALUES (%d, %d) IF NOT EXISTS".formatted(table, node, node);
        instances.add(
            CompletableFuture.runAsync(
                () -> List.of(first, second, insert).forEach(cql -> run(node, cql)), threads));
      }
      instances.forEach(CompletableFuture::join);
    } finally {
      threads.shutdownNow();
    }
    SimpleStatement rows =
        SimpleStatement.newInstance("SELECT p, v FROM " + table)
            .setConsistencyLevel(ConsistencyLevel.SERIAL);
    for (int node = 1; node <= NODES; node++) {
      assertThat(Results.lines(cluster.on(node, rows)))
          .as("%s through node %s", table, node)
          .containsExactlyInAnyOrder("1 1", "2 2", "3 3");
    }
  }

  private void run(int node, String cql) {
    try {
      var unused = cluster.on(node, cql);
    } catch (DriverException e) {
      // Not an assertion: nodes that are late get a second chance.
      throw new IllegalStateException(cql + " failed through node " + node, e);
    }
  }
}
