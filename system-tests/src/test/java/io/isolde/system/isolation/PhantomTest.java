// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.isolation;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.client.Transaction;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Rows appear or vanish where a serializable transaction has looked and found none, or others. */
class PhantomTest extends Scenario {

  private String table;

  @BeforeEach
  void fill() {
    table = node.table("p int, c int, s int static, v int, PRIMARY KEY (p, c)");
    for (int c = 0; c < 5; c++) {
      execute("INSERT INTO %s (p, c, v) VALUES (1, %d, 1)".formatted(table, c));
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "SELECT * FROM $t WHERE p = 1",
        "SELECT * FROM $t WHERE p = 1 AND c > 2",
        "SELECT * FROM $t WHERE p = 1 ORDER BY c DESC LIMIT 1",
        "SELECT * FROM $t WHERE p = 1 AND c = 7",
        "SELECT * FROM $t WHERE p = 1 AND c IN (2, 7)",
        "SELECT * FROM $t WHERE p IN (1, 2) AND c = 7",
        "SELECT * FROM $t",
        "SELECT count(*) FROM $t",
        "SELECT * FROM $t WHERE token(p) >= token(1) AND token(p) <= token(1)",
        "SELECT * FROM $t WHERE v = 1 ALLOW FILTERING",
        "SELECT * FROM $t WHERE p = 1 AND v = 9 ALLOW FILTERING",
        "SELECT sum(v) FROM $t WHERE p = 1",
        "SELECT p, count(*) FROM $t GROUP BY p"
      })
  void whenARowAppearsThenWhoeverLookedThereAborts(String look) {
    try (Transaction transaction = serializable()) {
      var unused = read(transaction, look.replace("$t", table));
      transaction.execute("INSERT INTO %s (p, c, v) VALUES (100, 1, 1)".formatted(table));
      execute("INSERT INTO %s (p, c, v) VALUES (1, 7, 1)".formatted(table));
      assertConflicts(transaction);
    }
    assertThat(read("SELECT * FROM %s WHERE p = 100".formatted(table))).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "SELECT * FROM $t WHERE p = 1",
        "SELECT * FROM $t WHERE p = 1 AND c = 3",
        "SELECT * FROM $t WHERE p = 1 AND c >= 3",
        "SELECT * FROM $t",
        "SELECT DISTINCT p FROM $t"
      })
  void whenARowVanishesThenWhoeverSawItAborts(String look) {
    try (Transaction transaction = serializable()) {
      var unused = read(transaction, look.replace("$t", table));
      transaction.execute("INSERT INTO %s (p, c, v) VALUES (100, 1, 1)".formatted(table));
      execute("DELETE FROM %s WHERE p = 1 AND c = 3".formatted(table));
      assertConflicts(transaction);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "SELECT * FROM $t WHERE p = 2",
        "SELECT * FROM $t WHERE p = 2 AND c > 1",
        "SELECT * FROM $t WHERE p = 1 AND c = 3",
        "SELECT * FROM $t WHERE p = 1 AND c IN (0, 1)"
      })
  void whenARowAppearsElsewhereThenTheTransactionCommits(String look) {
    try (Transaction transaction = serializable()) {
      var unused = read(transaction, look.replace("$t", table));
      transaction.execute("INSERT INTO %s (p, c, v) VALUES (100, 1, 1)".formatted(table));
      execute("INSERT INTO %s (p, c, v) VALUES (1, 7, 1)".formatted(table));
      assertCommits(transaction);
    }
  }

  @Test
  void whenTwoInsertIfAbsentThenOneAborts() {
    try (Transaction first = serializable();
        Transaction second = serializable()) {
      insertIfAbsent(first, "first");
      insertIfAbsent(second, "second");
      assertCommits(second);
      assertConflicts(first);
    }
    assertThat(read("SELECT v FROM %s WHERE p = 5 AND c = 5".formatted(table)))
        .containsExactly("6");
  }

  private void insertIfAbsent(Transaction transaction, String who) {
    assertThat(read(transaction, "SELECT * FROM %s WHERE p = 5 AND c = 5".formatted(table)))
        .isEmpty();
    transaction.execute("INSERT INTO %s (p, c, v) VALUES (5, 5, ?)".formatted(table), who.length());
  }

  @Test
  void whenAStaticColumnChangesThenWhoeverReadItAborts() {
    try (Transaction transaction = serializable()) {
      assertThat(read(transaction, "SELECT s, v FROM %s WHERE p = 1 AND c = 1".formatted(table)))
          .containsExactly("null 1");
      transaction.execute("INSERT INTO %s (p, c, v) VALUES (100, 1, 1)".formatted(table));
      execute("UPDATE %s SET s = 4 WHERE p = 1".formatted(table));
      assertConflicts(transaction);
    }
  }
}
