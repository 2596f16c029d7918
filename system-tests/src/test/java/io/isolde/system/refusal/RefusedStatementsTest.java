// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.refusal;

import static io.isolde.system.Refusals.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.servererrors.QueryValidationException;
import io.isolde.client.ErrorCode;
import io.isolde.client.IsoldeException;
import io.isolde.client.Transaction;
import io.isolde.client.TransactionOptions;
import io.isolde.system.Results;
import io.isolde.system.SystemNode;
import java.util.Locale;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What a transaction or a transactional table can't take is refused at once, with a code of its
 * own. A transaction goes on after a SELECT that was refused; if anything else was, it has ended.
 */
class RefusedStatementsTest {

  private static final SystemNode NODE = SystemNode.shared();
  private static final String TABLE = indexedTable();

  private Transaction transaction;
  private boolean isAborted;

  private static String indexedTable() {
    String table =
        NODE.table(
            "p int, c int, s int static, v int, w int, l list<int>, t text, n vector<float, 2>,"
                + " PRIMARY KEY (p, c)");
    NODE.session().execute("CREATE INDEX ON %s (v)".formatted(table));
    NODE.session().execute("CREATE INDEX ON %s (w) USING 'sai'".formatted(table));
    NODE.session().execute("CREATE INDEX ON %s (n) USING 'sai'".formatted(table));
    return table;
  }

  @BeforeEach
  void beginWithAWrite() {
    NODE.session().execute("TRUNCATE " + TABLE);
    NODE.session().execute(on("INSERT INTO $t (p, c, v, w, l) VALUES (1, 1, 5, 6, [1, 2])"));
    transaction = NODE.isolde().begin();
    transaction.execute(on("INSERT INTO $t (p, c, v, w) VALUES (1, 2, 5, 6)"));
  }

  /** No part of a transaction is lost without the others. */
  @AfterEach
  void theTransactionCommitsAllThatItWroteOrNothing() {
    String rows = on("SELECT c, v, l FROM $t");
    if (isAborted) {
      assertRefused(
          ErrorCode.TRANSACTION_ABORTED,
          () -> transaction.execute(on("SELECT c FROM $t WHERE p = 1")));
      assertRefused(
          ErrorCode.TRANSACTION_ABORTED,
          () -> transaction.execute(on("INSERT INTO $t (p, c) VALUES (1, 3)")));
      assertRefused(ErrorCode.TRANSACTION_ABORTED, transaction::commit);
      assertThat(Results.lines(NODE.session().execute(rows))).containsExactly("1 5 [1, 2]");
      return;
    }
    assertThat(Results.lines(transaction.execute(on("SELECT c FROM $t WHERE p = 1"))))
        .containsExactly("1", "2");
    transaction.execute(on("INSERT INTO $t (p, c) VALUES (1, 3)"));
    assertThat(transaction.commit().committed()).isTrue();
    assertThat(Results.lines(NODE.session().execute(rows)))
        .containsExactly("1 5 [1, 2]", "2 5 []", "3 null []");
  }

  /** In the transaction. A SELECT takes nothing with it. */
  private IsoldeException refused(ErrorCode code, String cql) {
    IsoldeException error = assertRefused(code, () -> transaction.execute(on(cql)));
    isAborted |= !cql.startsWith("SELECT");
    return error;
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "UNSUPPORTED_TIMESTAMP | INSERT INTO $t (p, c) VALUES (1, 9) USING TIMESTAMP 1000",
        "UNSUPPORTED_TIMESTAMP | UPDATE $t USING TIMESTAMP 1000 SET v = 9 WHERE p = 1 AND c = 1",
        "UNSUPPORTED_TIMESTAMP | DELETE FROM $t USING TIMESTAMP 9000000000000000 WHERE p = 1",
        "UNSUPPORTED_TIMESTAMP | BEGIN BATCH USING TIMESTAMP 7 INSERT INTO $t (p, c) VALUES (1, 9);"
            + " APPLY BATCH",
        "UNSUPPORTED_TIMESTAMP | BEGIN BATCH INSERT INTO $t (p, c) VALUES (1, 9) USING TIMESTAMP 7;"
            + " APPLY BATCH",
        "UNSUPPORTED_INDEX_QUERY | SELECT * FROM $t ORDER BY n ANN OF [1, 2] LIMIT 1"
      })
  void whenATransactionalTableCannotTakeItThenItIsRefusedInsideAndOutside(
      ErrorCode code, String cql) {
    IsoldeException inside = refused(code, cql);
    assertThat(inside.transactionId()).contains(transaction.id());
    IsoldeException outside = assertRefused(code, () -> NODE.session().execute(on(cql)));
    assertThat(outside.getMessage()).doesNotContain("null");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "SELECT c FROM $t WHERE v = 5",
        "SELECT c FROM $t WHERE w = 6",
        "SELECT c FROM $t WHERE w > 5",
        "SELECT c FROM $t WHERE p = 1 AND v = 5",
        "SELECT c FROM $t WHERE v = 5 ALLOW FILTERING",
        "SELECT c FROM $t WHERE w = 6 ALLOW FILTERING",
        "SELECT c FROM $t WHERE p = 1 AND w = 6 ALLOW FILTERING"
      })
  void whenRowsAreSelectedByValueThenTheTransactionSeesItsOwnRowsToo(String cql) {
    assertThat(Results.lines(transaction.execute(on(cql)))).containsExactly("1", "2");
    assertThat(Results.lines(NODE.session().execute(on(cql)))).containsExactly("1");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "UNSUPPORTED_TRUNCATE | TRUNCATE $t",
        "UNSUPPORTED_DDL | CREATE TABLE systests.never (id int PRIMARY KEY)",
        "UNSUPPORTED_DDL | ALTER TABLE $t ADD x int",
        "UNSUPPORTED_DDL | DROP TABLE $t",
        "UNSUPPORTED_DDL | CREATE INDEX ON $t (t)",
        "UNSUPPORTED_DDL | CREATE ROLE somebody",
        "UNSUPPORTED_DDL | ENABLE TRANSACTIONS ON $t",
        "UNSUPPORTED_DDL | DISABLE TRANSACTIONS ON $t"
      })
  void whenItCannotBePartOfATransactionThenItIsRefused(ErrorCode code, String cql) {
    refused(code, cql);
  }

  @Test
  void whenACounterIsWrittenThenItIsRefused() {
    String counters = NODE.plainTable("id int PRIMARY KEY, n counter");
    refused(
        ErrorCode.UNSUPPORTED_COUNTER, "UPDATE %s SET n = n + 1 WHERE id = 1".formatted(counters));
    NODE.session().execute("UPDATE %s SET n = n + 1 WHERE id = 1".formatted(counters));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "SELECT * FROM %s",
        "INSERT INTO %s (id) VALUES (1)",
        "BEGIN BATCH INSERT INTO %s (id) VALUES (1); APPLY BATCH"
      })
  void whenATableIsPlainThenItIsRefused(String cql) {
    String plain = NODE.plainTable("id int PRIMARY KEY, v int");
    IsoldeException error = refused(ErrorCode.NOT_TRANSACTIONAL, cql.formatted(plain));
    assertThat(error.details()).containsEntry("table", plain);
  }

  @Test
  void whenASystemTableIsReadThenItIsAsItIs() {
    assertThat(transaction.execute("SELECT key FROM system.local").one().getString(0))
        .isEqualTo("local");
  }

  /** It would take place at once, and a rollback would not undo it. */
  @ParameterizedTest
  @ValueSource(strings = {"%s", "BEGIN BATCH %s; APPLY BATCH"})
  void whenASystemTableIsWrittenThenItIsRefused(String how) {
    String write =
        "INSERT INTO system_traces.sessions (session_id, duration) VALUES"
            + " (5cde6e33-aab0-4ad6-94f4-51927bbed219, 1)";
    refused(ErrorCode.NOT_TRANSACTIONAL, how.formatted(write));
    NODE.session().execute(write);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "SELEKT 1",
        "UPDATE systests.nowhere SET v = 1 WHERE p = 1",
        "INSERT INTO $t (p) VALUES (1)",
        "INSERT INTO $t (p, c) VALUES (1, 'x')",
        "INSERT INTO $t (p, c) VALUES (1, ?)",
        "USE nowhere",
        "SELECT FROM",
        "SELECT * FROM systests.nowhere",
        "SELECT * FROM $t WHERE t = 'x'",
        "SELECT * FROM $t WHERE p = ?",
        "/* why */ -- not\nselect nothing FROM $t"
      })
  void whenAStatementIsWrongInItselfThenCassandrasErrorComes(String cql) {
    assertThatThrownBy(() -> transaction.execute(on(cql)))
        .isInstanceOf(QueryValidationException.class)
        .hasMessageNotContaining("[isolde");
    isAborted = !cql.toUpperCase(Locale.ROOT).contains("SELECT");
  }

  @Test
  void whenAsOfIsInTheFutureThenItIsRefused() {
    long tomorrow = (System.currentTimeMillis() + 86_400_000) * 1000;
    assertRefused(
        ErrorCode.INVALID_TIMESTAMP, () -> NODE.isolde().begin(TransactionOptions.asOf(tomorrow)));
    try (CqlSession serial = NODE.connectSerially()) {
      assertRefused(
          ErrorCode.INVALID_TIMESTAMP, () -> serial.execute("START TRANSACTION AS OF -5"));
    }
  }

  @Test
  void whenAsOfIsOlderThanTheVersionsThenReadsAreRefused() {
    try (Transaction old = NODE.isolde().begin(TransactionOptions.asOf(1_000_000))) {
      assertRefused(ErrorCode.AS_OF_TOO_OLD, () -> old.execute(on("SELECT * FROM $t WHERE p = 1")));
    }
  }

  private static String on(String cql) {
    return cql.replace("$t", TABLE);
  }
}
