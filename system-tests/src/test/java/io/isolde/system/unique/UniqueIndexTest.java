// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.unique;

import static io.isolde.system.Refusals.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.ResultSet;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import io.isolde.client.ErrorCode;
import io.isolde.client.IsolationLevel;
import io.isolde.client.IsoldeException;
import io.isolde.client.Transaction;
import io.isolde.client.TransactionOptions;
import io.isolde.system.Await;
import io.isolde.system.Results;
import io.isolde.system.SystemNode;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code CREATE UNIQUE INDEX}: one row for each value, whoever writes it and how. */
class UniqueIndexTest {
  private static final SystemNode NODE = SystemNode.shared();

  private static final String TABLE =
      NODE.table("p int, c int, email text, team text, nick text, v int, PRIMARY KEY (p, c)");
  private static final String BY_EMAIL = TABLE + "_by_email";
  private static final String BY_NICK = TABLE + "_by_nick";

  @BeforeAll
  static void createUniqueIndexes() {
    String name = bare(BY_EMAIL);
    execute("CREATE UNIQUE INDEX " + name + " ON %s (email)");
    execute("create unique index " + bare(BY_NICK) + " on %s (team, nick);");
  }

  private static String bare(String qualified) {
    return qualified.substring(qualified.indexOf('.') + 1);
  }

  @BeforeEach
  void twoRows() {
    execute("TRUNCATE %s");
    execute("INSERT INTO %s (p, c, email, v) VALUES (1, 1, 'a', 10)");
    execute("INSERT INTO %s (p, c, email, team, nick) VALUES (2, 2, 'b', 'x', 'n')");
  }

  private static ResultSet execute(String cql) {
    return NODE.session().execute(cql.formatted(TABLE));
  }

  private static List<String> lines(String cql) {
    return Results.lines(execute(cql));
  }

  private static List<String> entries() {
    return NODE.session().execute("SELECT email, p, c FROM " + BY_EMAIL).all().stream()
        .map(row -> row.getString(0) + " " + row.getInt(1) + " " + row.getInt(2))
        .sorted()
        .toList();
  }

  private static void assertTaken(String cql) {
    IsoldeException error = assertRefused(ErrorCode.UNIQUE_VIOLATION, () -> execute(cql));
    assertThat(error.getMessage()).contains(bare(BY_EMAIL), "email = 'a'");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "INSERT INTO %s (p, c, email) VALUES (3, 3, 'a')",
        "INSERT INTO %s (p, c, email) VALUES (1, 2, 'a') IF NOT EXISTS",
        "INSERT INTO %s JSON '{\"p\": 3, \"c\": 3, \"email\": \"a\"}'",
        "UPDATE %s SET email = 'a' WHERE p = 2 AND c = 2",
        "UPDATE %s USING TTL 100 SET email = 'a', v = 1 WHERE p = 2 AND c = 2",
        "UPDATE %s SET email = 'a' WHERE p = 2 AND c = 2 IF email = 'b'",
        "UPDATE %s SET email = 'a' WHERE p IN (1, 4) AND c = 1",
        "BEGIN BATCH DELETE FROM %1$s WHERE p = 2;"
            + " INSERT INTO %1$s (p, c, email) VALUES (2, 3, 'a') APPLY BATCH"
      })
  void whenAnotherRowHasTheValueThenNothingIsWritten(String write) {
    List<String> before = lines("SELECT * FROM %s");
    assertTaken(write);
    try (Transaction transaction = NODE.isolde().begin()) {
      assertRefused(ErrorCode.UNIQUE_VIOLATION, () -> transaction.execute(write.formatted(TABLE)));
      assertRefused(ErrorCode.TRANSACTION_ABORTED, transaction::commit);
    }
    assertThat(lines("SELECT * FROM %s")).isEqualTo(before);
    assertThat(entries()).containsExactly("a 1 1", "b 2 2");
  }

  /** The write and COMMIT are one request then. */
  @Test
  void whenAWriteIsHeldUntilCommitThenItIsChecked() {
    String insert = "INSERT INTO %s (p, c, email) VALUES (3, 3, '%s')";
    Transaction refused = NODE.isolde().begin();
    refused.write(insert.formatted(TABLE, "a"));
    assertRefused(ErrorCode.UNIQUE_VIOLATION, refused::commit);
    NODE.isolde().runVoid(tx -> tx.write(insert.formatted(TABLE, "q")));
    assertThat(entries()).containsExactly("a 1 1", "b 2 2", "q 3 3");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "DELETE FROM %s WHERE p = 1 AND c = 1 | b 2 2",
        "DELETE FROM %s WHERE p = 1 | b 2 2",
        "DELETE FROM %s WHERE p = 1 AND c > 0 AND c < 9 | b 2 2",
        "DELETE FROM %s WHERE p IN (1, 2) | ''",
        "DELETE email FROM %s WHERE p = 1 AND c = 1 | b 2 2",
        "UPDATE %s SET email = null WHERE p = 1 AND c = 1 | b 2 2",
        "DELETE FROM %s WHERE p = 1 AND c = 1 IF EXISTS | b 2 2",
        "INSERT INTO %s JSON '{\"p\": 1, \"c\": 1}' | b 2 2",
        "UPDATE %s SET email = 'z' WHERE p = 1 AND c = 1 | b 2 2, z 1 1",
        "UPDATE %s SET email = 'a', v = 11 WHERE p = 1 AND c = 1 | a 1 1, b 2 2",
        "UPDATE %s SET v = 11 WHERE p = 1 AND c = 1 | a 1 1, b 2 2",
        "DELETE v FROM %s WHERE p = 1 AND c = 1 | a 1 1, b 2 2",
        "INSERT INTO %s (p, c, v) VALUES (7, 7, 7) | a 1 1, b 2 2"
      })
  void whenARowChangesThenSoDoItsEntries(String write, String entries) {
    execute(write);
    assertThat(String.join(", ", entries())).isEqualTo(entries);
    if (!entries.contains("a ")) {
      execute("INSERT INTO %s (p, c, email) VALUES (9, 9, 'a')");
      assertThat(entries()).contains("a 9 9");
    }
  }

  @Test
  void whenRowsExchangeValuesInABatchThenThatIsFine() {
    execute(
        "BEGIN BATCH UPDATE %1$s SET email = 'b' WHERE p = 1 AND c = 1;"
            + " UPDATE %1$s SET email = 'a' WHERE p = 2 AND c = 2 APPLY BATCH");
    assertThat(entries()).containsExactly("a 2 2", "b 1 1");
    assertRefused(
        ErrorCode.UNIQUE_VIOLATION,
        () ->
            execute(
                "BEGIN BATCH INSERT INTO %1$s (p, c, email) VALUES (5, 5, 'q');"
                    + " INSERT INTO %1$s (p, c, email) VALUES (6, 6, 'q') APPLY BATCH"));
    assertThat(entries()).containsExactly("a 2 2", "b 1 1");
  }

  @ParameterizedTest
  @EnumSource(IsolationLevel.class)
  void whenTwoTransactionsWriteTheSameValueThenOneConflicts(IsolationLevel level) {
    TransactionOptions options = TransactionOptions.builder().isolationLevel(level).build();
    try (Transaction one = NODE.isolde().begin(options);
        Transaction other = NODE.isolde().begin(options)) {
      one.execute("INSERT INTO %s (p, c, email) VALUES (3, 3, 'q')".formatted(TABLE));
      other.execute("INSERT INTO %s (p, c, email) VALUES (4, 4, 'q')".formatted(TABLE));
      one.commit();
      assertRefused(ErrorCode.CONFLICT, other::commit);
    }
    assertThat(entries()).containsExactly("a 1 1", "b 2 2", "q 3 3");
  }

  /** Both read the value of the row that they change, so neither may miss the other. */
  @ParameterizedTest
  @EnumSource(IsolationLevel.class)
  void whenTwoTransactionsChangeTheValueOfARowThenOneConflicts(IsolationLevel level) {
    TransactionOptions options = TransactionOptions.builder().isolationLevel(level).build();
    try (Transaction one = NODE.isolde().begin(options);
        Transaction other = NODE.isolde().begin(options)) {
      one.execute("UPDATE %s SET email = 'q' WHERE p = 1 AND c = 1".formatted(TABLE));
      other.execute("UPDATE %s SET email = 'r' WHERE p = 1 AND c = 1".formatted(TABLE));
      one.commit();
      assertRefused(ErrorCode.CONFLICT, other::commit);
    }
    assertThat(entries()).containsExactly("b 2 2", "q 1 1");
  }

  @Test
  void whenATransactionHasFreedAValueThenItTakesItAgain() {
    try (Transaction transaction = NODE.isolde().begin()) {
      transaction.execute("DELETE FROM %s WHERE p = 1".formatted(TABLE));
      transaction.execute("INSERT INTO %s (p, c, email) VALUES (3, 3, 'a')".formatted(TABLE));
      assertThat(
              Results.lines(
                  transaction.execute("SELECT p FROM %s WHERE email = 'a'".formatted(TABLE))))
          .containsExactly("3");
      transaction.execute("UPDATE %s SET email = 'c' WHERE p = 3 AND c = 3".formatted(TABLE));
      transaction.execute("INSERT INTO %s (p, c, email) VALUES (1, 1, 'a')".formatted(TABLE));
      transaction.commit();
    }
    assertThat(entries()).containsExactly("a 1 1", "b 2 2", "c 3 3");
  }

  @Test
  void whenAValueEndsThenItsEntryEndsWithIt() {
    execute("INSERT INTO %s (p, c, email) VALUES (3, 3, 'q') USING TTL 3");
    assertRefused(
        ErrorCode.UNIQUE_VIOLATION,
        () -> execute("INSERT INTO %s (p, c, email) VALUES (4, 4, 'q')"));
    execute("UPDATE %s USING TTL 1000 SET v = 5 WHERE p = 3 AND c = 3");
    Await.until(
        "the value has ended",
        () -> execute("SELECT email FROM %s WHERE p = 3").one().isNull("email"));
    execute("INSERT INTO %s (p, c, email) VALUES (4, 4, 'q')");
    assertThat(entries()).containsExactly("a 1 1", "b 2 2", "q 4 4");
    execute("UPDATE %s USING TTL 1000 SET email = 'q' WHERE p = 4 AND c = 4");
    assertThat(ttlOfEntry("q")).isBetween(900, 1000);
    execute("UPDATE %s SET email = 'q' WHERE p = 4 AND c = 4");
    assertThat(ttlOfEntry("q")).isNull();
  }

  /** What a transaction sees as alive has ended for others, who may have taken the value. */
  @Test
  void whenAValueHasEndedForOthersThenATransactionThatSeesItDoesNotFreeIt() {
    execute("INSERT INTO %s (p, c, email) VALUES (3, 3, 'q') USING TTL 2");
    try (Transaction late = NODE.isolde().begin()) {
      assertThat(
              late.execute("SELECT email FROM %s WHERE p = 3".formatted(TABLE)).one().getString(0))
          .isEqualTo("q");
      Await.until(
          "the value has ended", () -> execute("SELECT p FROM %s WHERE p = 3").one() == null);
      execute("INSERT INTO %s (p, c, email) VALUES (4, 4, 'q')");
      late.execute("UPDATE %s SET email = 'z' WHERE p = 3 AND c = 3".formatted(TABLE));
      assertRefused(ErrorCode.CONFLICT, late::commit);
    }
    assertThat(entries()).containsExactly("a 1 1", "b 2 2", "q 4 4");
  }

  @Test
  void whenAClientNamesAnotherTimeThenNothingHasEndedByThat() {
    execute("INSERT INTO %s (p, c, email) VALUES (3, 3, 'q') USING TTL 86400");
    int inTwoDays = (int) (System.currentTimeMillis() / 1000) + 2 * 86_400;
    SimpleStatement take =
        SimpleStatement.newInstance(
                "UPDATE %s SET email = 'q' WHERE p = 4 AND c = 4".formatted(TABLE))
            .setNowInSeconds(inTwoDays);
    assertRefused(ErrorCode.UNIQUE_VIOLATION, () -> NODE.session().execute(take));
  }

  private static Integer ttlOfEntry(String email) {
    return NODE.session()
        .execute("SELECT TTL(p) FROM " + BY_EMAIL + " WHERE email = ?", email)
        .one()
        .get(0, Integer.class);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "email = 'a' | 1 1 10",
        "email = 'a' AND p = 1 | 1 1 10",
        "email = 'a' AND p = 2 | ''",
        "p = 1 AND c = 2 AND email = 'a' | ''",
        "email = 'a' AND v = 10 ALLOW FILTERING | 1 1 10",
        "email = 'a' AND v = 11 ALLOW FILTERING | ''",
        "email = 'q' | ''",
        "team = 'x' AND nick = 'n' | 2 2 null",
        "nick = 'n' AND team = 'x' | 2 2 null",
        "nick = 'n' AND team = 'y' | ''",
        "team = 'x' ALLOW FILTERING | 2 2 null",
        "team = 'x' AND nick = 'n' AND email = 'b' ALLOW FILTERING | 2 2 null"
      })
  void whenItIsReadThenTheRowIsFound(String where, String rows) {
    String select = "SELECT p, c, v FROM %s WHERE " + where;
    assertThat(String.join(", ", lines(select))).isEqualTo(rows);
    PreparedStatement prepared = NODE.session().prepare(select.formatted(TABLE));
    ResultSet inPages = NODE.session().execute(prepared.bind().setPageSize(1));
    assertThat(String.join(", ", Results.lines(inPages))).isEqualTo(rows);
    try (Transaction transaction = NODE.isolde().begin()) {
      assertThat(String.join(", ", Results.lines(transaction.execute(select.formatted(TABLE)))))
          .isEqualTo(rows);
      transaction.commit();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"team = 'x'", "nick = 'n'", "email > 'a'", "email = 'a' AND v = 10"})
  void whenTheIndexIsNotEnoughThenFilteringHasToBeAllowed(String where) {
    assertThatThrownBy(() -> execute("SELECT * FROM %s WHERE " + where))
        .hasMessageContaining("ALLOW FILTERING");
  }

  /** An entry that is not there is read, too. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "INSERT INTO %s (p, c, email) VALUES (3, 3, 'q') | CONFLICT",
        "INSERT INTO %s (p, c, email) VALUES (3, 3, 'r') | ''",
        "UPDATE %s SET email = 'q' WHERE p = 1 AND c = 1 | CONFLICT",
        "UPDATE %s SET v = 9 WHERE p = 1 AND c = 1 | ''"
      })
  void whenItIsReadSerializablyThenJustItsValueConflicts(String write, String error) {
    try (Transaction transaction = NODE.isolde().begin()) {
      transaction.execute("SELECT * FROM %s WHERE email = 'q'".formatted(TABLE));
      transaction.execute("INSERT INTO %s (p, c, v) VALUES (8, 8, 8)".formatted(TABLE));
      execute(write);
      if (error.isEmpty()) {
        transaction.commit();
      } else {
        assertRefused(ErrorCode.valueOf(error), transaction::commit);
      }
    }
  }

  @Test
  void whenARowIsFoundByItThenItsChangesConflict() {
    try (Transaction transaction = NODE.isolde().begin()) {
      transaction.execute("SELECT * FROM %s WHERE email = 'a'".formatted(TABLE));
      transaction.execute("INSERT INTO %s (p, c, v) VALUES (8, 8, 8)".formatted(TABLE));
      execute("UPDATE %s SET v = 9 WHERE p = 1 AND c = 1");
      assertRefused(ErrorCode.CONFLICT, transaction::commit);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "INSERT INTO %s (email, p, c) VALUES ('z', 1, 1)",
        "DELETE FROM %s WHERE email = 'a'",
        "TRUNCATE %s",
        "DROP TABLE %s",
        "ALTER TABLE %s ADD x int",
        "DISABLE TRANSACTIONS ON %s",
        "CREATE UNIQUE INDEX ON %s (p)",
        "DROP INDEX %s_isolde_versions"
      })
  void whenEntriesAreChangedThenThatIsRefused(String change) {
    assertRefused(
        ErrorCode.KEPT_BY_UNIQUE_INDEX, () -> NODE.session().execute(change.formatted(BY_EMAIL)));
    assertThat(entries()).hasSize(2);
  }

  @Test
  void whenTheTableIsTruncatedThenSoAreItsEntries() {
    execute("TRUNCATE %s");
    assertThat(entries()).isEmpty();
    execute("INSERT INTO %s (p, c, email) VALUES (5, 5, 'a')");
    assertThat(entries()).containsExactly("a 5 5");
  }

  @ParameterizedTest
  @ValueSource(strings = {"email", "team", "p", "c"})
  void whenAColumnOfAnIndexIsChangedThenThatIsRefused(String column) {
    assertThatThrownBy(
            () ->
                execute(
                    column.length() == 1
                        ? "ALTER TABLE %s RENAME " + column + " TO x"
                        : "ALTER TABLE %s DROP " + column))
        .hasMessageContaining("index");
  }

  @Test
  void whenTheTableHasAUniqueIndexThenItStaysTransactional() {
    assertRefused(ErrorCode.KEPT_BY_UNIQUE_INDEX, () -> execute("DISABLE TRANSACTIONS ON %s"));
    assertRefused(ErrorCode.KEPT_BY_UNIQUE_INDEX, () -> execute("DROP INDEX %s_isolde_versions"));
  }

  @Test
  void whenAValueIsEmptyThenItIsRefused() {
    assertRefused(
        ErrorCode.INVALID_REQUEST, () -> execute("INSERT INTO %s (p, c, email) VALUES (3, 3, '')"));
    execute("INSERT INTO %s (p, c, team, nick) VALUES (3, 3, '', '')");
    assertThat(lines("SELECT p FROM %s WHERE team = '' AND nick = '' ALLOW FILTERING"))
        .containsExactly("3");
    assertRefused(
        ErrorCode.UNIQUE_VIOLATION,
        () -> execute("INSERT INTO %s (p, c, team, nick) VALUES (4, 4, '', '')"));
  }
}
