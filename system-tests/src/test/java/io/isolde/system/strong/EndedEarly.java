// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.strong;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import io.isolde.client.Isolde;
import io.isolde.client.Transaction;
import io.isolde.cluster.NodeTool;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Statements that end before all is read: at a LIMIT, with a page that nobody continues, with an
 * error half-way, with their connection. Whatever they had open is closed, or the table could not
 * be dropped, which waits for all reads, and flushed memtables would stay in memory.
 */
final class EndedEarly {
  private static final int KEYS = 24;
  private static final int ROWS = 6;
  private static final String ALL_KEYS =
      IntStream.range(0, KEYS).mapToObj(Integer::toString).collect(Collectors.joining(", "));

  /** The keys of each are of several groups, and each node leads some of these or none. */
  private static final List<String> READS =
      List.of(
          "SELECT * FROM %s WHERE k IN (KEYS) LIMIT 1",
          "SELECT * FROM %s WHERE k IN (KEYS) PER PARTITION LIMIT 1 LIMIT 2",
          "SELECT * FROM %s WHERE k IN (KEYS)",
          "SELECT count(*) FROM %s WHERE k IN (KEYS)",
          "SELECT k, sum(v) FROM %s WHERE k IN (KEYS) GROUP BY k LIMIT 1",
          "SELECT DISTINCT k FROM %s WHERE k IN (KEYS) LIMIT 1",
          "SELECT * FROM %s WHERE k IN (KEYS) AND c < 2 LIMIT 3",
          "SELECT * FROM %s WHERE k = 1 LIMIT 1",
          "SELECT * FROM %s WHERE k = 1 ORDER BY c DESC LIMIT 1",
          "SELECT * FROM %s LIMIT 1",
          "SELECT DISTINCT k FROM %s LIMIT 2",
          "SELECT * FROM %s WHERE token(k) > 0 LIMIT 1",
          "SELECT * FROM %s WHERE v = 3 LIMIT 1 ALLOW FILTERING",
          "SELECT * FROM %s WHERE k IN (KEYS) AND v = 3 LIMIT 1 ALLOW FILTERING");

  /** Of the rows one has a value by which nothing can be divided. */
  private static final List<String> FAILING =
      List.of(
          "SELECT 12 / v FROM %s WHERE k IN (KEYS)",
          "SELECT 12 / v FROM %s WHERE k = 1", "SELECT 12 / v FROM %s");

  private final StrongCluster nodes;
  private final String table;

  private EndedEarly(StrongCluster nodes, String table) {
    this.nodes = nodes;
    this.table = table;
  }

  /**
   * Makes a table, ends statements on it early through each node, and drops it.
   *
   * @param table with its keyspace
   */
  static void check(StrongCluster nodes, String table, boolean isTransactional) {
    EndedEarly early = new EndedEarly(nodes, table);
    early.make(isTransactional);
    early.fill();
    early.read(1, isTransactional);
    early.flush();
    early.fill();
    early.read(2, isTransactional);
    early.read(3, isTransactional);
    if (!isTransactional) {
      early.loseConnection(3);
    }
    early.drop();
  }

  /** A node that drains waits for whatever is under way; it must be started again afterwards. */
  static void drain(StrongCluster nodes, int node) {
    try (NodeTool tool = nodes.cluster.node(node).nodeTool()) {
      assertTimeoutPreemptively(StrongCluster.PATIENCE, tool::drain);
    }
    nodes.cluster.node(node).kill();
    nodes.restart(node);
  }

  private String of(String statement) {
    return statement.formatted(table).replace("KEYS", ALL_KEYS);
  }

  private void make(boolean isTransactional) {
    nodes.execute(of("CREATE TABLE %s (k int, c int, v int, PRIMARY KEY (k, c))"));
    nodes.cluster.awaitSchemaAgreement(StrongCluster.PATIENCE);
    if (isTransactional) {
      nodes.execute(of("ENABLE TRANSACTIONS ON %s"));
      nodes.cluster.awaitSchemaAgreement(StrongCluster.PATIENCE);
    }
  }

  private void fill() {
    for (int key = 0; key < KEYS; key++) {
      StringBuilder batch = new StringBuilder("BEGIN UNLOGGED BATCH ");
      for (int row = 0; row < ROWS; row++) {
        batch.append("INSERT INTO %s (k, c, v) VALUES (".formatted(table));
        batch.append("%d, %d, %d); ".formatted(key, row, 3 - row));
      }
      nodes.on(1 + key % 3, batch + "APPLY BATCH");
    }
  }

  private void read(int node, boolean isTransactional) {
    for (String read : READS) {
      var page = nodes.on(node, SimpleStatement.newInstance(of(read)).setPageSize(2));
      assertThat(page.getAvailableWithoutFetching()).as(read).isPositive(); // and no more of it
    }
    for (String failing : FAILING) {
      assertThat(catchThrowable(() -> nodes.on(node, of(failing)).all())).as(failing).isNotNull();
    }
    if (isTransactional) {
      readInTransaction(node == 1);
    } else {
      nodes.on(node, of("UPDATE %s SET v = 1 WHERE k = 2 AND c = 1 IF v = 77"));
      nodes.on(node, of("UPDATE %s SET v = 2 WHERE k = 2 AND c = 1 IF v = 2"));
    }
  }

  /** Which reads what it has written itself. */
  private void readInTransaction(boolean isCommitted) {
    try (Transaction transaction = Isolde.on(nodes.session).begin()) {
      transaction.execute(of("UPDATE %s SET v = 2 WHERE k = 3 AND c = 1"));
      for (String read : READS) {
        assertThat(transaction.execute(of(read)).one()).as(read).isNotNull();
      }
      if (isCommitted) {
        transaction.commit();
      }
    }
  }

  private void loseConnection(int node) {
    try (CqlSession other = nodes.connect()) {
      for (String read : READS) {
        var unused =
            other.executeAsync(
                SimpleStatement.newInstance(of(read))
                    .setNode(nodes.nodeOf(other, node))
                    .setPageSize(1));
      }
    }
  }

  private void flush() {
    String[] names = table.split("\\.", 2);
    for (int node = 1; node <= 3; node++) {
      try (NodeTool tool = nodes.cluster.node(node).nodeTool()) {
        tool.flush(names[0], names[1]);
      }
    }
  }

  /** Waits on each node for all that reads the table there; what leaks is collected, and logged. */
  private void drop() {
    nodes.on(
        1, SimpleStatement.newInstance("DROP TABLE " + table).setTimeout(Duration.ofMinutes(1)));
    nodes.cluster.awaitSchemaAgreement(StrongCluster.PATIENCE);
    for (int node = 1; node <= 3; node++) {
      try (NodeTool tool = nodes.cluster.node(node).nodeTool()) {
        tool.collectHeapGarbage();
      }
    }
  }
}
