// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.isolation;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.client.IsoldeException;
import io.isolde.client.Transaction;
import io.isolde.system.Await;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a serializable transaction that reads by an index conflicts with, and what it does not. */
class IndexConflictTest extends Scenario {
  private static String shared;

  private final String table = table();

  /** One table for all tests: writes tell of a new index at once, reads rely on it later. */
  private String table() {
    if (shared == null) {
      String made =
          node.table(
              "p int, c int, s int static, v int, w text, x int, e set<int>, PRIMARY KEY (p, c)");
      execute("CREATE INDEX ON %s (v) USING 'sai'".formatted(made));
      execute("CREATE INDEX ON %s (w)".formatted(made));
      execute("CREATE INDEX ON %s (s) USING 'sai'".formatted(made));
      execute("CREATE INDEX ON %s (e)".formatted(made));
      Await.until("reads by the indexes are precise", () -> isPrecise(made));
      shared = made;
    }
    return shared;
  }

  private boolean isPrecise(String made) {
    try (Transaction transaction = serializable()) {
      var unused = read(transaction, "SELECT * FROM %s WHERE v = 1".formatted(made));
      transaction.execute("INSERT INTO %s (p, c) VALUES (100, 1)".formatted(made));
      execute("INSERT INTO %s (p, c, v) VALUES (101, 1, 2)".formatted(made));
      return transaction.commit().committed();
    } catch (IsoldeException e) {
      return false;
    }
  }

  @BeforeEach
  void fill() {
    for (int p : new int[] {1, 2, 3, 4, 100, 101}) {
      execute("DELETE FROM %s WHERE p = %d".formatted(table, p));
    }
    for (int c = 1; c <= 3; c++) {
      execute(
          "INSERT INTO %s (p, c, s, v, w, x, e) VALUES (1, %d, 1, %d, 'w%d', 1, {%d})"
              .formatted(table, c, c, c, c));
    }
  }

  private boolean aborts(String look, String write) {
    try (Transaction transaction = serializable()) {
      var unused = read(transaction, look.replace("$t", table));
      transaction.execute("INSERT INTO %s (p, c) VALUES (100, 1)".formatted(table));
      execute(write.replace("$t", table));
      return isConflict(transaction);
    }
  }

  private static boolean isConflict(Transaction transaction) {
    try {
      return !transaction.commit().committed();
    } catch (IsoldeException e) {
      return true;
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        // rows that begin to match
        "SELECT * FROM $t WHERE v = 2 | INSERT INTO $t (p, c, v) VALUES (2, 1, 2)",
        "SELECT * FROM $t WHERE v = 9 | UPDATE $t SET v = 9 WHERE p = 1 AND c = 3",
        "SELECT * FROM $t WHERE v > 5 | INSERT INTO $t (p, c, v) VALUES (2, 1, 7)",
        "SELECT * FROM $t WHERE w = 'new' | UPDATE $t SET w = 'new' WHERE p = 2 AND c = 2",
        "SELECT * FROM $t WHERE e CONTAINS 7 | UPDATE $t SET e = e + {7} WHERE p = 1 AND c = 1",
        "SELECT * FROM $t WHERE s = 5 | UPDATE $t SET s = 5 WHERE p = 1",
        "SELECT * FROM $t WHERE s = 1 | INSERT INTO $t (p, c) VALUES (1, 9)",
        "SELECT * FROM $t WHERE v = 2 AND w = 'a' ALLOW FILTERING"
            + " | UPDATE $t SET w = 'a' WHERE p = 1 AND c = 2",
        "SELECT * FROM $t WHERE v = 2 AND x = 5 ALLOW FILTERING"
            + " | UPDATE $t SET x = 5 WHERE p = 1 AND c = 2",
        "SELECT * FROM $t WHERE p = 1 AND v = 9 | UPDATE $t SET v = 9 WHERE p = 1 AND c = 3",
        // rows that match no longer, or have other values
        "SELECT * FROM $t WHERE v = 2 | UPDATE $t SET v = 3 WHERE p = 1 AND c = 2",
        "SELECT * FROM $t WHERE v = 2 | UPDATE $t SET x = 3 WHERE p = 1 AND c = 2",
        "SELECT * FROM $t WHERE v = 2 | DELETE v FROM $t WHERE p = 1 AND c = 2",
        "SELECT * FROM $t WHERE v = 2 | DELETE FROM $t WHERE p = 1 AND c = 2",
        "SELECT * FROM $t WHERE v = 2 | DELETE FROM $t WHERE p = 1 AND c > 1",
        "SELECT * FROM $t WHERE v = 2 | DELETE FROM $t WHERE p = 1",
        "SELECT * FROM $t WHERE v = 2 | UPDATE $t SET s = 2 WHERE p = 1",
        "SELECT count(*) FROM $t WHERE w = 'w1' | DELETE FROM $t WHERE p = 1 AND c = 1"
      })
  void whenAWriteMattersToTheReadThenTheTransactionAborts(String look, String write) {
    assertThat(aborts(look, write)).isTrue();
    assertThat(read("SELECT * FROM %s WHERE p = 100".formatted(table))).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "SELECT * FROM $t WHERE v = 2 | INSERT INTO $t (p, c, v) VALUES (2, 1, 3)",
        "SELECT * FROM $t WHERE v = 2 | UPDATE $t SET v = 9 WHERE p = 1 AND c = 1",
        "SELECT * FROM $t WHERE v = 2 | UPDATE $t SET x = 9 WHERE p = 1 AND c = 1",
        "SELECT * FROM $t WHERE v > 2 | UPDATE $t SET w = 'new' WHERE p = 1 AND c = 1",
        "SELECT * FROM $t WHERE w = 'w2' | INSERT INTO $t (p, c, w) VALUES (2, 1, 'other')",
        "SELECT * FROM $t WHERE e CONTAINS 2 | INSERT INTO $t (p, c, v) VALUES (1, 9, 5)",
        "SELECT * FROM $t WHERE v = 2 AND w = 'a' ALLOW FILTERING"
            + " | UPDATE $t SET w = 'b' WHERE p = 1 AND c = 2"
      })
  void whenAWriteDoesNotMatterToTheReadThenTheTransactionCommits(String look, String write) {
    assertThat(aborts(look, write)).isFalse();
  }

  @Test
  void whenAnotherTransactionTakesTheValueThenOneOfTwoThatLookedForItAborts() {
    try (Transaction first = serializable();
        Transaction second = serializable()) {
      for (Transaction each : new Transaction[] {first, second}) {
        assertThat(read(each, "SELECT p FROM %s WHERE v = 77".formatted(table))).isEmpty();
      }
      first.execute("INSERT INTO %s (p, c, v) VALUES (3, 1, 77)".formatted(table));
      second.execute("INSERT INTO %s (p, c, v) VALUES (4, 1, 77)".formatted(table));
      assertThat(read(first, "SELECT p FROM %s WHERE v = 77".formatted(table)))
          .containsExactly("3");
      assertCommits(second);
      assertConflicts(first);
    }
    assertThat(read("SELECT p FROM %s WHERE v = 77".formatted(table))).containsExactly("4");
  }
}
