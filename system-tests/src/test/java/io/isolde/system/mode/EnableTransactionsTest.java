// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.mode;

import static io.isolde.system.Refusals.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.servererrors.InvalidQueryException;
import io.isolde.client.ErrorCode;
import io.isolde.client.Transaction;
import io.isolde.system.Results;
import io.isolde.system.SystemNode;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Tables become transactional and plain again while they are used. */
class EnableTransactionsTest {

  private static final SystemNode NODE = SystemNode.shared();
  private static final CqlSession SESSION = NODE.session();
  private static final int WRITERS = 3;
  private static final long AHEAD_MILLIS = 3000;

  @Test
  void whenTheTableHasDataThenTransactionsSeeIt() {
    String table = NODE.plainTable("id int PRIMARY KEY, v int");
    insert(table, 1, 1);
    NODE.flush(table);
    insert(table, 2, 2);
    SESSION.execute("ENABLE TRANSACTIONS ON " + table);
    try (Transaction transaction = NODE.isolde().begin()) {
      assertThat(Results.lines(transaction.execute("SELECT * FROM " + table)))
          .containsExactlyInAnyOrder("1 1", "2 2");
      transaction.execute("UPDATE %s SET v = 3 WHERE id = 1".formatted(table));
      transaction.commit();
    }
    assertThat(read(table)).containsExactlyInAnyOrder("1 3", "2 2");
  }

  @Test
  void whenWritersGoOnThenNothingIsLostAndNobodyNotices() throws Exception {
    String table = NODE.plainTable("writer int, n int, v int, PRIMARY KEY (writer, n)");
    PreparedStatement insert =
        SESSION.prepare("INSERT INTO %s (writer, n, v) VALUES (?, ?, ?)".formatted(table));
    PreparedStatement select =
        SESSION.prepare("SELECT v FROM %s WHERE writer = ? AND n = ?".formatted(table));
    AtomicBoolean running = new AtomicBoolean(true);
    List<AtomicInteger> written = new ArrayList<>();
    List<CompletableFuture<Void>> writers = new ArrayList<>();
    for (int writer = 0; writer < WRITERS; writer++) {
      int w = writer;
      AtomicInteger count = new AtomicInteger();
      written.add(count);
      writers.add(
          CompletableFuture.runAsync(
              () -> {
                while (running.get()) {
                  int n = count.get();
                  SESSION.execute(insert.bind(w, n, n));
                  assertThat(SESSION.execute(select.bind(w, n)).one().getInt("v")).isEqualTo(n);
                  count.incrementAndGet();
                }
              }));
    }
    for (int round = 0; round < 3; round++) {
      Thread.sleep(300);
      SESSION.execute("ENABLE TRANSACTIONS ON " + table);
      Thread.sleep(300);
      SESSION.execute("DISABLE TRANSACTIONS ON " + table);
    }
    running.set(false);
    for (CompletableFuture<Void> writer : writers) {
      writer.get();
    }
    for (int writer = 0; writer < WRITERS; writer++) {
      List<String> rows =
          Results.lines(
              SESSION.execute("SELECT n, v FROM %s WHERE writer = %d".formatted(table, writer)));
      assertThat(rows).hasSize(written.get(writer).get());
    }
  }

  @Test
  void whenRepeatedThenNothingHappens() {
    String table = NODE.table("id int PRIMARY KEY, v int");
    insert(table, 1, 1);
    try (Transaction open = NODE.isolde().begin()) {
      SESSION.execute("ENABLE TRANSACTIONS ON " + table);
      assertThat(Results.lines(open.execute("SELECT * FROM " + table))).containsExactly("1 1");
      open.execute("UPDATE %s SET v = 2 WHERE id = 1".formatted(table));
      open.commit();
    }
    SESSION.execute("DISABLE TRANSACTIONS ON " + table);
    SESSION.execute("DISABLE TRANSACTIONS ON " + table);
    assertThat(read(table)).containsExactly("1 2");
  }

  @Test
  void whenDisabledThenTheTableIsPlainAndKeepsItsData() {
    String table = NODE.table("id int PRIMARY KEY, v int");
    insert(table, 1, 1);
    SESSION.execute("DISABLE TRANSACTIONS ON " + table);
    assertThat(read(table)).containsExactly("1 1");
    SESSION.execute("UPDATE %s SET v = 2 WHERE id = 1 IF v = 1".formatted(table));
    SESSION.execute("UPDATE %s SET v = 3 WHERE id = 1".formatted(table));
    assertThat(read(table)).containsExactly("1 3");
    try (Transaction transaction = NODE.isolde().begin()) {
      assertRefused(
          ErrorCode.NOT_TRANSACTIONAL, () -> transaction.execute("SELECT * FROM " + table));
    }
    SESSION.execute("ENABLE TRANSACTIONS ON " + table);
    insert(table, 1, 4);
    assertThat(read(table)).containsExactly("1 4");
  }

  @Test
  void whenDisabledDuringATransactionThenItCannotCommit() {
    String table = NODE.table("id int PRIMARY KEY, v int");
    try (Transaction transaction = NODE.isolde().begin()) {
      transaction.execute("INSERT INTO %s (id, v) VALUES (1, 1)".formatted(table));
      SESSION.execute("DISABLE TRANSACTIONS ON " + table);
      assertRefused(ErrorCode.NOT_TRANSACTIONAL, transaction::commit);
    }
    assertThat(read(table)).isEmpty();
  }

  @Test
  void whenDisabledAndEnabledDuringATransactionThenItCannotGoOn() {
    String table = NODE.table("id int PRIMARY KEY, v int");
    insert(table, 1, 1);
    try (Transaction transaction = NODE.isolde().begin()) {
      transaction.execute("INSERT INTO %s (id, v) VALUES (2, 2)".formatted(table));
      SESSION.execute("DISABLE TRANSACTIONS ON " + table);
      insert(table, 1, 7);
      SESSION.execute("ENABLE TRANSACTIONS ON " + table);
      assertRefused(
          ErrorCode.SNAPSHOT_TOO_OLD, () -> transaction.execute("SELECT * FROM " + table));
      assertRefused(ErrorCode.SNAPSHOT_TOO_OLD, transaction::commit);
    }
    assertThat(read(table)).containsExactly("1 7");
  }

  @Test
  void whenTruncatedDuringATransactionThenItCannotGoOn() {
    String table = NODE.table("id int PRIMARY KEY, v int");
    insert(table, 1, 1);
    try (Transaction reading = NODE.isolde().begin();
        Transaction writing = NODE.isolde().begin()) {
      assertThat(Results.lines(reading.execute("SELECT * FROM " + table))).hasSize(1);
      writing.execute("INSERT INTO %s (id, v) VALUES (2, 2)".formatted(table));
      SESSION.execute("TRUNCATE " + table);
      assertRefused(ErrorCode.SNAPSHOT_TOO_OLD, () -> reading.execute("SELECT * FROM " + table));
      assertRefused(ErrorCode.SNAPSHOT_TOO_OLD, writing::commit);
      // Nothing is written by it, so nothing can be wrong with what it read before.
      assertThat(reading.commit().committed()).isTrue();
    }
    assertThat(read(table)).isEmpty();
    insert(table, 3, 3);
    assertThat(read(table)).containsExactly("3 3");
  }

  @Test
  void whenDroppedDuringATransactionThenItCannotCommit() {
    String table = NODE.table("id int PRIMARY KEY, v int");
    try (Transaction transaction = NODE.isolde().begin()) {
      transaction.execute("INSERT INTO %s (id, v) VALUES (1, 1)".formatted(table));
      SESSION.execute("DROP TABLE " + table);
      assertRefused(ErrorCode.SNAPSHOT_TOO_OLD, transaction::commit);
    }
  }

  @Test
  void whenAColumnIsAddedDuringATransactionThenItCommits() {
    String table = NODE.table("id int PRIMARY KEY, v int");
    insert(table, 1, 1);
    try (Transaction transaction = NODE.isolde().begin()) {
      transaction.execute("INSERT INTO %s (id, v) VALUES (2, 2)".formatted(table));
      SESSION.execute("ALTER TABLE %s ADD w int".formatted(table));
      assertThat(Results.lines(transaction.execute("SELECT id, v, w FROM " + table)))
          .containsExactlyInAnyOrder("1 1 null", "2 2 null");
      transaction.execute("UPDATE %s SET w = 5 WHERE id = 1".formatted(table));
      assertThat(transaction.commit().committed()).isTrue();
    }
    assertThat(Results.lines(SESSION.execute("SELECT id, v, w FROM " + table)))
        .containsExactlyInAnyOrder("1 1 5", "2 2 null");
  }

  @Test
  void whenTheTableCannotBeTransactionalThenEnableIsRefused() {
    String counters = NODE.plainTable("id int PRIMARY KEY, n counter");
    assertRefused(
        ErrorCode.UNSUPPORTED_TABLE, () -> SESSION.execute("ENABLE TRANSACTIONS ON " + counters));
    assertRefused(
        ErrorCode.UNSUPPORTED_TABLE, () -> SESSION.execute("ENABLE TRANSACTIONS ON system.local"));
    assertThatThrownBy(() -> SESSION.execute("ENABLE TRANSACTIONS ON systests.nowhere"))
        .isInstanceOf(InvalidQueryException.class);
    assertThatThrownBy(() -> SESSION.execute("ENABLE TRANSACTIONS ON nowhere"))
        .isInstanceOf(InvalidQueryException.class);
  }

  @Test
  void whenDataIsFromTheNearFutureThenNewCommitsAreNewer() throws Exception {
    String table = NODE.plainTable("id int PRIMARY KEY, v int");
    runTimestampsAhead(table);
    insert(table, 1, 2);
    assertThat(read(table)).containsExactly("1 2");
    Thread.sleep(AHEAD_MILLIS);
  }

  @Test
  void whenDataIsFromTheFarFutureThenEnableIsRefused() {
    String table = NODE.plainTable("id int PRIMARY KEY, v int");
    insertAt(table, System.currentTimeMillis() + 3_600_000);
    assertRefused(
        ErrorCode.UNSUPPORTED_TABLE, () -> SESSION.execute("ENABLE TRANSACTIONS ON " + table));
    insert(table, 2, 2);
    assertThat(read(table)).contains("2 2");
  }

  /** Plain writes carry the time of the wall clock. */
  @Test
  void whenTimestampsRunAheadThenPlainWritesAfterDisableAreNotLost() throws Exception {
    String table = NODE.table("id int PRIMARY KEY, v int");
    runTimestampsAhead(NODE.plainTable("id int PRIMARY KEY, v int"));
    insert(table, 1, 1);
    SESSION.execute("DISABLE TRANSACTIONS ON " + table);
    insert(table, 1, 3);
    List<String> rows = read(table);
    Thread.sleep(AHEAD_MILLIS);
    assertThat(rows).containsExactly("1 3");
  }

  /** Commits are newer than all that a table has; no other test should be ahead of the clock. */
  private static void runTimestampsAhead(String table) {
    insertAt(table, System.currentTimeMillis() + AHEAD_MILLIS);
    SESSION.execute("ENABLE TRANSACTIONS ON " + table);
  }

  private static void insertAt(String table, long millis) {
    SESSION.execute(
        "INSERT INTO %s (id, v) VALUES (1, 1) USING TIMESTAMP %d".formatted(table, 1000 * millis));
  }

  @Test
  void whenNamesAreQuotedThenTheyAreFound() {
    SESSION.execute("CREATE TABLE systests.\"MixedCase\" (id int PRIMARY KEY, v int)");
    SESSION.execute("ENABLE TRANSACTIONS ON systests.\"MixedCase\"");
    try (Transaction transaction = NODE.isolde().begin()) {
      transaction.execute("INSERT INTO systests.\"MixedCase\" (id, v) VALUES (1, 1)");
      transaction.commit();
    }
    assertThat(read("systests.\"MixedCase\"")).containsExactly("1 1");
    SESSION.execute("DISABLE TRANSACTIONS ON systests.\"MixedCase\"");
  }

  private static void insert(String table, int id, int v) {
    SESSION.execute("INSERT INTO %s (id, v) VALUES (%d, %d)".formatted(table, id, v));
  }

  private static List<String> read(String table) {
    return Results.lines(SESSION.execute("SELECT id, v FROM " + table));
  }
}
