// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.conditions;

import static io.isolde.system.Refusals.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.datastax.oss.driver.api.core.cql.BatchStatement;
import com.datastax.oss.driver.api.core.cql.BatchType;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.ResultSet;
import com.datastax.oss.driver.api.core.servererrors.InvalidQueryException;
import io.isolde.client.ErrorCode;
import io.isolde.client.IsolationLevel;
import io.isolde.client.Transaction;
import io.isolde.client.TransactionOptions;
import io.isolde.system.Results;
import io.isolde.system.SystemNode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code SET l[i] = ?}, {@code DELETE l[i]} and {@code SET l = l - ?}. */
class ListsTest {
  private static final SystemNode NODE = SystemNode.shared();
  private static final int ELEMENTS = 20;
  private static final int ROUNDS = 60;

  private static final String COLUMNS =
      "p int, c int, v int, s list<int> static, l list<int>, PRIMARY KEY (p, c)";
  private static final String TABLE = NODE.table(COLUMNS);
  private static final String ROW = " WHERE p = 1 AND c = 1";

  @BeforeEach
  void aList() {
    NODE.session().execute("TRUNCATE " + TABLE);
    execute("INSERT INTO %s (p, c, v, s, l) VALUES (1, 1, 0, [8, 9], [1, 2, 3])");
  }

  private static ResultSet execute(String cql) {
    return NODE.session().execute(cql.formatted(TABLE));
  }

  private static String lists() {
    return String.join("; ", Results.lines(execute("SELECT s, l FROM %s")));
  }

  @Test
  void whenItIsOneStatementThenItIsAsOnAPlainTable() {
    assertThat(execute("UPDATE %s SET l[1] = 20, s[0] = 80" + ROW).getColumnDefinitions())
        .isEmpty();
    assertThat(lists()).isEqualTo("[80, 9] [1, 20, 3]");
    execute("DELETE l[0], s[0] FROM %s" + ROW);
    assertThat(lists()).isEqualTo("[9] [20, 3]");
    execute("UPDATE %s SET l = l - [3, 4], s = s - [9]" + ROW);
    assertThat(lists()).isEqualTo("[] [20]");
    execute("UPDATE %s SET l[0] = null" + ROW);
    execute("UPDATE %s SET l = l - [1]" + ROW);
    assertThat(lists()).isEqualTo("[] []");
  }

  @Test
  void whenManyRemoveElementsAtOnceThenNoneIsLost() {
    PreparedStatement append =
        NODE.session().prepare("UPDATE %s SET l = l + ?".formatted(TABLE) + ROW);
    PreparedStatement byValue =
        NODE.session().prepare("UPDATE %s SET l = l - ?".formatted(TABLE) + ROW);
    PreparedStatement byIndex =
        NODE.session().prepare("DELETE l[?] FROM %s".formatted(TABLE) + ROW);
    List<CompletionStage<?>> all = new ArrayList<>();
    for (int i = 0; i < ELEMENTS; i++) {
      all.add(NODE.session().executeAsync(append.bind(List.of(100 + i))));
    }
    for (int i = 1; i <= 3; i++) {
      all.add(NODE.session().executeAsync(byIndex.bind(0))); // All added ones are behind.
    }
    all.forEach(each -> each.toCompletableFuture().join());
    all.clear();
    for (int i = 0; i < ELEMENTS; i++) {
      all.add(NODE.session().executeAsync(byValue.bind(List.of(100 + i))));
      all.add(NODE.session().executeAsync(append.bind(List.of(200 + i))));
    }
    all.forEach(each -> each.toCompletableFuture().join());
    List<Integer> left =
        new ArrayList<>(execute("SELECT l FROM %s").one().getList(0, Integer.class));
    Collections.sort(left);
    assertThat(left).hasSize(ELEMENTS).startsWith(200).endsWith(200 + ELEMENTS - 1);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "UPDATE %s SET l[3] = 9, v = 1",
        "UPDATE %s SET l[-1] = 9, v = 1",
        "DELETE l[3], v FROM %s",
        "UPDATE %s SET v = 1, s[2] = 9",
        "UPDATE %s SET l[null] = 9, v = 1"
      })
  void whenTheIndexIsOutOfBoundsThenCassandrasErrorComesAndNothingIsWritten(String cql) {
    String plain = NODE.plainTable(COLUMNS);
    NODE.session()
        .execute("INSERT INTO %s (p, c, s, l) VALUES (1, 1, [8, 9], [1, 2, 3])".formatted(plain));
    String error = error(() -> NODE.session().execute(cql.formatted(plain) + ROW));
    assertThat(error(() -> execute(cql + ROW))).isEqualTo(error);
    assertThat(error(() -> execute(cql + ROW + " IF v = 0"))).isEqualTo(error);
    assertThat(
            error(() -> execute("BEGIN BATCH UPDATE %1$s SET v = 2" + ROW + "; " + batched(cql))))
        .isEqualTo(error);
    try (Transaction transaction = NODE.isolde().begin()) {
      transaction.execute("UPDATE %s SET v = 3".formatted(TABLE) + ROW);
      assertThat(error(() -> transaction.execute(cql.formatted(TABLE) + ROW))).isEqualTo(error);
      assertRefused(ErrorCode.TRANSACTION_ABORTED, transaction::commit);
    }
    assertThat(Results.lines(execute("SELECT v, s, l FROM %s")))
        .containsExactly("0 [8, 9] [1, 2, 3]");
  }

  private static String batched(String cql) {
    return cql.replace("%s", "%1$s") + ROW + "; APPLY BATCH";
  }

  private static String error(Runnable request) {
    try {
      request.run();
      return "none";
    } catch (InvalidQueryException e) {
      return e.getMessage();
    }
  }

  @Test
  void whenThereIsAConditionThenItIsCheckedInTheSameMoment() {
    String take = "DELETE l[0] FROM %s" + ROW + " IF l[0] = 1";
    assertThat(Results.lines(execute(take))).containsExactly("true");
    assertThat(Results.lines(execute(take))).containsExactly("false [2, 3]");
    execute(
        "BEGIN BATCH UPDATE %1$s SET v = 5"
            + ROW
            + " IF v = 0; UPDATE %1$s SET l[0] = 20"
            + ROW
            + "; INSERT INTO %1$s (p, c, l) VALUES (1, 2, [7]); APPLY BATCH");
    assertThat(lists()).isEqualTo("[8, 9] [20, 3]; [8, 9] [7]");
    // A row without a condition, too, which Cassandra would not read.
    execute(
        "BEGIN BATCH UPDATE %1$s SET v = 6"
            + ROW
            + " IF v = 5;"
            + " UPDATE %1$s SET l[0] = 70 WHERE p = 1 AND c = 2; APPLY BATCH");
    assertThat(lists()).isEqualTo("[8, 9] [20, 3]; [8, 9] [70]");
  }

  @Test
  void whenABatchHasSeveralThenEachSeesThoseBeforeIt() {
    execute(
        "BEGIN BATCH DELETE l[0] FROM %1$s"
            + ROW
            + "; DELETE l[0] FROM %1$s"
            + ROW
            + "; UPDATE %1$s SET l = l + [4, 5]"
            + ROW
            + "; UPDATE %1$s SET l[1] = 40"
            + ROW
            + "; UPDATE %1$s SET l = [0] + l"
            + ROW
            + "; UPDATE %1$s SET l[0] = 30"
            + ROW
            + "; APPLY BATCH");
    assertThat(lists()).isEqualTo("[8, 9] [30, 3, 40, 5]");
    PreparedStatement set = NODE.session().prepare("UPDATE %s SET l[?] = ?".formatted(TABLE) + ROW);
    NODE.session()
        .execute(BatchStatement.newInstance(BatchType.UNLOGGED, set.bind(0, 1), set.bind(1, 2)));
    assertThat(lists()).isEqualTo("[8, 9] [1, 2, 40, 5]");
  }

  @ParameterizedTest
  @EnumSource
  void whenInATransactionThenItSeesItsWritesAndConflictsWithOthers(IsolationLevel level) {
    TransactionOptions options = TransactionOptions.builder().isolationLevel(level).build();
    String set = "UPDATE %s SET l[0] = 10".formatted(TABLE) + ROW;
    try (Transaction transaction = NODE.isolde().begin(options)) {
      transaction.execute("UPDATE %s SET l = [0] + l".formatted(TABLE) + ROW);
      transaction.execute(set);
      transaction.write(
          NODE.session().prepare("DELETE l[2] FROM %s".formatted(TABLE) + ROW).bind());
      assertThat(transaction.commit().committed()).isTrue();
    }
    assertThat(lists()).isEqualTo("[8, 9] [10, 1, 3]");
    try (Transaction transaction = NODE.isolde().begin(options)) {
      transaction.execute(set);
      execute("UPDATE %s SET l = [0] + l" + ROW);
      assertRefused(ErrorCode.CONFLICT, transaction::commit);
    }
    try (Transaction transaction = NODE.isolde().begin(options)) {
      transaction.execute("UPDATE %s SET l = l - [77]".formatted(TABLE) + ROW); // Writes nothing.
      transaction.execute("INSERT INTO %s (p, c) VALUES (2, 2)".formatted(TABLE));
      execute("UPDATE %s SET l = l + [77]" + ROW);
      assertRefused(ErrorCode.CONFLICT, transaction::commit);
    }
    assertThat(lists()).isEqualTo("[8, 9] [0, 10, 1, 3, 77]");
  }

  @Test
  void whenStatementsNameManyRowsThenAllAreChanged() {
    execute("INSERT INTO %s (p, c, v, l) VALUES (2, 1, 1, [3, 3])");
    execute("UPDATE %s SET l = l - [3], v = v + 1 WHERE p IN (1, 2) AND c IN (1, 2)");
    assertThat(Results.lines(execute("SELECT p, v, l FROM %s")))
        .containsExactlyInAnyOrder("1 1 [1, 2]", "2 2 []");
  }

  /** Elements keep their places and their times, through all that a transaction does to a list. */
  @Test
  void whenATransactionHasManyOperationsThenItSeesAndLeavesWhatAPlainTableHas() {
    String only = System.getProperty("isolde.seed");
    long seed = only == null ? ThreadLocalRandom.current().nextLong() : Long.parseLong(only);
    Random random = new Random(seed);
    String plain = NODE.plainTable("p int PRIMARY KEY, l list<int>");
    String ours = NODE.table("p int PRIMARY KEY, l list<int>");
    Function<String, List<Integer>> list =
        table -> list(NODE.session().execute("SELECT l FROM " + table));
    for (int round = 0; round < ROUNDS; round++) {
      try (Transaction transaction = NODE.isolde().begin()) {
        for (int i = random.nextInt(5); i >= 0; i--) {
          String change = change(random, list.apply(plain).size());
          String where = " WHERE p = 1";
          NODE.session().execute(change.replace("$t", plain) + where);
          transaction.execute(change.replace("$t", ours) + where);
          assertThat(list(transaction.execute("SELECT l FROM " + ours)))
              .as("seed %d: %s", seed, change)
              .isEqualTo(list.apply(plain));
        }
        assertThat(transaction.commit().committed()).isTrue();
      }
      assertThat(list.apply(ours)).as("seed %d", seed).isEqualTo(list.apply(plain));
    }
  }

  private static List<Integer> list(ResultSet result) {
    return result.all().stream().flatMap(row -> row.getList(0, Integer.class).stream()).toList();
  }

  private static String change(Random random, int size) {
    int value = random.nextInt(5);
    int kinds = size == 0 ? 3 : 8;
    int index = size == 0 ? 0 : random.nextInt(size);
    return switch (random.nextInt(kinds)) {
      case 0 -> "UPDATE $t SET l = l + [%d, %d]".formatted(value, value + 1);
      case 1 -> "UPDATE $t SET l = [%d, %d] + l".formatted(value, value + 1);
      case 2 -> "UPDATE $t SET l = [%d, %d, %d]".formatted(value, value, value + 1);
      case 3 -> "UPDATE $t SET l = l - [%d]".formatted(value);
      case 4 -> "UPDATE $t SET l[%d] = %d, l = l + [%d]".formatted(index, value, value);
      case 5 -> "UPDATE $t SET l = [%d] + l, l[%d] = %d".formatted(value, index, value + 10);
      case 6 -> "UPDATE $t SET l[%d] = %d".formatted(index, value + 20);
      default -> "DELETE l[%d] FROM $t".formatted(index);
    };
  }

  @Test
  void whenTheNodeIsAskedForWriteTimesThenOnlyChangedElementsAreNewer() {
    List<Long> before = execute("SELECT WRITETIME(l) FROM %s").one().getList(0, Long.class);
    execute("UPDATE %s SET l[1] = 20" + ROW);
    List<Long> after = execute("SELECT WRITETIME(l) FROM %s").one().getList(0, Long.class);
    assertThat(after.get(0)).isEqualTo(before.get(0));
    assertThat(after.get(1)).isGreaterThan(before.get(1));
    assertThat(after.get(2)).isEqualTo(before.get(2));
  }

  @Test
  void whenTheColumnIsNotThereThenItIsRefused() {
    assertThatThrownBy(() -> execute("UPDATE %s SET v[0] = 1" + ROW))
        .isInstanceOf(InvalidQueryException.class);
  }
}
