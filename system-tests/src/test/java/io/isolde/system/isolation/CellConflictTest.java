// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.isolation;

import static io.isolde.system.Refusals.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;

import com.datastax.oss.driver.api.core.DriverException;
import io.isolde.client.ErrorCode;
import io.isolde.client.IsoldeException;
import io.isolde.client.Transaction;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Transactions at SNAPSHOT on a table whose conflicts are by cell. */
class CellConflictTest extends Scenario {
  private static final int CLIENTS = 6;
  private static final int COLUMNS = 3;
  private static final int TRANSACTIONS = 40;

  private String table;

  @BeforeEach
  void fill() {
    table =
        node.plainTable("p int, c int, s int static, v0 int, v1 int, v2 int, PRIMARY KEY (p, c)");
    execute("ENABLE TRANSACTIONS ON " + table + " WITH conflicts = 'cell'");
    execute("INSERT INTO %s (p, c, s, v0, v1, v2) VALUES (1, 1, 0, 0, 0, 0)".formatted(table));
  }

  private String set(String assignment) {
    return "UPDATE %s SET %s WHERE p = 1 AND c = 1".formatted(table, assignment);
  }

  private List<String> row() {
    return read("SELECT s, v0, v1, v2 FROM %s WHERE p = 1 AND c = 1".formatted(table));
  }

  @Test
  void whenTwoWriteToDifferentColumnsOfARowThenBothCommit() {
    try (Transaction first = snapshot();
        Transaction second = snapshot()) {
      first.execute(set("v0 = 7"));
      second.execute(set("v1 = 8"));
      execute("UPDATE %s SET s = 9 WHERE p = 1".formatted(table));
      assertCommits(first);
      assertCommits(second);
    }
    assertThat(row()).containsExactly("9 7 8 0");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "UPDATE $t SET v0 = 5, v2 = 5 WHERE p = 1 AND c = 1",
        "DELETE v0 FROM $t WHERE p = 1 AND c = 1",
        "DELETE FROM $t WHERE p = 1 AND c = 1",
        "DELETE FROM $t WHERE p = 1 AND c > 0",
        "DELETE FROM $t WHERE p = 1",
        "UPDATE $t SET v2 = 5 WHERE p = 1 AND c = 1 IF v1 = 0",
        "UPDATE $t SET v2 += 5 WHERE p = 1 AND c = 1",
        "SELECT * FROM $t WHERE p = 1 AND c = 1 FOR UPDATE"
      })
  void whenTheOtherNeedsTheColumnOrTheRowThenOneOfThemAborts(String other) {
    try (Transaction first = snapshot();
        Transaction second = snapshot()) {
      first.execute(set("v0 = 7"));
      second.execute(other.replace("$t", table));
      second.execute(
          "INSERT INTO %s (p, c, v0) VALUES (2, 2, 2)".formatted(table)); // A lock alone commits.
      assertCommits(first);
      assertThat(assertConflicts(second).details()).containsEntry("table", table);
    }
    assertThat(row()).containsExactly("0 7 0 0");
    execute("DELETE FROM %s WHERE p = 2".formatted(table));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "DELETE FROM $t WHERE p = 1 AND c = 1",
        "DELETE FROM $t WHERE p = 1",
        "SELECT * FROM $t WHERE p = 1 AND c = 1 FOR UPDATE"
      })
  void whenTheWholeRowIsDeletedOrLockedFirstThenTheWriterOfAColumnAborts(String first) {
    try (Transaction writing = snapshot();
        Transaction other = snapshot()) {
      writing.execute(set("v0 = 7"));
      other.execute(first.replace("$t", table));
      other.execute("INSERT INTO %s (p, c, v0) VALUES (2, 2, 2)".formatted(table));
      assertCommits(other);
      assertConflicts(writing);
    }
  }

  @Test
  void whenOneReadsTheRowAtSerializableThenItAbortsAsEver() {
    try (Transaction reading = serializable()) {
      assertThat(read(reading, "SELECT v1 FROM %s WHERE p = 1 AND c = 1".formatted(table)))
          .containsExactly("0");
      reading.execute(set("v1 = 1"));
      execute(set("v0 = 7"));
      assertConflicts(reading);
    }
  }

  @Test
  void whenAColumnHasAUniqueIndexThenItsWritersConflictWithAllOthersOfTheRow() {
    execute("CREATE UNIQUE INDEX ON " + table + " (v2)");
    try (Transaction first = snapshot();
        Transaction second = snapshot()) {
      first.execute(set("v0 = 7"));
      second.execute(set("v2 = 8"));
      assertCommits(first);
      assertConflicts(second);
    }
  }

  /** Clients that share a column conflict; no addition of any client is lost. */
  @Test
  void whenManyAddToColumnsOfOneRowThenNothingIsLost() throws Exception {
    ExecutorService clients = Executors.newFixedThreadPool(CLIENTS);
    try {
      List<Future<Integer>> conflicts = new ArrayList<>();
      for (int client = 0; client < CLIENTS; client++) {
        String column = "v" + client % COLUMNS;
        conflicts.add(clients.submit(() -> addOften(column)));
      }
      int all = 0;
      for (Future<Integer> each : conflicts) {
        all += each.get();
      }
      int sum = CLIENTS / COLUMNS * TRANSACTIONS;
      assertThat(row()).containsExactly("0 %1$d %1$d %1$d".formatted(sum));
      assertThat(all).as("conflicts of those who share a column").isPositive();
    } finally {
      clients.shutdownNow();
    }
  }

  private int addOften(String column) {
    int conflicts = 0;
    for (int done = 0; done < TRANSACTIONS; ) {
      try (Transaction transaction = snapshot()) {
        int v =
            Integer.parseInt(
                read(
                        transaction,
                        "SELECT %s FROM %s WHERE p = 1 AND c = 1".formatted(column, table))
                    .get(0));
        transaction.execute(set("%s = %d".formatted(column, v + 1)));
        transaction.commit();
        done++;
      } catch (IsoldeException e) {
        assertThat(e.code()).isEqualTo(ErrorCode.CONFLICT);
        conflicts++;
      }
    }
    return conflicts;
  }

  @Test
  void whenTheUnitIsToChangeThenTheTableMustBePlainFirst() {
    execute("ENABLE TRANSACTIONS ON " + table);
    execute("ENABLE TRANSACTIONS ON " + table + " WITH conflicts = 'cell'");
    assertRefused(
        ErrorCode.INVALID_REQUEST,
        () -> execute("ENABLE TRANSACTIONS ON " + table + " WITH conflicts = 'row'"));
    try (Transaction old = snapshot()) {
      old.execute(set("v0 = 7"));
      execute("DISABLE TRANSACTIONS ON " + table);
      execute("ENABLE TRANSACTIONS ON " + table + " WITH conflicts = 'row'");
      assertRefused(ErrorCode.SNAPSHOT_TOO_OLD, old::commit);
    }
    try (Transaction first = snapshot()) {
      first.execute(set("v0 = 7"));
      execute(set("v1 = 8"));
      assertConflicts(first);
    }
  }

  /** Nobody may be left with another unit than the one that was answered with success. */
  @Test
  void whenTwoEnableItWithDifferentUnitsThenOneIsRefused() throws Exception {
    ExecutorService clients = Executors.newFixedThreadPool(2);
    try {
      for (int round = 0; round < 5; round++) {
        String contested = node.plainTable("p int PRIMARY KEY, v int");
        List<Future<Boolean>> enabled = new ArrayList<>();
        for (String unit : List.of("row", "cell")) {
          enabled.add(clients.submit(() -> isEnabled(contested, unit)));
        }
        boolean isByRow = enabled.get(0).get();
        assertThat(enabled.get(1).get()).isEqualTo(!isByRow);
        assertThat(read("DESCRIBE TABLE " + contested).toString().contains("'cell'"))
            .isEqualTo(!isByRow);
      }
    } finally {
      clients.shutdownNow();
    }
  }

  private boolean isEnabled(String contested, String unit) {
    try {
      execute("ENABLE TRANSACTIONS ON %s WITH conflicts = '%s'".formatted(contested, unit));
      return true;
    } catch (DriverException e) {
      assertThat(e).hasMessageMatching("(?s).*(Conflicts of|Another change of the table).*");
      return false;
    }
  }

  /** So that backups of a schema bring it back. */
  @Test
  void whenTheTableIsDescribedThenItSaysSo() {
    String described = read("DESCRIBE TABLE " + table).toString();
    assertThat(described).contains("'conflicts': 'cell'");
    String other = table + "_again";
    execute("CREATE TABLE %s (p int PRIMARY KEY, a int, b int)".formatted(other));
    String bare = other.substring(other.indexOf('.') + 1);
    execute(
        "CREATE CUSTOM INDEX %s_isolde_versions ON %s () USING 'io.isolde.version.VersionIndex'"
                .formatted(bare, other)
            + " WITH OPTIONS = {'conflicts': 'cell'}");
    execute("INSERT INTO %s (p, a, b) VALUES (1, 1, 1)".formatted(other));
    try (Transaction first = snapshot()) {
      first.execute("UPDATE %s SET a = 2 WHERE p = 1".formatted(other));
      execute("UPDATE %s SET b = 2 WHERE p = 1".formatted(other));
      assertCommits(first);
    }
    assertThat(read("SELECT a, b FROM " + other)).containsExactly("2 2");
  }
}
