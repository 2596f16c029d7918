// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.reads;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.config.DefaultDriverOption;
import com.datastax.oss.driver.api.core.cql.BatchableStatement;
import com.datastax.oss.driver.api.core.cql.BoundStatement;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.cql.Statement;
import io.isolde.client.Isolde;
import io.isolde.client.Transaction;
import io.isolde.system.Results;
import io.isolde.system.SystemNode;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Which reads the client sends held writes before. The table has one row, in partition (1, 2), and
 * only for the transaction.
 */
class HeldWritesTest {
  private static final SystemNode NODE = SystemNode.shared();

  /** As by default, with the schema: the driver then looks for keys itself, by name. */
  private static final CqlSession SESSION =
      NODE.connect(
          config -> config.withBoolean(DefaultDriverOption.METADATA_SCHEMA_ENABLED, true),
          builder -> builder);

  private static final Isolde ISOLDE = Isolde.on(SESSION);
  private static final String COLUMNS = "a int, b int, c int, v int, PRIMARY KEY ((a, b), c)";
  private static final String TABLE = NODE.table(COLUMNS);
  private static final String OTHER = NODE.table(COLUMNS);

  @AfterAll
  static void close() {
    SESSION.close();
  }

  static List<Statement<?>> readsThatSeeIt() {
    return List.of(
        read("WHERE a = ? AND b = ? AND c = 3", 1, 2),
        read("WHERE a = 1 AND b = ?", 2),
        read("WHERE a IN (1, ?) AND b = ?", 9, 2),
        read("WHERE a in (?, ?) AND b = ?", 1, 9, 2),
        read("WHERE a IN ? AND b = ?", List.of(1, 9), 2),
        read("WHERE a = ? AND b > ? ALLOW FILTERING", 1, 1),
        read("WHERE token(a, b) >= token(?, ?)", 1, 2),
        read("WHERE token(a, b) <= token(:a, :b)", 1, 2),
        read("WHERE a = 1 AND b = 2 AND c > :a AND c < :b", 0, 9),
        read("WHERE v = ? ALLOW FILTERING", 5),
        read(""),
        SimpleStatement.newInstance(
            "SELECT v FROM %s WHERE a = ? AND b = ?".formatted(TABLE), 1, 2));
  }

  static List<Statement<?>> readsOfOtherRows() {
    return List.of(
        read("WHERE a = ? AND b = ?", 2, 1),
        read("WHERE b = ? AND a = ? AND c > ?", 1, 1, 0),
        prepared("SELECT v FROM " + OTHER),
        prepared("SELECT v FROM %s WHERE a = ? AND b = ?".formatted(OTHER), 1, 2));
  }

  /** All of row (1, 2, 3). */
  static List<BatchableStatement<?>> writesOfUncertainRows() {
    return List.of(
        prepared(
            "UPDATE %s SET v = 5 WHERE a IN (1, ?) AND b = ? AND c = 3".formatted(TABLE), 9, 2),
        prepared("INSERT INTO %s (a, b, c, v) VALUES (1, 2, :a, :b)".formatted(TABLE), 3, 5),
        prepared("INSERT INTO %s (a, b, c, v) VALUES (1, ?, 3, ?)".formatted(TABLE), 2, 5),
        prepared("INSERT INTO %s (a, b, c, v) VALUES (1, 2, 3, 5)".formatted(TABLE)),
        SimpleStatement.newInstance(
            "INSERT INTO %s (a, b, c, v) VALUES (1, 2, 3, 5)".formatted(TABLE)));
  }

  @ParameterizedTest
  @MethodSource("readsThatSeeIt")
  void whenAReadMaySeeAHeldWriteThenTheWriteIsSentBeforeIt(Statement<?> read) {
    try (Transaction tx = ISOLDE.begin()) {
      tx.write(insert(5));

      assertThat(Results.lines(tx.execute(read))).containsExactly("5");
      assertThat(sentWritesOf(tx)).isEqualTo(1);
    }
  }

  @ParameterizedTest
  @MethodSource("readsOfOtherRows")
  void whenAReadIsOfOtherRowsThenTheWriteIsHeldOn(Statement<?> read) {
    try (Transaction tx = ISOLDE.begin()) {
      tx.write(insert(5));

      assertThat(Results.lines(tx.execute(read))).isEmpty();
      assertThat(sentWritesOf(tx)).isZero();
    }
  }

  @ParameterizedTest
  @MethodSource("writesOfUncertainRows")
  void whenItIsUncertainWhatIsWrittenThenReadsOfTheTableSeeIt(BatchableStatement<?> write) {
    try (Transaction tx = ISOLDE.begin()) {
      tx.write(write);

      assertThat(Results.lines(tx.execute(read("WHERE a = ? AND b = ?", 1, 2))))
          .containsExactly("5");
    }
  }

  @Test
  void whenTheHeldWriteIsNotPreparedThenItIsSentBeforeAnyRead() {
    try (Transaction tx = ISOLDE.begin()) {
      tx.write("INSERT INTO %s (a, b, c, v) VALUES (1, 2, 3, 5)".formatted(TABLE));
      tx.execute(prepared("SELECT v FROM " + OTHER));

      assertThat(sentWritesOf(tx)).isEqualTo(1);
    }
  }

  @Test
  void whenOneOfSeveralMayBeSeenThenAllAreSentInTheirOrder() {
    try (Transaction tx = ISOLDE.begin()) {
      tx.write(prepared("INSERT INTO %s (a, b, c, v) VALUES (?, ?, 3, 4)".formatted(TABLE), 7, 7));
      tx.write(insert(5));
      tx.executeAsync(read("WHERE a = ? AND b = ?", 8, 8)).toCompletableFuture().join();
      assertThat(sentWritesOf(tx)).isZero();

      assertThat(Results.lines(tx.execute(read("WHERE a = ? AND b = ?", 7, 7))))
          .containsExactly("4");
      assertThat(sentWritesOf(tx)).isEqualTo(2);
    }
  }

  static List<Arguments> keysInTwoOrders() {
    return List.of(
        arguments(
            "set<int>", new LinkedHashSet<>(List.of(2, 1)), new LinkedHashSet<>(List.of(1, 2))),
        arguments("map<int, int>", inOrder(2, 1), inOrder(1, 2)));
  }

  private static Map<Integer, Integer> inOrder(int first, int second) {
    Map<Integer, Integer> map = new LinkedHashMap<>();
    map.put(first, 0);
    map.put(second, 0);
    return map;
  }

  @ParameterizedTest
  @MethodSource("keysInTwoOrders")
  void whenCassandraSortsTheKeyThenAnyOrderIsTheSame(String type, Object written, Object read) {
    String table = NODE.table("k frozen<%s> PRIMARY KEY, v int".formatted(type));
    try (Transaction tx = ISOLDE.begin()) {
      tx.write(prepared("INSERT INTO %s (k, v) VALUES (?, 5)".formatted(table), written));

      assertThat(
              Results.lines(
                  tx.execute(prepared("SELECT v FROM %s WHERE k = ?".formatted(table), read))))
          .containsExactly("5");
    }
  }

  @Test
  void whenAWriteIsExecutedThenThoseThatAreHeldComeBeforeIt() {
    String table = NODE.table(COLUMNS);
    ISOLDE.runVoid(
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
    return SESSION.prepare(cql).bind(values);
  }
}
