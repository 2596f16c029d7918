// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.reads;

import static io.isolde.system.Refusals.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.datastax.oss.driver.api.core.servererrors.InvalidQueryException;
import io.isolde.client.ErrorCode;
import io.isolde.client.Transaction;
import io.isolde.client.TransactionOptions;
import io.isolde.system.Results;
import io.isolde.system.SystemNode;
import java.util.List;
import org.junit.jupiter.api.Test;

/** SELECT by an index as of a snapshot, on a real node. Random tables have much more of it. */
class IndexedReadsTest {
  private static final SystemNode NODE = SystemNode.shared();
  private static final int ROWS = 2500;

  private static void execute(String cql) {
    NODE.session().execute(cql);
  }

  private static List<String> read(Transaction transaction, String cql) {
    return Results.lines(
        transaction == null ? NODE.session().execute(cql) : transaction.execute(cql));
  }

  /** More than one chunk, and more rows in one partition than an index reads at a time. */
  @Test
  void whenManyRowsMatchThenAllAreFoundAsOfTheSnapshotAndWithOwnWrites() {
    String table = NODE.table("p int, c int, v int, w text, PRIMARY KEY (p, c)");
    execute("CREATE INDEX ON %s (v) USING 'sai'".formatted(table));
    for (int i = 0; i < ROWS; i++) {
      execute(
          "INSERT INTO %s (p, c, v, w) VALUES (%d, %d, %d, 'old')"
              .formatted(table, i % 5 == 0 ? i : 1, i, i % 2));
    }
    String matching = "SELECT count(*) FROM %s WHERE v = 1".formatted(table);
    String half = String.valueOf(ROWS / 2);
    assertThat(read(null, matching)).containsExactly(half);
    try (Transaction transaction = NODE.isolde().begin()) {
      assertThat(transaction.startTimestamp()).isPositive(); // It has started.
      execute("UPDATE %s SET v = 0 WHERE p = 1 AND c = 1".formatted(table));
      execute("DELETE FROM %s WHERE p = 1 AND c > 2000".formatted(table));
      execute("DELETE FROM %s WHERE p = 5".formatted(table));
      execute("INSERT INTO %s (p, c, v) VALUES (9000, 1, 1)".formatted(table));
      assertThat(read(transaction, matching)).containsExactly(half);
      transaction.execute("UPDATE %s SET v = 1 WHERE p = 10 AND c = 10".formatted(table));
      transaction.execute("DELETE FROM %s WHERE p = 1 AND c = 3".formatted(table));
      assertThat(read(transaction, "SELECT c, w FROM %s WHERE v = 1 AND p = 10".formatted(table)))
          .containsExactly("10 old");
      assertThat(read(transaction, matching)).containsExactly(half);
    }
  }

  @Test
  void whenAnIndexComparesTextsInItsOwnWayThenSoDoesTheSnapshot() {
    String table = NODE.table("id int PRIMARY KEY, name text, n int");
    execute(
        "CREATE INDEX ON %s (name) USING 'sai' WITH OPTIONS = {'case_sensitive': 'false'}"
            .formatted(table));
    execute("INSERT INTO %s (id, name) VALUES (1, 'Ada')".formatted(table));
    try (Transaction transaction = NODE.isolde().begin(TransactionOptions.reading())) {
      assertThat(transaction.startTimestamp()).isPositive(); // It has started.
      execute("UPDATE %s SET name = 'Eve' WHERE id = 1".formatted(table));
      execute("INSERT INTO %s (id, name) VALUES (2, 'ADA')".formatted(table));
      String named = "SELECT id FROM %s WHERE name = 'ada'".formatted(table);
      assertThat(read(transaction, named)).containsExactly("1");
      assertThat(read(null, named)).containsExactly("2");
    }
  }

  @Test
  void whenAnIndexOfStaticTextsComparesInItsOwnWayThenWholePartitionsMatch() {
    String table = NODE.table("p int, c int, name text static, PRIMARY KEY (p, c)");
    execute(
        "CREATE INDEX ON %s (name) USING 'sai' WITH OPTIONS = {'case_sensitive': 'false'}"
            .formatted(table));
    execute("INSERT INTO %s (p, c, name) VALUES (1, 1, 'Ada')".formatted(table));
    execute("INSERT INTO %s (p, c, name) VALUES (2, 1, 'Eve')".formatted(table));
    try (Transaction transaction = NODE.isolde().begin()) {
      transaction.execute("INSERT INTO %s (p, c) VALUES (1, 2)".formatted(table));
      transaction.execute("INSERT INTO %s (p, c) VALUES (2, 2)".formatted(table));
      String named = "SELECT p, c FROM %s WHERE name = 'ADA'".formatted(table);
      assertThat(read(transaction, named)).containsExactly("1 1", "1 2");
      assertThat(read(null, named)).containsExactly("1 1");
    }
  }

  @Test
  void whenTheIndexIsDroppedThenTheQueryIsRefusedAsOnAPlainTable() {
    String table = NODE.table("id int PRIMARY KEY, v int");
    execute("CREATE INDEX of_v ON %s (v)".formatted(table));
    execute("INSERT INTO %s (id, v) VALUES (1, 5)".formatted(table));
    String byValue = "SELECT id FROM %s WHERE v = 5".formatted(table);
    assertThat(read(null, byValue)).containsExactly("1");
    execute("DROP INDEX %s.of_v".formatted(table.substring(0, table.indexOf('.'))));
    assertThatThrownBy(() -> read(null, byValue)).isInstanceOf(InvalidQueryException.class);
    assertThat(read(null, byValue + " ALLOW FILTERING")).containsExactly("1");
  }

  @Test
  void whenTheIndexIsThatOfVersionsThenTheQueryIsRefused() {
    String table = NODE.table("id int PRIMARY KEY, v int");
    String index = table.substring(table.indexOf('.') + 1) + "_isolde_versions";
    assertRefused(
        ErrorCode.UNSUPPORTED_INDEX_QUERY,
        () -> execute("SELECT * FROM %s WHERE expr(%s, 5)".formatted(table, index)));
  }
}
