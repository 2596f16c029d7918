// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.reads;

import static org.assertj.core.api.Assertions.assertThat;

import com.datastax.oss.driver.api.core.cql.BoundStatement;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.cql.Statement;
import io.isolde.client.Transaction;
import io.isolde.system.Results;
import io.isolde.system.SystemNode;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Which reads the client sends held writes before. The table has one row, in partition (1, 2), and
 * only for the transaction.
 */
class HeldWritesTest {
  private static final SystemNode NODE = SystemNode.shared();
  private static final String COLUMNS = "a int, b int, c int, v int, PRIMARY KEY ((a, b), c)";
  private static final String TABLE = NODE.table(COLUMNS);
  private static final String OTHER = NODE.table(COLUMNS);

  static List<Statement<?>> readsThatSeeIt() {
    return List.of(
        read("WHERE a = ? AND b = ? AND c = 3", 1, 2),
        read("WHERE a = 1 AND b = ?", 2),
        read("WHERE a IN (1, ?) AND b = ?", 9, 2),
        read("WHERE a in (?, ?) AND b = ?", 1, 9, 2),
        read("WHERE a IN ? AND b = ?", List.of(1, 9), 2),
        read("WHERE token(a, b) = token(?, ?)", 1, 2),
        read("WHERE v = ? ALLOW FILTERING", 5),
        read(""),
        SimpleStatement.newInstance("SELECT v FROM %s WHERE a = ? AND b = ?".formatted(TABLE), 1, 2));
  }

  static List<Statement<?>> readsOfOtherRows() {
    return List.of(
        read("WHERE a = ? AND b = ?", 2, 1),
        read("WHERE b = ? AND a = ? AND c > ?", 1, 1, 0),
        prepared("SELECT v FROM " + OTHER),
        prepared("SELECT v FROM %s WHERE a = ? AND b = ?".formatted(OTHER), 1, 2));
  }

  @ParameterizedTest
  @MethodSource("readsThatSeeIt")
  void whenAReadMaySeeAHeldWriteThenTheWriteIsSentBeforeIt(Statement<?> read) {
    try (Transaction tx = NODE.isolde().begin()) {
      tx.write(insert(5));

      assertThat(Results.lines(tx.execute(read))).containsExactly("5");
      assertThat(sentWritesOf(tx)).isEqualTo(1);
    }
  }

  @ParameterizedTest
  @MethodSource("readsOfOtherRows")
  void whenAReadIsOfOtherRowsThenTheWriteIsHeldOn(Statement<?> read) {
    try (Transaction tx = NODE.isolde().begin()) {
      tx.write(insert(5));

      assertThat(Results.lines(tx.execute(read))).isEmpty();
      assertThat(sentWritesOf(tx)).isZero();
    }
  }

  @Test
  void whenTheHeldWriteIsNotPreparedThenItIsSentBeforeAnyRead() {
    try (Transaction tx = NODE.isolde().begin()) {
      tx.write("INSERT INTO %s (a, b, c, v) VALUES (1, 2, 3, 5)".formatted(TABLE));
      tx.execute(prepared("SELECT v FROM " + OTHER));

      assertThat(sentWritesOf(tx)).isEqualTo(1);
    }
  }

  @Test
  void whenAWriteIsExecutedThenThoseThatAreHeldComeBeforeIt() {
    String table = NODE.table(COLUMNS);
    NODE.isolde()
        .runVoid(
            tx -> {
              tx.write(insert(table, 5));
              tx.execute(prepared("SELECT v FROM " + OTHER));
              tx.write(insert(table, 6));
              tx.execute(insert(table, 7));
            });

    assertThat(Results.lines(NODE.session().execute("SELECT v FROM " + table)))
        .containsExactly("7");
  }

  private static long sentWritesOf(Transaction tx) {
    return NODE.session()
        .execute("SELECT writes FROM isolde.transactions WHERE transaction_id = " + tx.id())
        .one()
        .getLong("writes");
  }

  private static BoundStatement insert(int v) {
    return insert(TABLE, v);
  }

  private static BoundStatement insert(String table, int v) {
    return prepared("INSERT INTO %s (a, b, c, v) VALUES (?, ?, 3, ?)".formatted(table), 1, 2, v);
  }

  private static BoundStatement read(String where, Object... values) {
    return prepared("SELECT v FROM %s %s".formatted(TABLE, where), values);
  }

  private static BoundStatement prepared(String cql, Object... values) {
    return NODE.session().prepare(cql).bind(values);
  }
}
