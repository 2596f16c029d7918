// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.conditions;

import static io.isolde.system.Refusals.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.datastax.oss.driver.api.core.cql.BatchStatement;
import com.datastax.oss.driver.api.core.cql.BatchType;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.ResultSet;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.servererrors.InvalidQueryException;
import io.isolde.client.ErrorCode;
import io.isolde.client.IsolationLevel;
import io.isolde.client.Transaction;
import io.isolde.client.TransactionOptions;
import io.isolde.system.Results;
import io.isolde.system.SystemNode;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** {@code SET v = v + ?} on columns of numbers. */
class NumbersTest {
  private static final SystemNode NODE = SystemNode.shared();
  private static final int ADDITIONS = 200;
  private static final int AT_ONCE = 25;

  private static final String TABLE =
      NODE.table(
          "p int, c int, s bigint static, v int, b bigint, t tinyint, d decimal, n varint,"
              + " PRIMARY KEY (p, c)");

  @BeforeEach
  void aRow() {
    NODE.session().execute("TRUNCATE " + TABLE);
    execute("INSERT INTO %s (p, c, s, v, b, t, d, n) VALUES (1, 1, 5, 10, 100, 7, 0.1, 3)");
  }

  private static ResultSet execute(String cql) {
    return NODE.session().execute(cql.formatted(TABLE));
  }

  private static List<String> row() {
    return Results.lines(execute("SELECT s, v, b, t, d, n FROM %s WHERE p = 1 AND c = 1"));
  }

  @Test
  void whenManyAddAtOnceThenTheSumIsExact() {
    PreparedStatement add =
        NODE.session()
            .prepare("UPDATE %s SET v = v + ?, s += 1 WHERE p = ? AND c = ?".formatted(TABLE));
    addInParallel(add);
    assertThat(row()).containsExactly("205 410 100 7 0.1 3");
    PreparedStatement addIf =
        NODE.session()
            .prepare("UPDATE %s SET v = v + ? WHERE p = ? AND c = ? IF EXISTS".formatted(TABLE));
    addInParallel(addIf);
    assertThat(row()).containsExactly("205 810 100 7 0.1 3");
  }

  /** Not all at once: on a node that has just started, the last would wait for too long. */
  private static void addInParallel(PreparedStatement add) {
    List<CompletionStage<?>> some = new ArrayList<>();
    for (int i = 1; i <= ADDITIONS; i++) {
      some.add(NODE.session().executeAsync(add.bind(2, 1, 1)));
      if (i % AT_ONCE == 0) {
        some.forEach(each -> each.toCompletableFuture().join());
        some.clear();
      }
    }
    some.forEach(each -> each.toCompletableFuture().join());
  }

  @Test
  void whenItIsAStatementOfAnyTypeThenItAddsAndSubtracts() {
    ResultSet answer =
        execute(
            "UPDATE %s SET s = s - 1, v -= 3, b = b + 1, t = t + 1, d = d + 0.25, n = n - 10"
                + " WHERE p = 1 AND c = 1");
    assertThat(answer.getColumnDefinitions()).isEmpty();
    assertThat(row()).containsExactly("4 7 101 8 0.35 -7");
    assertThat(execute("SELECT d FROM %s").one().getBigDecimal("d"))
        .isEqualByComparingTo(new BigDecimal("0.35"));
  }

  @Test
  void whenThereIsNothingThenNothingStays() {
    execute("UPDATE %s SET v = v + 1 WHERE p = 2 AND c = 2");
    assertThat(execute("SELECT * FROM %s WHERE p = 2").all()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "t = t + 127, out of the range",
    "v = v + 2147483647, out of the range",
    "b = b - -9223372036854775807, out of the range",
    "v = v + null, can't be null",
    "'v = v + 5, v = v - 3', Multiple incompatible setting"
  })
  void whenTheValueWouldBeWrongThenItIsRefusedAndNothingIsWritten(String change, String why) {
    assertThatThrownBy(() -> execute("UPDATE %s SET " + change + ", n = 0 WHERE p = 1 AND c = 1"))
        .isInstanceOf(InvalidQueryException.class)
        .hasMessageContaining(why);
    if (!change.contains(",")) {
      String withIf = "UPDATE %s SET " + change + " WHERE p = 1 AND c = 1 IF EXISTS";
      assertThatThrownBy(() -> execute(withIf)).hasMessageContaining(why);
      PreparedStatement prepared = NODE.session().prepare(withIf.formatted(TABLE));
      assertThatThrownBy(() -> NODE.session().execute(prepared.bind())).hasMessageContaining(why);
    }
    assertThat(row()).containsExactly("5 10 100 7 0.1 3");
  }

  @Test
  void whenItIsOfAnotherTypeThenItIsRefusedAndEndsItsTransaction() {
    try (Transaction transaction = NODE.isolde().begin()) {
      transaction.execute("UPDATE %s SET v = 0 WHERE p = 1 AND c = 1".formatted(TABLE));
      assertThatThrownBy(
              () ->
                  transaction.execute(
                      "UPDATE %s SET v = v + 1, x = x + 1 WHERE p = 1 AND c = 1".formatted(TABLE)))
          .hasMessageContaining("x");
      assertThatThrownBy(
              () ->
                  transaction.execute(
                      "UPDATE %s SET k = k + 'x' WHERE p = 1 AND c = 1".formatted(TABLE)))
          .isNotNull();
      assertRefused(ErrorCode.TRANSACTION_ABORTED, transaction::commit);
    }
    assertThat(row()).containsExactly("5 10 100 7 0.1 3");
  }

  @Test
  void whenStatementsOfATransactionAddAtOnceThenEachCounts() {
    try (Transaction transaction = NODE.isolde().begin()) {
      List<CompletionStage<?>> all = new ArrayList<>();
      for (int i = 0; i < 20; i++) {
        all.add(
            transaction.executeAsync(
                SimpleStatement.newInstance(
                    "UPDATE %s SET v = v + 1, s = s + 1 WHERE p = 1 AND c = 1".formatted(TABLE))));
      }
      all.forEach(each -> each.toCompletableFuture().join());
      assertThat(transaction.commit().committed()).isTrue();
    }
    assertThat(row()).containsExactly("25 30 100 7 0.1 3");
    execute("UPDATE %s SET s = s + 1 WHERE p = 1");
    assertThat(row()).containsExactly("26 30 100 7 0.1 3");
  }

  @Test
  void whenThereIsAConditionThenItIsCheckedInTheSameMoment() {
    String take = "UPDATE %s SET v = v - 6 WHERE p = 1 AND c = 1 IF v >= 6";
    assertThat(Results.lines(execute(take))).containsExactly("true");
    assertThat(Results.lines(execute(take))).containsExactly("false 4");
    assertThat(row()).containsExactly("5 4 100 7 0.1 3");
  }

  @Test
  void whenABatchAddsSeveralTimesThenEachCounts() {
    execute(
        "BEGIN BATCH UPDATE %1$s SET v = v + 1 WHERE p = 1 AND c = 1;"
            + " UPDATE %1$s SET v = v + 10 WHERE p = 1 AND c = 1;"
            + " UPDATE %1$s SET v = 5 WHERE p = 1 AND c = 2;"
            + " UPDATE %1$s SET v = v + 100 WHERE p = 1 AND c = 2; APPLY BATCH");
    PreparedStatement add =
        NODE.session().prepare("UPDATE %s SET v = v + ? WHERE p = 1 AND c = ?".formatted(TABLE));
    NODE.session()
        .execute(BatchStatement.newInstance(BatchType.LOGGED, add.bind(1000, 1), add.bind(1, 2)));
    assertThat(Results.lines(execute("SELECT c, v FROM %s WHERE p = 1")))
        .containsExactly("1 1021", "2 106");
  }

  @ParameterizedTest
  @EnumSource
  void whenInATransactionThenItSeesItsWritesAndConflictsWithOthers(IsolationLevel level) {
    TransactionOptions options = TransactionOptions.builder().isolationLevel(level).build();
    String add = "UPDATE %s SET v = v + 1 WHERE p = 1 AND c = 1".formatted(TABLE);
    try (Transaction transaction = NODE.isolde().begin(options)) {
      transaction.execute(add);
      transaction.execute(add);
      assertThat(transaction.commit().committed()).isTrue();
    }
    assertThat(row()).containsExactly("5 12 100 7 0.1 3");
    try (Transaction transaction = NODE.isolde().begin(options)) {
      transaction.write(NODE.session().prepare(add).bind()); // Held back, and sent with COMMIT.
      assertThat(transaction.commit().committed()).isTrue();
    }
    assertThat(row()).containsExactly("5 13 100 7 0.1 3");
    try (Transaction transaction = NODE.isolde().begin(options)) {
      transaction.execute(add);
      execute("UPDATE %s SET v = 50 WHERE p = 1 AND c = 1");
      assertRefused(ErrorCode.CONFLICT, transaction::commit);
    }
    assertThat(row()).containsExactly("5 50 100 7 0.1 3");
  }

  @Test
  void whenTheTableIsPlainThenItIsRefusedAsEver() {
    String table = NODE.table("p int PRIMARY KEY, v int");
    String add = "UPDATE %s SET v = v + 1 WHERE p = 1".formatted(table);
    PreparedStatement prepared = NODE.session().prepare(add);
    NODE.session().execute("INSERT INTO %s (p, v) VALUES (1, 1)".formatted(table));
    NODE.session().execute(prepared.bind());
    NODE.session().execute("DISABLE TRANSACTIONS ON " + table);
    for (boolean isPrepared : List.of(false, true)) {
      assertThatThrownBy(
              () -> {
                if (isPrepared) {
                  NODE.session().execute(prepared.bind());
                } else {
                  NODE.session().execute(add);
                }
              })
          .isInstanceOf(InvalidQueryException.class)
          .hasMessageContaining("for non counter column");
    }
    assertThat(Results.lines(NODE.session().execute("SELECT v FROM " + table)))
        .containsExactly("2");
  }
}
