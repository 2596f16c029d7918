// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.mode;

import static io.isolde.system.Refusals.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import io.isolde.client.ErrorCode;
import io.isolde.client.Transaction;
import io.isolde.system.Results;
import io.isolde.system.SystemNode;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tables lose columns, rows or themselves while transactions use them. */
class DroppedColumnsTest {
  private static final SystemNode NODE = SystemNode.shared();
  private static final CqlSession SESSION = NODE.session();
  private static final String COLUMNS = "id int PRIMARY KEY, v int, w int";
  private static final long AHEAD_MILLIS = 3000;

  @Test
  void whenAColumnIsDroppedAndAddedThenATransactionThatWroteItIsRefused() {
    String table = NODE.table(COLUMNS);
    try (Transaction transaction = NODE.isolde().begin()) {
      transaction.execute("INSERT INTO %s (id, v, w) VALUES (1, 1, 1)".formatted(table));
      dropAndAdd(table);
      assertRefused(ErrorCode.SNAPSHOT_TOO_OLD, transaction::commit);
    }
    assertThat(read(table)).isEmpty();
    try (Transaction transaction = NODE.isolde().begin()) {
      transaction.execute("INSERT INTO %s (id, v, w) VALUES (1, 2, 2)".formatted(table));
      transaction.commit();
    }
    assertThat(read(table)).containsExactly("1 2 2");
  }

  @Test
  void whenAColumnIsDroppedThenAReaderThatSawItIsRefused() {
    String table = NODE.table(COLUMNS);
    insert(table, 1);
    try (Transaction reader = NODE.isolde().begin()) {
      assertThat(Results.lines(reader.execute("SELECT id, v, w FROM " + table)))
          .containsExactly("1 1 1");
      dropAndAdd(table);
      assertRefused(
          ErrorCode.SNAPSHOT_TOO_OLD, () -> reader.execute("SELECT id, v, w FROM " + table));
      assertRefused(
          ErrorCode.SNAPSHOT_TOO_OLD,
          () -> reader.execute("UPDATE %s SET w = 2 WHERE id = 1".formatted(table)));
      assertRefused(ErrorCode.TRANSACTION_ABORTED, reader::commit);
    }
    assertThat(read(table)).containsExactly("1 null 1");
  }

  /** The clocks of nodes say that the drop was before what is dropped, and after what is not. */
  @Test
  void whenTimestampsRunAheadThenWhatIsDroppedIsGoneAndWhatComesLaterStays() throws Exception {
    String table = NODE.table(COLUMNS);
    PreparedStatement insert =
        SESSION.prepare("INSERT INTO %s (id, v, w) VALUES (?, ?, ?)".formatted(table));
    PreparedStatement expiring =
        SESSION.prepare("INSERT INTO %s (id, v, w) VALUES (4, 4, 4) USING TTL 2".formatted(table));
    String future = NODE.plainTable("id int PRIMARY KEY, v int");
    long micros = 1000 * (System.currentTimeMillis() + AHEAD_MILLIS);
    SESSION.execute(
        "INSERT INTO %s (id, v) VALUES (1, 1) USING TIMESTAMP %d".formatted(future, micros));
    SESSION.execute("ENABLE TRANSACTIONS ON " + future);
    try {
      insert(table, 1);
      NODE.flush(table);
      insert(table, 2);
      dropAndAdd(table);
      assertThat(read(table)).containsExactlyInAnyOrder("1 null 1", "2 null 2");
      insert(table, 1);
      SESSION.execute(insert.bind(2, 2, 2));
      try (Transaction transaction = NODE.isolde().begin()) {
        transaction.execute("INSERT INTO %s (id, v, w) VALUES (3, 3, 3)".formatted(table));
        transaction.commit();
      }
      NODE.flush(table);
      assertThat(read(table)).containsExactlyInAnyOrder("1 1 1", "2 2 2", "3 3 3");
      SESSION.execute(expiring.bind());
      try (Transaction transaction = NODE.isolde().begin()) {
        assertThat(
                Results.lines(
                    transaction.execute("SELECT v FROM %s WHERE id = 4".formatted(table))))
            .as("what lives for two seconds, at once")
            .containsExactly("4");
      }
    } finally {
      Thread.sleep(AHEAD_MILLIS); // No other test is to be ahead of the clock.
    }
  }

  @Test
  void whenTheMomentOfADropIsGivenThenItIsRefused() {
    String table = NODE.table(COLUMNS);
    assertRefused(
        ErrorCode.UNSUPPORTED_TIMESTAMP,
        () -> SESSION.execute("ALTER TABLE %s DROP v USING TIMESTAMP 1".formatted(table)));
    insert(table, 1);
    SESSION.execute("ALTER TABLE %s DROP IF EXISTS (v, nothing)".formatted(table));
    assertThat(Results.lines(SESSION.execute("SELECT * FROM " + table))).containsExactly("1 1");
  }

  /** Else the table could not be read before that time, or the column of that name not be. */
  @Test
  void whenAColumnOfAPlainTableWasDroppedInTheFutureThenEnableIsRefused() {
    String table = NODE.plainTable(COLUMNS);
    long micros = 1000 * (System.currentTimeMillis() + TimeUnit.HOURS.toMillis(1));
    SESSION.execute("ALTER TABLE %s DROP v USING TIMESTAMP %d".formatted(table, micros));
    assertRefused(
        ErrorCode.UNSUPPORTED_TABLE, () -> SESSION.execute("ENABLE TRANSACTIONS ON " + table));
  }

  @Test
  void whenATableIsDroppedAndMadeAgainThenATransactionThatWroteItIsRefused() {
    String table = NODE.table(COLUMNS);
    try (Transaction transaction = NODE.isolde().begin()) {
      transaction.execute("INSERT INTO %s (id, v, w) VALUES (1, 1, 1)".formatted(table));
      SESSION.execute("DROP TABLE " + table);
      SESSION.execute("CREATE TABLE %s (%s)".formatted(table, COLUMNS));
      SESSION.execute("ENABLE TRANSACTIONS ON " + table);
      assertRefused(
          ErrorCode.SNAPSHOT_TOO_OLD, () -> transaction.execute("SELECT * FROM " + table));
      assertRefused(ErrorCode.SNAPSHOT_TOO_OLD, transaction::commit);
    }
    assertThat(read(table)).isEmpty();
  }

  static LongStream seeds() {
    String only = System.getProperty("isolde.seed");
    return only != null
        ? LongStream.of(Long.parseLong(only))
        : LongStream.of(1, 2, ThreadLocalRandom.current().nextLong());
  }

  /** Of all that changes tables and all that transactions do, in any order, against a model. */
  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void whenTablesChangeThenTransactionsSeeOneStateOrAreRefused(long seed) {
    new ChangingTable(NODE, seed).run();
  }

  private static void dropAndAdd(String table) {
    SESSION.execute("ALTER TABLE %s DROP v".formatted(table));
    SESSION.execute("ALTER TABLE %s ADD v int".formatted(table));
  }

  private static void insert(String table, int id) {
    SESSION.execute("INSERT INTO %s (id, v, w) VALUES (%d, %d, %d)".formatted(table, id, id, id));
  }

  private static List<String> read(String table) {
    return Results.lines(SESSION.execute("SELECT id, v, w FROM " + table));
  }
}
