// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.locks;

import static io.isolde.system.Refusals.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.servererrors.SyntaxError;
import io.isolde.client.ErrorCode;
import io.isolde.client.IsolationLevel;
import io.isolde.client.Isolde;
import io.isolde.client.Transaction;
import io.isolde.client.TransactionOptions;
import io.isolde.system.Await;
import io.isolde.system.Results;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** SELECT … FOR UPDATE, NOWAIT and SKIP LOCKED. */
class ForUpdateTest extends LockingTransactions {
  private static final String GROUPED = NODE.table("q int, id int, PRIMARY KEY (q, id)");
  private static final int CLIENTS = 8;
  private static final int EACH = 10;

  private static void awaitWaiting(int count) {
    Await.until(
        count + " to wait",
        () ->
            NODE.session().execute("SELECT waits FROM isolde.row_locks").all().stream()
                    .filter(row -> row.getBoolean("waits"))
                    .count()
                == count);
  }

  @ParameterizedTest
  @EnumSource(IsolationLevel.class)
  void whenARowIsLockedThenTheNextWaitsAndSeesWhatWasWritten(IsolationLevel level)
      throws Exception {
    try (Transaction first = begin(level);
        Transaction second = begin(level)) {
      assertThat(second.startTimestamp()).isPositive(); // It has started before the other commits.
      assertThat(lock(first, 1, "")).containsExactly("0");
      Future<List<String>> waiting = later(() -> lock(second, 1, ""));
      awaitWaiting(1);
      set(first, 1, 5);
      first.commit();
      assertThat(waiting.get(PATIENCE_SECONDS, TimeUnit.SECONDS)).containsExactly("5");
      set(second, 1, 6);
      second.commit();
    }
  }

  @ParameterizedTest
  @EnumSource(IsolationLevel.class)
  void whenManyAddToOneRowThenNobodyHasAConflict(IsolationLevel level) throws Exception {
    List<Future<Void>> all = new ArrayList<>();
    for (int client = 0; client < CLIENTS; client++) {
      all.add(
          later(
              () -> {
                for (int i = 0; i < EACH; i++) {
                  try (Transaction transaction = begin(level)) {
                    set(transaction, 2, Integer.parseInt(lock(transaction, 2, "").get(0)) + 1);
                    transaction.commit();
                  }
                }
                return null;
              }));
    }
    for (Future<Void> client : all) {
      client.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    }
    try (Transaction transaction = begin()) {
      assertThat(lock(transaction, 2, "")).containsExactly("" + CLIENTS * EACH);
    }
  }

  @Test
  void whenOneDoesNotWaitThenItIsRefusedAtOnceAndMayGoOn() {
    try (Transaction first = begin();
        Transaction second = begin()) {
      lock(first, 1, "");
      assertRefused(ErrorCode.ROW_LOCKED, () -> lock(second, 1, "NOWAIT"));
      assertThat(lock(second, 3, "NOWAIT")).containsExactly("0");
      first.rollback();
      assertThat(lock(second, 1, "NOWAIT")).containsExactly("0");
      set(second, 3, 8);
      second.commit();
    }
  }

  @Test
  void whenItWaitsForTooLongThenItIsRefusedAndMayTryAgain() {
    try (Transaction first = begin();
        Transaction second = begin()) {
      lock(first, 1, "");
      assertRefused(ErrorCode.ROW_LOCKED, () -> lock(second, 1, ""));
      first.commit();
      assertThat(lock(second, 1, "")).containsExactly("0");
    }
  }

  @Test
  void whenTwoWaitForOneAnotherThenTheLastIsRefusedAtOnce() throws Exception {
    try (Transaction first = begin();
        Transaction second = begin()) {
      lock(first, 1, "");
      lock(second, 3, "");
      Future<List<String>> waiting = later(() -> lock(first, 3, ""));
      awaitWaiting(1);
      assertRefused(ErrorCode.ROW_LOCKED, () -> lock(second, 1, ""));
      second.rollback();
      assertThat(waiting.get(PATIENCE_SECONDS, TimeUnit.SECONDS)).containsExactly("0");
    }
  }

  @ParameterizedTest
  @EnumSource(IsolationLevel.class)
  void whenTheRowHasChangedSinceTheSnapshotThenItIsAConflictAtOnce(IsolationLevel level) {
    try (Transaction transaction = begin(level)) {
      transaction.execute("SELECT v FROM %s WHERE id = 4".formatted(ROWS));
      NODE.session().execute("UPDATE %s SET v = 7 WHERE id = 1".formatted(ROWS));
      assertRefused(ErrorCode.CONFLICT, () -> lock(transaction, 1, ""));
    }
  }

  /** The lock does not keep others from writing; who locks once more hears of it at once. */
  @Test
  void whenALockedRowWasWrittenByOthersThenTheNextLockOfItIsAConflict() {
    try (Transaction transaction = begin()) {
      lock(transaction, 1, "");
      assertThat(lock(transaction, 1, "")).containsExactly("0");
      NODE.session().execute("UPDATE %s SET v = 9 WHERE id = 1".formatted(ROWS));
      assertRefused(ErrorCode.CONFLICT, () -> lock(transaction, 1, ""));
    }
  }

  /** It counts as read: whoever writes it without asking ends this transaction. */
  @ParameterizedTest
  @EnumSource(IsolationLevel.class)
  void whenOneWritesALockedRowWithoutAskingThenTheLockerHasAConflict(IsolationLevel level) {
    try (Transaction transaction = begin(level)) {
      lock(transaction, 1, "");
      NODE.session().execute("UPDATE %s SET v = 9 WHERE id = 1".formatted(ROWS));
      set(transaction, 3, 1);
      assertRefused(ErrorCode.CONFLICT, transaction::commit);
    }
  }

  /** At SNAPSHOT it counts as written, so that it keeps others from writing it beside. */
  @ParameterizedTest
  @ValueSource(strings = {"UPDATE $t SET v = 2 WHERE id = 1", "DELETE FROM $t WHERE id = 1"})
  void whenALockedRowWasOnlyReadThenOthersThatStartedBeforeCantWriteItAtSnapshot(String write) {
    try (Transaction other = begin(IsolationLevel.SNAPSHOT);
        Transaction locker = begin(IsolationLevel.SNAPSHOT)) {
      other.execute("SELECT v FROM %s WHERE id = 4".formatted(ROWS));
      lock(locker, 1, "");
      set(locker, 3, 1);
      locker.commit();
      other.execute(write.replace("$t", ROWS));
      assertRefused(ErrorCode.CONFLICT, other::commit);
    }
  }

  /** A statement without an answer is not the first one: the next may still take its snapshot. */
  @ParameterizedTest
  @ValueSource(strings = {"", "NOWAIT"})
  void whenOneTriesAgainAfterTheOtherHasWrittenThenItSeesThat(String how) {
    try (Transaction first = begin();
        Transaction second = begin()) {
      lock(first, 1, "");
      assertRefused(ErrorCode.ROW_LOCKED, () -> lock(second, 1, how));
      set(first, 1, 77);
      first.commit();
      assertThat(lock(second, 1, how)).containsExactly("77");
      set(second, 1, 78);
      second.commit();
    }
  }

  @Test
  void whenAnotherStatementComesWhileTheFirstWaitsThenItsSnapshotStays() throws Exception {
    try (Transaction first = begin();
        Transaction second = begin()) {
      lock(first, 1, "");
      Future<List<String>> waiting = later(() -> lock(second, 1, ""));
      awaitWaiting(1);
      assertThat(rows(second, "SELECT v FROM %s WHERE id = 1".formatted(ROWS)))
          .containsExactly("0");
      set(first, 1, 5);
      first.commit();
      assertRefused(
          ErrorCode.CONFLICT, () -> waitedFor(waiting)); // It can't see what it has waited for.
    }
  }

  private static void waitedFor(Future<List<String>> waiting) throws Throwable {
    try {
      waiting.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      throw e.getCause();
    }
  }

  @Test
  void whenRowsAreLockedByAPartOfTheirKeyOrAnIndexThenThoseThatAreReturnedAre() {
    String table = NODE.table("p int, c int, v int, s int static, PRIMARY KEY (p, c)");
    NODE.session().execute("CREATE INDEX ON %s (v) USING 'sai'".formatted(table));
    for (int c = 0; c < 12; c++) {
      NODE.session()
          .execute("INSERT INTO %s (p, c, v, s) VALUES (1, %d, %d, 5)".formatted(table, c, c % 2));
    }
    try (Transaction first = begin();
        Transaction second = begin()) {
      String odd = "SELECT c FROM %s WHERE v = 1 FOR UPDATE".formatted(table);
      SimpleStatement paged = SimpleStatement.newInstance(odd).setPageSize(2);
      assertThat(Results.lines(first.execute(paged))).hasSize(6);
      String row = "SELECT c FROM %s WHERE p = 1 AND c = %d FOR UPDATE NOWAIT";
      assertRefused(ErrorCode.ROW_LOCKED, () -> second.execute(row.formatted(table, 11)));
      assertThat(rows(second, row.formatted(table, 2))).containsExactly("2");
      // Rows that are not there have nothing in common, and a static column is none of them.
      assertThat(rows(first, row.formatted(table, 20))).isEmpty();
      assertThat(rows(second, row.formatted(table, 21))).isEmpty();
      assertRefused(ErrorCode.ROW_LOCKED, () -> second.execute(row.formatted(table, 20)));
      assertThat(
              rows(
                  second,
                  "SELECT c FROM %s WHERE p IN (1, 2) AND c > 0 LIMIT 2 FOR UPDATE SKIP LOCKED"
                      .formatted(table)))
          .containsExactly("2", "4");
    }
  }

  @Test
  void whenTheTableChangesThenAPreparedStatementReturnsItsNewColumns() {
    String table = NODE.table("id int PRIMARY KEY, a int, c int");
    try (CqlSession session = NODE.connect()) {
      session.execute("INSERT INTO %s (id, a, c) VALUES (1, 2, 3)".formatted(table));
      PreparedStatement prepared =
          session.prepare("SELECT * FROM %s WHERE id = ? FOR UPDATE".formatted(table));
      assertThat(locked(session, prepared).getInt("c")).isEqualTo(3);
      session.execute("ALTER TABLE %s ADD b text".formatted(table));
      session.execute("UPDATE %s SET b = 'x' WHERE id = 1".formatted(table));
      assertThat(locked(session, prepared).getInt("c")).isEqualTo(3);
      assertThat(locked(session, prepared).getString("b")).isEqualTo("x");
    }
  }

  private static Row locked(CqlSession session, PreparedStatement prepared) {
    try (Transaction transaction = Isolde.on(session).begin()) {
      return transaction.execute(prepared.bind(1)).one();
    }
  }

  @Test
  void whenItIsPreparedThenValuesAreBoundAndCommentsAreLeftOut() {
    PreparedStatement prepared =
        NODE.session()
            .prepare(
                "/* for update */ SELECT id, v FROM %s WHERE id IN ? FOR -- rows\n UPDATE nowait;"
                    .formatted(ROWS));
    try (Transaction transaction = begin()) {
      assertThat(Results.lines(transaction.execute(prepared.bind(List.of(1, 3)))))
          .containsExactly("1 0", "3 0");
      try (Transaction other = begin()) {
        assertRefused(ErrorCode.ROW_LOCKED, () -> other.execute(prepared.bind(List.of(3, 4))));
        assertThat(lock(other, 4, "NOWAIT")).containsExactly("0");
      }
    }
  }

  @Test
  void whenATransactionEndsInAnyWayThenItsRowsAreFree() {
    try (Transaction committed = begin();
        Transaction killed = begin();
        Transaction failed = begin()) {
      lock(committed, 1, "");
      set(committed, 1, 3);
      lock(killed, 2, "");
      lock(failed, 3, "");
      committed.commit();
      NODE.session().execute("KILL TRANSACTION " + killed.id());
      assertThatThrownBy(() -> failed.execute("INSERT INTO %s (id) VALUES ('x')".formatted(ROWS)));
      failed.rollback();
      try (Transaction next = begin()) {
        assertThat(lock(next, 1, "NOWAIT")).containsExactly("3");
        assertThat(lock(next, 2, "NOWAIT")).containsExactly("0");
        assertThat(lock(next, 3, "NOWAIT")).containsExactly("0");
      }
    }
  }

  @Test
  void whenARowIsLockedThenOperatorsSeeByWhom() throws Exception {
    try (Transaction first = begin();
        Transaction second = begin()) {
      lock(first, 1, "");
      Future<List<String>> waiting = later(() -> lock(second, 1, ""));
      awaitWaiting(1);
      Row row =
          NODE.session()
              .execute("SELECT * FROM isolde.row_locks WHERE transaction_id = " + second.id())
              .one();
      assertThat(row.getUuid("waits_for")).isEqualTo(first.id());
      assertThat(row.getInt("locked_rows")).isZero();
      first.rollback();
      waiting.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    }
    Await.until(
        "the locks to end",
        () -> NODE.session().execute("SELECT * FROM isolde.row_locks").one() == null);
  }

  @Test
  void whenAStatementWithIfFindsALockedRowThenItStillDecidesByItself() {
    try (Transaction transaction = begin()) {
      lock(transaction, 1, "");
      assertThat(
              NODE.session()
                  .execute("UPDATE %s SET v = 4 WHERE id = 1 IF v = 0".formatted(ROWS))
                  .wasApplied())
          .isTrue();
      set(transaction, 1, 5);
      assertRefused(ErrorCode.CONFLICT, transaction::commit);
    }
  }

  @Test
  void whenThereIsNothingToLockThenItIsRefused() {
    String byId = "SELECT v FROM %s WHERE id = 1 FOR UPDATE".formatted(ROWS);
    assertRefused(ErrorCode.NO_TRANSACTION, () -> NODE.session().execute(byId));
    try (Transaction reading = NODE.isolde().begin(TransactionOptions.reading())) {
      assertRefused(ErrorCode.READ_ONLY_TRANSACTION, () -> reading.execute(byId));
    }
    String plain = NODE.plainTable("id int PRIMARY KEY");
    try (Transaction transaction = begin()) {
      assertRefused(
          ErrorCode.NOT_TRANSACTIONAL,
          () -> transaction.execute("SELECT * FROM %s WHERE id = 1 FOR UPDATE".formatted(plain)));
      for (String what : List.of("DISTINCT q", "count(*)", "max(id)")) {
        assertRefused(
            ErrorCode.INVALID_REQUEST,
            () -> transaction.execute("SELECT %s FROM %s FOR UPDATE".formatted(what, GROUPED)));
      }
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"SHARE", "UPDATE OF t", "UPDATE WAIT 5", "NO KEY UPDATE SKIP", "KEY SHARE"})
  void whenItIsSaidAsElsewhereThenTheErrorNamesOurs(String how) {
    assertThatThrownBy(
            () ->
                NODE.session().execute("SELECT v FROM %s WHERE id = 1 FOR %s".formatted(ROWS, how)))
        .isInstanceOf(SyntaxError.class)
        .hasMessageContaining("FOR UPDATE [NOWAIT | SKIP LOCKED]");
  }

  @Test
  void whenTheWordsAreInALiteralThenNothingIsLocked() {
    String texts = NODE.table("id text PRIMARY KEY");
    NODE.session().execute("INSERT INTO %s (id) VALUES (' for update')".formatted(texts));
    String cql = "SELECT id FROM %s WHERE id = ' for update'".formatted(texts);
    assertThat(NODE.session().execute(cql).all()).hasSize(1);
    try (Transaction transaction = begin()) {
      assertThat(rows(transaction, cql + "FOR UPDATE /* of */ nowait -- ;\n ;")).hasSize(1);
    }
  }
}
