// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.conditions;

import static io.isolde.system.Refusals.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.datastax.oss.driver.api.core.cql.AsyncResultSet;
import com.datastax.oss.driver.api.core.cql.BatchStatement;
import com.datastax.oss.driver.api.core.cql.BatchType;
import com.datastax.oss.driver.api.core.cql.BatchableStatement;
import com.datastax.oss.driver.api.core.cql.ResultSet;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.cql.Statement;
import com.datastax.oss.driver.api.core.servererrors.InvalidQueryException;
import io.isolde.client.ErrorCode;
import io.isolde.client.IsolationLevel;
import io.isolde.client.Transaction;
import io.isolde.client.TransactionOptions;
import io.isolde.system.Results;
import io.isolde.system.SystemNode;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The rules of {@code docs/conflicts.md} for IF, on a real node. */
class ConditionsTest {
  private static final SystemNode NODE = SystemNode.shared();
  private static final int CLIENTS = 8;
  private static final int ADDITIONS = 20;
  private static final long PATIENCE_SECONDS = 120;

  private static final String TABLE = NODE.table("id int PRIMARY KEY, v int");
  private static final String OTHER = NODE.table("id int PRIMARY KEY, name text");

  @BeforeEach
  void twoRows() {
    NODE.session().execute("TRUNCATE " + TABLE);
    NODE.session().execute("TRUNCATE " + OTHER);
    execute("INSERT INTO %s (id, v) VALUES (1, 10)");
    execute("INSERT INTO %s (id, v) VALUES (2, 20)");
  }

  private static ResultSet execute(String cql) {
    return NODE.session().execute(cql.formatted(TABLE));
  }

  private static ResultSet execute(Transaction transaction, String cql) {
    return transaction.execute(cql.formatted(TABLE));
  }

  private static List<String> rows() {
    return Results.lines(execute("SELECT id, v FROM %s")).stream().sorted().toList();
  }

  private static Transaction begin(IsolationLevel level) {
    return NODE.isolde().begin(TransactionOptions.builder().isolationLevel(level).build());
  }

  @ParameterizedTest
  @EnumSource
  void whenInATransactionThenAConditionSeesItsWritesAndItsSnapshot(IsolationLevel level) {
    try (Transaction transaction = begin(level)) {
      execute(transaction, "UPDATE %s SET v = 11 WHERE id = 1");
      execute("UPDATE %s SET v = 21 WHERE id = 2"); // After its start.
      assertThat(execute(transaction, "UPDATE %s SET v = 12 WHERE id = 1 IF v = 11").wasApplied())
          .isTrue();
      ResultSet old = execute(transaction, "UPDATE %s SET v = 0 WHERE id = 1 IF v = 10");
      assertThat(Results.lines(old)).containsExactly("false 12");
      assertThat(
              execute(transaction, "INSERT INTO %s (id, v) VALUES (3, 30) IF NOT EXISTS")
                  .wasApplied())
          .isTrue();
      assertThat(
              execute(transaction, "INSERT INTO %s (id, v) VALUES (3, 31) IF NOT EXISTS")
                  .wasApplied())
          .isFalse();
      assertThat(rows()).containsExactly("1 10", "2 21");
      assertThat(transaction.commit().committed()).isTrue();
    }
    assertThat(rows()).containsExactly("1 12", "2 21", "3 30");
  }

  @ParameterizedTest
  @EnumSource
  void whenARowOfAConditionChangesBeforeTheCommitThenItConflictsAlsoIfItDidNotHold(
      IsolationLevel level) {
    for (String condition : List.of("v = 20", "v = 5", "EXISTS")) {
      execute("UPDATE %s SET v = 20 WHERE id = 2");
      try (Transaction transaction = begin(level)) {
        execute(transaction, "UPDATE %s SET v = 7 WHERE id = 2 IF " + condition);
        execute(transaction, "UPDATE %s SET v = 11 WHERE id = 1");
        execute("UPDATE %s SET v = 22 WHERE id = 2");
        assertThat(assertRefused(ErrorCode.CONFLICT, transaction::commit).details())
            .containsEntry("table", TABLE)
            .containsEntry("key", "2")
            .containsEntry("kind", "read_write");
      }
      assertThat(rows()).as(condition).containsExactly("1 10", "2 22");
    }
  }

  @Test
  void whenTwoSnapshotsGuardWhatTheOtherWritesThenNothingIsSkewed() {
    try (Transaction first = begin(IsolationLevel.SNAPSHOT);
        Transaction second = begin(IsolationLevel.SNAPSHOT)) {
      execute(first, "UPDATE %s SET v = 10 WHERE id = 1 IF v = 10");
      execute(first, "UPDATE %s SET v = 0 WHERE id = 2");
      assertThat(execute(second, "UPDATE %s SET v = 5 WHERE id = 2 IF v = 21").wasApplied())
          .isFalse();
      execute(second, "UPDATE %s SET v = 0 WHERE id = 3");
      assertThat(first.commit().committed()).isTrue();
      assertRefused(ErrorCode.CONFLICT, second::commit);
    }
  }

  @Test
  void whenATransactionOnlyAskedThenItCommitsWithoutACheck() {
    try (Transaction transaction = begin(IsolationLevel.SNAPSHOT)) {
      assertThat(execute(transaction, "DELETE FROM %s WHERE id = 1 IF v = 5").wasApplied())
          .isFalse();
      execute("UPDATE %s SET v = 5 WHERE id = 1");
      assertThat(transaction.commit().committed()).isTrue();
    }
    try (Transaction reader = NODE.isolde().begin(TransactionOptions.reading())) {
      assertRefused(
          ErrorCode.READ_ONLY_TRANSACTION,
          () -> execute(reader, "DELETE FROM %s WHERE id = 1 IF EXISTS"));
    }
  }

  @Test
  void whenABatchSpansPartitionsAndTablesThenItIsAppliedWholeOrNotAtAll() {
    List<BiFunction<String, String, Statement<?>>> forms =
        List.of(
            ConditionsTest::text,
            (a, b) -> NODE.session().prepare((SimpleStatement) text(a, b)).bind(),
            (a, b) -> batch(SimpleStatement.newInstance(a), SimpleStatement.newInstance(b)),
            (a, b) -> batch(NODE.session().prepare(a).bind(), NODE.session().prepare(b).bind()));
    int id = 10;
    for (BiFunction<String, String, Statement<?>> form : forms) {
      id++;
      String insert =
          "INSERT INTO %s (id, name) VALUES (%d, 'x') IF NOT EXISTS".formatted(OTHER, id);
      String holds = "UPDATE %s SET v = 11 WHERE id = 1 IF v = 10".formatted(TABLE);
      String holdsNot = "UPDATE %s SET v = 12 WHERE id = 1 IF v = 10".formatted(TABLE);
      assertThat(Results.lines(NODE.session().execute(form.apply(insert, holds))))
          .containsExactly("true");
      assertThat(rows()).containsExactly("1 11", "2 20");
      ResultSet again = NODE.session().execute(form.apply(insert.replace("'x'", "'y'"), holds));
      assertThat(Results.lines(again)).containsExactly("false");
      ResultSet other =
          NODE.session().execute(form.apply(insert.replace("(" + id, "(9" + id), holdsNot));
      assertThat(Results.lines(other)).containsExactly("false");
      assertThat(Results.lines(NODE.session().execute("SELECT name FROM " + OTHER)))
          .hasSize(id - 10)
          .containsOnly("x");
      execute("UPDATE %s SET v = 10 WHERE id = 1");
    }
  }

  private static Statement<?> text(String first, String second) {
    return SimpleStatement.newInstance("BEGIN BATCH %s; %s; APPLY BATCH".formatted(first, second));
  }

  private static Statement<?> batch(BatchableStatement<?>... statements) {
    return BatchStatement.newInstance(BatchType.LOGGED, statements);
  }

  @Test
  void whenColumnsOfSeveralTablesAreAskedForThenTheAnswerIsWhetherItIsApplied() {
    NODE.session().execute("INSERT INTO %s (id, name) VALUES (1, 'a')".formatted(OTHER));
    String other = "UPDATE %s SET name = 'b' WHERE id = 1 IF name = 'a'".formatted(OTHER);
    String not = "UPDATE %s SET v = 0 WHERE id = 1 IF v = 5".formatted(TABLE);
    String holds = "UPDATE %s SET v = 11 WHERE id = 1 IF v = 10".formatted(TABLE);
    assertThat(Results.lines(NODE.session().execute(text(other, not)))).containsExactly("false");
    try (Transaction transaction = begin(IsolationLevel.SERIALIZABLE)) {
      assertThat(Results.lines(transaction.execute(text(not, other)))).containsExactly("false");
      assertThat(Results.lines(transaction.execute(text(holds, other)))).containsExactly("true");
      assertThat(transaction.commit().committed()).isTrue();
    }
    assertThat(rows()).containsExactly("1 11", "2 20");
  }

  @Test
  void whenAnotherStatementDeletesThePartitionOfAConditionByInThenItIsRefused() {
    String delete = "DELETE FROM %s WHERE id IN (1, 2)".formatted(TABLE);
    String update = "UPDATE %s SET v = 11 WHERE id = 1 IF v = 10".formatted(TABLE);
    assertThatThrownBy(() -> NODE.session().execute(text(delete, update)))
        .isInstanceOf(InvalidQueryException.class)
        .hasMessageContaining("IN on the partition key");
    assertThat(rows()).containsExactly("1 10", "2 20");
  }

  @Test
  void whenStatementsOfATransactionInsertAtOnceThenOneIsApplied() {
    try (Transaction transaction = begin(IsolationLevel.SNAPSHOT)) {
      String insert = "INSERT INTO %s (id, v) VALUES (7, 1) IF NOT EXISTS".formatted(TABLE);
      List<CompletionStage<AsyncResultSet>> all = new ArrayList<>();
      for (int i = 0; i < CLIENTS; i++) {
        all.add(transaction.executeAsync(SimpleStatement.newInstance(insert)));
      }
      List<Boolean> applied =
          all.stream().map(each -> each.toCompletableFuture().join().wasApplied()).toList();
      assertThat(applied).containsOnlyOnce(true);
      assertThat(transaction.commit().committed()).isTrue();
    }
  }

  @Test
  void whenABatchOfSeveralRowsIsNotAppliedThenTheAnswerHasThoseThatAreThere() {
    Statement<?> batch =
        text(
            "UPDATE %s SET v = 1 WHERE id = 1 IF v = 10".formatted(TABLE),
            "UPDATE %1$s SET v = 2 WHERE id = 2 IF v = 10; UPDATE %1$s SET v = 3 WHERE id = 3 IF v = 3"
                .formatted(TABLE));
    assertThat(Results.lines(NODE.session().execute(batch)))
        .containsExactly("false 1 10", "false 2 20");
    assertThat(rows()).containsExactly("1 10", "2 20");
  }

  @Test
  void whenABatchWithConditionsIsOfPlainTablesThenItIsRefusedAsEver() {
    String first = NODE.plainTable("id int PRIMARY KEY, v int");
    String second = NODE.plainTable("id int PRIMARY KEY, v int");
    String insert = "INSERT INTO %s (id, v) VALUES (1, 1) IF NOT EXISTS";
    for (Statement<?> statement :
        List.of(
            text(insert.formatted(first), insert.formatted(second)),
            batch(
                SimpleStatement.newInstance(insert.formatted(first)),
                SimpleStatement.newInstance(insert.formatted(second))))) {
      assertThatThrownBy(() -> NODE.session().execute(statement))
          .isInstanceOf(InvalidQueryException.class)
          .hasMessageContaining("cannot span multiple tables");
    }
    assertThat(NODE.session().execute("SELECT * FROM " + first).all()).isEmpty();
    assertRefused(
        ErrorCode.NOT_TRANSACTIONAL,
        () -> NODE.session().execute(text(insert.formatted(first), insert.formatted(TABLE))));
  }

  @Test
  void whenManyCompareAndSetThenEachThatWasAppliedCountsOnce() throws Exception {
    List<Integer> applied = atOnce(this::addByCompareAndSet);
    int sum = applied.stream().mapToInt(Integer::intValue).sum();
    assertThat(sum).isEqualTo(CLIENTS * ADDITIONS);
    assertThat(rows()).contains("1 " + (10 + sum));
  }

  private int addByCompareAndSet() {
    int applied = 0;
    Integer known = null;
    while (applied < ADDITIONS) {
      int v = known == null ? execute("SELECT v FROM %s WHERE id = 1").one().getInt("v") : known;
      ResultSet result = execute("UPDATE %s SET v = " + (v + 1) + " WHERE id = 1 IF v = " + v);
      if (result.wasApplied()) {
        applied++;
        known = null;
      } else {
        known = result.one().getInt("v");
        assertThat(known).as("what was found instead").isNotEqualTo(v);
      }
    }
    return applied;
  }

  @Test
  void whenManyInsertIfNotExistsThenOneIsApplied() throws Exception {
    for (int id = 100; id < 110; id++) {
      String insert = "INSERT INTO %s (id, v) VALUES (" + id + ", 1) IF NOT EXISTS";
      List<Boolean> applied = atOnce(() -> execute(insert).wasApplied());
      assertThat(applied).containsOnlyOnce(true);
    }
  }

  private static <T> List<T> atOnce(Callable<T> task) throws Exception {
    ExecutorService clients = Executors.newFixedThreadPool(CLIENTS);
    try {
      List<Future<T>> all = new ArrayList<>();
      for (int client = 0; client < CLIENTS; client++) {
        all.add(clients.submit(task));
      }
      List<T> results = new ArrayList<>();
      for (Future<T> one : all) {
        results.add(one.get(PATIENCE_SECONDS, TimeUnit.SECONDS));
      }
      return results;
    } finally {
      clients.shutdownNow();
    }
  }
}
