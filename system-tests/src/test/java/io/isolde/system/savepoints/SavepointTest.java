// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.savepoints;

import static io.isolde.system.Refusals.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.servererrors.SyntaxError;
import io.isolde.client.ErrorCode;
import io.isolde.client.IsolationLevel;
import io.isolde.client.Savepoint;
import io.isolde.client.Transaction;
import io.isolde.client.TransactionOptions;
import io.isolde.system.Results;
import io.isolde.system.SystemNode;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** SAVEPOINT, ROLLBACK TO and RELEASE. */
class SavepointTest {
  private static final SystemNode NODE = SystemNode.shared();
  private static final String TABLE = NODE.table("id int PRIMARY KEY, v int, b blob");
  private static final String UNIQUE = NODE.table("id int PRIMARY KEY, email text");
  private static final int MAX_SAVEPOINTS = 100;

  @BeforeAll
  static void createUniqueIndex() {
    NODE.session().execute("CREATE UNIQUE INDEX ON " + UNIQUE + " (email)");
  }

  @BeforeEach
  void write() {
    for (String table : List.of(TABLE, UNIQUE)) {
      rows("SELECT id FROM " + table)
          .forEach(
              id -> NODE.session().execute("DELETE FROM %s WHERE id = %s".formatted(table, id)));
    }
    set(NODE.session()::execute, 1, 10);
    set(NODE.session()::execute, 2, 20);
  }

  private static void set(Consumer<String> execute, int id, int v) {
    execute.accept("INSERT INTO %s (id, v) VALUES (%d, %d)".formatted(TABLE, id, v));
  }

  private static List<String> rows(String select) {
    return Results.lines(NODE.session().execute(select)).stream().sorted().toList();
  }

  private static List<String> rows(Transaction transaction) {
    return Results.lines(transaction.execute("SELECT id, v FROM " + TABLE)).stream()
        .sorted()
        .toList();
  }

  private static void set(Transaction transaction, int id, int v) {
    set(cql -> transaction.execute(cql), id, v);
  }

  private static TransactionOptions at(IsolationLevel level) {
    return TransactionOptions.builder().isolationLevel(level).build();
  }

  @ParameterizedTest
  @EnumSource(IsolationLevel.class)
  void whenRolledBackToThenOnlyWhatWasBeforeIsCommitted(IsolationLevel level) {
    try (Transaction tx = NODE.isolde().begin(at(level))) {
      set(tx, 1, 11);
      Savepoint savepoint = tx.savepoint();
      set(tx, 1, 12);
      set(tx, 3, 30);
      tx.execute("DELETE FROM %s WHERE id = 2".formatted(TABLE));
      assertThat(rows(tx)).containsExactly("1 12", "3 30");
      tx.rollbackTo(savepoint);
      assertThat(rows(tx)).containsExactly("1 11", "2 20");
      set(tx, 2, 21);
      tx.rollbackTo(savepoint);
      set(tx, 4, 40);
      assertThat(rows(tx)).containsExactly("1 11", "2 20", "4 40");
      tx.commit();
    }
    assertThat(rows("SELECT id, v FROM " + TABLE)).containsExactly("1 11", "2 20", "4 40");
  }

  @Test
  void whenAllIsTakenBackThenNothingIsCommitted() {
    try (Transaction tx = NODE.isolde().begin()) {
      Savepoint savepoint = tx.savepoint();
      set(tx, 1, 11);
      tx.rollbackTo(savepoint);
      tx.commit();
    }
    assertThat(rows("SELECT id, v FROM " + TABLE)).containsExactly("1 10", "2 20");
  }

  /** The client begins it with its first statement. */
  @Test
  void whenASavepointIsFirstThenTheTransactionBeginsWithIt() {
    NODE.isolde()
        .runVoid(
            tx -> {
              Savepoint savepoint = tx.savepoint();
              set(tx, 1, 11);
              tx.rollbackTo(savepoint);
              set(tx, 2, 21);
            });
    assertThat(rows("SELECT id, v FROM " + TABLE)).containsExactly("1 10", "2 21");
  }

  @Test
  void whenRolledBackToAnOuterOneThenTheInnerIsGone() {
    try (Transaction tx = NODE.isolde().begin()) {
      Savepoint outer = tx.savepoint();
      set(tx, 1, 11);
      Savepoint inner = tx.savepoint();
      set(tx, 2, 21);
      tx.rollbackTo(inner);
      assertThat(rows(tx)).containsExactly("1 11", "2 20");
      tx.rollbackTo(outer);
      assertRefused(ErrorCode.SAVEPOINT_NOT_FOUND, () -> tx.rollbackTo(inner));
      assertRefused(ErrorCode.TRANSACTION_ABORTED, () -> set(tx, 3, 30));
      tx.rollbackTo(outer);
      set(tx, 3, 30);
      tx.commit();
    }
    assertThat(rows("SELECT id, v FROM " + TABLE)).containsExactly("1 10", "2 20", "3 30");
  }

  @Test
  void whenReleasedThenItsWritesStayAndItIsGoneWithThoseAfterIt() {
    try (Transaction tx = NODE.isolde().begin()) {
      Savepoint first = tx.savepoint();
      set(tx, 1, 11);
      Savepoint second = tx.savepoint();
      set(tx, 1, 12);
      Savepoint third = tx.savepoint();
      set(tx, 1, 13);
      tx.release(second);
      assertRefused(ErrorCode.SAVEPOINT_NOT_FOUND, () -> tx.release(third));
      tx.rollbackTo(first);
      assertThat(rows(tx)).containsExactly("1 10", "2 20");
      set(tx, 1, 14);
      tx.release(first);
      set(tx, 2, 24);
      tx.commit();
    }
    assertThat(rows("SELECT id, v FROM " + TABLE)).containsExactly("1 14", "2 24");
  }

  @Test
  void whenANameIsSetAgainThenItIsTheLaterMoment() {
    try (Transaction tx = NODE.isolde().begin()) {
      tx.execute("SAVEPOINT a");
      set(tx, 1, 11);
      tx.execute("savepoint A");
      set(tx, 1, 12);
      tx.execute("ROLLBACK TRANSACTION TO SAVEPOINT a;");
      tx.execute("SAVEPOINT \"a b\"");
      set(tx, 2, 21);
      tx.execute("ROLLBACK TO \"a b\"");
      tx.execute("RELEASE SAVEPOINT a");
      tx.commit();
    }
    assertThat(rows("SELECT id, v FROM " + TABLE)).containsExactly("1 11", "2 20");
  }

  private static void violate(Transaction tx) {
    tx.execute("INSERT INTO %s (id, email) VALUES (2, 'a')".formatted(UNIQUE));
  }

  @Test
  void whenAStatementFailsThenTheTransactionGoesOnFromASavepoint() {
    NODE.session().execute("INSERT INTO %s (id, email) VALUES (1, 'a')".formatted(UNIQUE));
    List<Consumer<Transaction>> wrong =
        List.of(
            SavepointTest::violate,
            tx -> tx.execute("UPDATE %s SET nothing = 1 WHERE id = 1".formatted(TABLE)),
            tx -> tx.execute("UPDATE"),
            tx -> tx.execute("TRUNCATE " + TABLE),
            tx -> tx.execute("ROLLBACK TO nowhere"),
            tx -> tx.execute("ROLLBACK TO 1"),
            tx -> tx.execute("SAVEPOINT a b"),
            tx -> tx.execute("INSERT INTO %s (id, b) VALUES (7, ?)".formatted(TABLE), tooMuch()));
    for (Consumer<Transaction> statement : wrong) {
      try (Transaction tx = NODE.isolde().begin()) {
        tx.execute("INSERT INTO %s (id, email) VALUES (3, 'c')".formatted(UNIQUE));
        Savepoint savepoint = tx.savepoint();
        tx.execute("INSERT INTO %s (id, email) VALUES (4, 'd')".formatted(UNIQUE));
        assertThatThrownBy(() -> statement.accept(tx)).isInstanceOf(RuntimeException.class);
        assertRefused(ErrorCode.TRANSACTION_ABORTED, () -> rows(tx));
        tx.rollbackTo(savepoint);
        tx.execute("INSERT INTO %s (id, email) VALUES (5, 'e')".formatted(UNIQUE));
        tx.commit();
      }
      assertThat(rows("SELECT id, email FROM " + UNIQUE)).containsExactly("1 a", "3 c", "5 e");
      assertThat(rows("SELECT id FROM %s WHERE email = 'd'".formatted(UNIQUE))).isEmpty();
      NODE.session().execute("DELETE FROM %s WHERE id IN (3, 5)".formatted(UNIQUE));
    }
  }

  @Test
  void whenItDoesNotGoBackAfterAFailureThenNothingIsCommitted() {
    NODE.session().execute("INSERT INTO %s (id, email) VALUES (1, 'a')".formatted(UNIQUE));
    try (Transaction tx = NODE.isolde().begin()) {
      Savepoint savepoint = tx.savepoint();
      set(tx, 1, 11);
      assertRefused(ErrorCode.UNIQUE_VIOLATION, () -> violate(tx));
      assertRefused(ErrorCode.TRANSACTION_ABORTED, () -> tx.release(savepoint));
      assertRefused(ErrorCode.TRANSACTION_ABORTED, tx::savepoint);
      assertRefused(ErrorCode.TRANSACTION_ABORTED, tx::commit);
    }
    assertThat(rows("SELECT id, v FROM " + TABLE)).containsExactly("1 10", "2 20");
  }

  /** Such writes were refused by the request that sent them, with others. */
  @Test
  void whenHeldWritesAreRefusedThenItGoesOnFromASavepoint() {
    NODE.session().execute("INSERT INTO %s (id, email) VALUES (1, 'a')".formatted(UNIQUE));
    try (Transaction tx = NODE.isolde().begin()) {
      tx.write("INSERT INTO %s (id, v) VALUES (3, 30)".formatted(TABLE));
      Savepoint savepoint = tx.savepoint();
      tx.write("INSERT INTO %s (id, v) VALUES (4, 40)".formatted(TABLE));
      tx.write("INSERT INTO %s (id, email) VALUES (2, 'a')".formatted(UNIQUE));
      assertRefused(ErrorCode.UNIQUE_VIOLATION, () -> rows(tx));
      tx.write("INSERT INTO %s (id, v) VALUES (5, 50)".formatted(TABLE));
      tx.rollbackTo(savepoint);
      tx.write("INSERT INTO %s (id, v) VALUES (6, 60)".formatted(TABLE));
      assertThat(rows(tx)).containsExactly("1 10", "2 20", "3 30", "6 60");
      tx.write("INSERT INTO %s (id, v) VALUES (7, 70)".formatted(TABLE));
      tx.commit();
    }
    assertThat(rows("SELECT id FROM " + TABLE)).containsExactly("1", "2", "3", "6", "7");
  }

  @Test
  void whenWhatItReadIsChangedThenItConflictsAlsoIfItHasGoneBack() {
    try (Transaction tx = NODE.isolde().begin(at(IsolationLevel.SERIALIZABLE))) {
      Savepoint savepoint = tx.savepoint();
      tx.execute("SELECT v FROM %s WHERE id = 1".formatted(TABLE));
      tx.rollbackTo(savepoint);
      set(tx, 3, 30);
      set(NODE.session()::execute, 1, 11);
      assertRefused(ErrorCode.CONFLICT, tx::commit);
    }
  }

  @ParameterizedTest
  @EnumSource(IsolationLevel.class)
  void whenWhatItTookBackIsWrittenByOthersThenItDoesNotConflict(IsolationLevel level) {
    try (Transaction tx = NODE.isolde().begin(at(level))) {
      Savepoint savepoint = tx.savepoint();
      set(tx, 1, 12);
      tx.rollbackTo(savepoint);
      set(tx, 3, 30);
      set(NODE.session()::execute, 1, 11);
      tx.commit();
    }
    assertThat(rows("SELECT id, v FROM " + TABLE)).containsExactly("1 11", "2 20", "3 30");
  }

  @Test
  void whenItGoesBackThenConditionsAndNumbersSeeWhatWasBefore() {
    try (Transaction tx = NODE.isolde().begin()) {
      tx.execute("UPDATE %s SET v = v + 1 WHERE id = 1".formatted(TABLE));
      Savepoint savepoint = tx.savepoint();
      tx.execute("UPDATE %s SET v = v + 100 WHERE id = 1".formatted(TABLE));
      tx.rollbackTo(savepoint);
      String decrement = "UPDATE %s SET v = v - 1 WHERE id = 1 IF v = %d";
      assertThat(tx.execute(decrement.formatted(TABLE, 111)).wasApplied()).isFalse();
      assertThat(tx.execute(decrement.formatted(TABLE, 11)).wasApplied()).isTrue();
      tx.execute("UPDATE %s SET v = v + 5 WHERE id = 1".formatted(TABLE));
      tx.commit();
    }
    assertThat(rows("SELECT id, v FROM " + TABLE)).containsExactly("1 15", "2 20");
  }

  private static ByteBuffer megabytes(int n) {
    return ByteBuffer.allocate(n << 20);
  }

  /** More than a transaction may write on a node of this heap, which is 8 MiB. */
  private static ByteBuffer tooMuch() {
    return megabytes(9);
  }

  @Test
  void whenItGoesBackThenThereIsRoomAgain() {
    try (Transaction tx = NODE.isolde().begin()) {
      Savepoint savepoint = tx.savepoint();
      for (int i = 0; i < 4; i++) {
        tx.execute("INSERT INTO %s (id, b) VALUES (3, ?)".formatted(TABLE), megabytes(3));
        tx.rollbackTo(savepoint);
      }
      set(tx, 3, 30);
      tx.commit();
    }
    assertThat(rows("SELECT id FROM " + TABLE)).containsExactly("1", "2", "3");
  }

  @Test
  void whenThereAreTooManyThenOneMoreIsRefusedUntilOneIsReleased() {
    try (Transaction tx = NODE.isolde().begin()) {
      Savepoint first = tx.savepoint();
      set(tx, 1, 11);
      Savepoint second = tx.savepoint();
      for (int i = 2; i < MAX_SAVEPOINTS; i++) {
        Savepoint unused = tx.savepoint();
      }
      assertRefused(ErrorCode.TRANSACTION_TOO_LARGE, tx::savepoint);
      tx.rollbackTo(second);
      Savepoint unused = tx.savepoint();
      tx.release(first);
      tx.commit();
    }
    assertThat(rows("SELECT id, v FROM " + TABLE)).containsExactly("1 11", "2 20");
  }

  @Test
  void whenThereIsNoTransactionThenItIsRefused() {
    try (CqlSession connection = NODE.connectSerially()) {
      for (String cql : List.of("SAVEPOINT a", "ROLLBACK TO a", "RELEASE a")) {
        assertRefused(ErrorCode.NO_TRANSACTION, () -> connection.execute(cql));
      }
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"SAVEPOINT", "SAVEPOINT 1", "SAVEPOINT a b", "ROLLBACK TO", "RELEASE 'a'"})
  void whenANameIsMissingOrWrongThenItIsASyntaxError(String cql) {
    assertThatThrownBy(() -> NODE.session().execute(cql))
        .isInstanceOf(SyntaxError.class)
        .hasMessageContaining("expected the name of a savepoint");
  }

  @Test
  void whenPreparedOnAConnectionThenTheyWorkAgainAndAgain() {
    try (CqlSession connection = NODE.connectSerially()) {
      PreparedStatement set = connection.prepare("SAVEPOINT a");
      PreparedStatement back = connection.prepare("ROLLBACK TO a");
      for (int i = 0; i < 2; i++) {
        connection.execute("START TRANSACTION");
        connection.execute(set.bind());
        set(connection::execute, 1, 11);
        connection.execute(back.bind());
        set(connection::execute, 2, 21 + i);
        connection.execute("COMMIT");
        assertThat(rows("SELECT id, v FROM " + TABLE)).containsExactly("1 10", "2 " + (21 + i));
      }
    }
  }

  @Test
  void whenItOnlyReadsThenSavepointsAreHarmless() {
    try (Transaction tx =
        NODE.isolde().begin(TransactionOptions.builder().readOnly(true).build())) {
      Savepoint savepoint = tx.savepoint();
      assertRefused(ErrorCode.READ_ONLY_TRANSACTION, () -> set(tx, 1, 11));
      tx.rollbackTo(savepoint);
      assertThat(rows(tx)).containsExactly("1 10", "2 20");
      tx.commit();
    }
  }
}
