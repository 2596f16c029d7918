// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.reads;

import static org.assertj.core.api.Assertions.assertThat;

import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import io.isolde.client.Transaction;
import io.isolde.system.Results;
import io.isolde.system.SystemNode;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * More rows than are fetched from the replicas at a time where own writes are merged in: partitions
 * that are cut, and many small ones.
 */
class LargeResultsTest {

  private static final SystemNode NODE = SystemNode.shared();
  private static final int ROWS = 2300;
  private static final int SMALL_PARTITIONS = 1200;
  private static final List<String> SHAPES =
      List.of(
          "SELECT * FROM $t",
          "SELECT * FROM $t WHERE p = 0",
          "SELECT * FROM $t WHERE p = 0 ORDER BY c DESC",
          "SELECT * FROM $t WHERE p = 0 AND c > 500 AND c < 2100",
          "SELECT * FROM $t WHERE p = 0 LIMIT 1001",
          "SELECT * FROM $t LIMIT 1500",
          "SELECT * FROM $t PER PARTITION LIMIT 1",
          "SELECT * FROM $t PER PARTITION LIMIT 1000",
          "SELECT DISTINCT p, s FROM $t",
          "SELECT count(*), sum(v) FROM $t",
          "SELECT p, count(*), max(c) FROM $t GROUP BY p",
          "SELECT * FROM $t WHERE v = 3 ALLOW FILTERING",
          "SELECT c FROM $t WHERE p = 0 AND v = 3 LIMIT 120 ALLOW FILTERING",
          "SELECT * FROM $t WHERE p IN (0, 7, 1000) AND c < 1001");

  private static String transactional;
  private static String plain;

  @BeforeAll
  static void fill() {
    String columns = "p int, c int, s int static, v int, PRIMARY KEY (p, c)";
    transactional = NODE.table(columns);
    plain = NODE.plainTable(columns);
    for (String table : List.of(transactional, plain)) {
      StringBuilder batch = new StringBuilder();
      for (int i = 0; i < ROWS + SMALL_PARTITIONS; i++) {
        int p = i < ROWS ? 0 : i - ROWS + 1;
        int c = i < ROWS ? i : i % 5;
        batch.append(
            "INSERT INTO %s (p, c, v, s) VALUES (%d, %d, %d, %d);"
                .formatted(table, p, c, i % 10, p));
        if (i % 100 == 99) {
          execute("BEGIN UNLOGGED BATCH " + batch + " APPLY BATCH");
          batch.setLength(0);
        }
      }
      assertThat(batch).isEmpty();
    }
  }

  @Test
  void whenOwnWritesLieBetweenThenRowsAreThoseOfAPlainTable() {
    List<List<String>> before = all(plain, null);
    try (Transaction transaction = NODE.isolde().begin()) {
      for (String write :
          List.of(
              "DELETE FROM $t WHERE p = 0 AND c = 999",
              "DELETE FROM $t WHERE p = 0 AND c = 1000",
              "UPDATE $t SET v = 3 WHERE p = 0 AND c = 1001",
              "INSERT INTO $t (p, c, v) VALUES (0, -1, 3)",
              "INSERT INTO $t (p, c, v) VALUES (0, 5000, 3)",
              "DELETE FROM $t WHERE p = 0 AND c >= 1990 AND c <= 2010",
              "UPDATE $t SET s = 77 WHERE p = 0",
              "DELETE FROM $t WHERE p = 7",
              "INSERT INTO $t (p, c, v) VALUES (100000, 1, 3)",
              "UPDATE $t SET v = 3 WHERE p IN (20, 21, 22, 23) AND c = 3")) {
        transaction.execute(write.replace("$t", transactional));
        execute(write.replace("$t", plain));
      }
      assertSame(all(transactional, transaction), all(plain, null));
      assertSame(all(transactional, null), before);
      transaction.commit();
    }
    assertSame(all(transactional, null), all(plain, null));
  }

  /** Tells the first row that differs: thousands of rows are no help. */
  private static void assertSame(List<List<String>> found, List<List<String>> right) {
    for (int shape = 0; shape < right.size(); shape++) {
      List<String> rows = found.get(shape);
      List<String> rightRows = right.get(shape);
      for (int i = 0; i < Math.min(rows.size(), rightRows.size()); i++) {
        assertThat(rows.get(i)).as("%s, row %d", SHAPES.get(shape), i).isEqualTo(rightRows.get(i));
      }
      assertThat(rows).as(SHAPES.get(shape)).hasSameSizeAs(rightRows);
    }
  }

  private static List<List<String>> all(String table, Transaction transaction) {
    return SHAPES.stream()
        .map(shape -> SimpleStatement.newInstance(shape.replace("$t", table)).setPageSize(700))
        .map(
            read ->
                Results.lines(
                    transaction == null ? NODE.session().execute(read) : transaction.execute(read)))
        .toList();
  }

  private static void execute(String cql) {
    NODE.session().execute(cql);
  }
}
