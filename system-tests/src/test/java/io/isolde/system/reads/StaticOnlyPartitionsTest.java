// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.reads;

import static org.assertj.core.api.Assertions.assertThat;

import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.cql.Statement;
import io.isolde.client.Transaction;
import io.isolde.client.TransactionOptions;
import io.isolde.system.Results;
import io.isolde.system.SystemNode;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A partition that has nothing but static columns is a row of the answer. Whoever counts (replicas,
 * the merge of their answers, pages, limits, aggregates) must count it, or pages lose the rows
 * behind it.
 */
class StaticOnlyPartitionsTest {
  private static final SystemNode NODE = SystemNode.shared();

  /** The last in the order of tokens is not the one with static columns only. */
  private static final List<String> WRITES =
      List.of(
          "INSERT INTO $t (p, c, s) VALUES (2, 1, 7)",
          "INSERT INTO $t (p, c) VALUES (2, 2)",
          "INSERT INTO $t (p, c, s) VALUES (0, 1, 7)",
          "INSERT INTO $t (p, c) VALUES (0, 2)",
          "UPDATE $t SET s = 5 WHERE p = 4611686018427387904");

  private static final List<String> READS =
      List.of(
          "SELECT * FROM $t",
          "SELECT p, s FROM $t",
          "SELECT DISTINCT p, s FROM $t",
          "SELECT * FROM $t LIMIT 2",
          "SELECT * FROM $t LIMIT 4",
          "SELECT * FROM $t PER PARTITION LIMIT 1",
          "SELECT * FROM $t PER PARTITION LIMIT 1 LIMIT 2",
          "SELECT count(*) FROM $t",
          "SELECT p, count(*) FROM $t GROUP BY p",
          "SELECT p, c, count(*) FROM $t GROUP BY p, c LIMIT 4",
          "SELECT * FROM $t WHERE p IN (0, 2, 4611686018427387904)");

  private static String transactional;
  private static String written;
  private static String plain;

  @BeforeAll
  static void fill() {
    String columns = "p bigint, c int, s int static, PRIMARY KEY (p, c)";
    transactional = NODE.table(columns);
    written = NODE.table(columns);
    plain = NODE.plainTable(columns);
    for (String write : WRITES) {
      NODE.session().execute(write.replace("$t", transactional));
      NODE.session().execute(write.replace("$t", plain));
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5000})
  void whenPagesEndThereThenRowsAreThoseOfAPlainTable(int pageSize) {
    long timestamp;
    try (Transaction transaction = NODE.isolde().begin(TransactionOptions.reading())) {
      timestamp = transaction.startTimestamp();
      assertSame(pageSize, "in a transaction", read -> lines(transaction, read, transactional));
    }
    try (Transaction past = NODE.isolde().begin(TransactionOptions.asOf(timestamp))) {
      assertSame(pageSize, "of the past", read -> lines(past, read, transactional));
    }
    assertSame(
        pageSize,
        "without a transaction",
        read -> Results.lines(NODE.session().execute(on(read, transactional))));
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5000})
  void whenTheTransactionWroteThemThenRowsAreThoseOfAPlainTable(int pageSize) {
    try (Transaction transaction = NODE.isolde().begin()) {
      WRITES.forEach(write -> transaction.execute(write.replace("$t", written)));
      assertSame(pageSize, "own writes", read -> lines(transaction, read, written));
    }
  }

  /** A SELECT of so many rows at a time. */
  private record Read(String cql, int pageSize) {}

  private interface Reader {
    List<String> lines(Read read);
  }

  private static void assertSame(int pageSize, String where, Reader reader) {
    for (String cql : READS) {
      Read read = new Read(cql, pageSize);
      assertThat(reader.lines(read))
          .as("%s, page size %d, %s", cql, pageSize, where)
          .isEqualTo(Results.lines(NODE.session().execute(on(read, plain))));
    }
  }

  private static List<String> lines(Transaction transaction, Read read, String table) {
    return Results.lines(transaction.execute(on(read, table)));
  }

  private static Statement<?> on(Read read, String table) {
    return SimpleStatement.newInstance(read.cql().replace("$t", table))
        .setPageSize(read.pageSize());
  }
}
