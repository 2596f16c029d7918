// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.reads;

import static io.isolde.system.Refusals.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.servererrors.InvalidQueryException;
import io.isolde.client.ErrorCode;
import io.isolde.client.Transaction;
import io.isolde.client.TransactionOptions;
import io.isolde.system.Await;
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

  /**
   * 2i keeps one entry for a row's key, with the TTL of the newest write. Cassandra's own reads
   * lose such a row when that TTL is over, though older columns of it live on.
   */
  @Test
  void whenTheNewestWriteOfARowHasExpiredThenAnIndexOfItsKeyStillFindsTheRow() {
    String table =
        NODE.table("p int, q int, c int, d int, v int, w int, PRIMARY KEY ((p, q), c, d)");
    for (String column : List.of("q", "c", "d")) {
      execute("CREATE INDEX ON %s (%s)".formatted(table, column));
    }
    execute("INSERT INTO %s (p, q, c, d, v) VALUES (1, 2, 3, 4, 5)".formatted(table));
    execute("INSERT INTO %s (p, q, c, d, w) VALUES (1, 2, 3, 4, 6) USING TTL 1".formatted(table));
    Await.until(
        "the newer column to expire",
        () -> read(null, "SELECT v, w FROM %s".formatted(table)).equals(List.of("5 null")));
    // An index is asked only if the snapshot is of this very second: some attempts make it likely.
    for (int i = 0; i < 20; i++) {
      execute("INSERT INTO %s (p, q, c, d) VALUES (7, 7, 7, 7)".formatted(table)); // a new snapshot
      for (String condition : List.of("q = 2", "c = 3", "d = 4")) {
        String cql = "SELECT v FROM %s WHERE %s".formatted(table, condition);
        assertThat(read(null, cql)).describedAs(condition).containsExactly("5");
        try (Transaction transaction = NODE.isolde().begin(TransactionOptions.reading())) {
          assertThat(read(transaction, cql)).describedAs(condition).containsExactly("5");
        }
      }
    }
  }

  /** Cassandra's 2i of a static column loses what is behind a page that ends in a partition. */
  @Test
  void whenAPageEndsInAPartitionThenAnIndexOfAStaticColumnStillFindsTheRest() {
    String table = NODE.table("p int, c int, s int static, PRIMARY KEY (p, c)");
    execute("CREATE INDEX ON %s (s)".formatted(table));
    for (int c = 0; c < 4; c++) {
      execute("INSERT INTO %s (p, c, s) VALUES (1, %d, 3)".formatted(table, c));
    }
    List<String> all = List.of("0", "1", "2", "3");
    for (int i = 0; i < 20; i++) {
      execute("INSERT INTO %s (p, c, s) VALUES (7, 7, 7)".formatted(table)); // a new snapshot
      for (String where : List.of("s = 3", "s = 3 AND p = 1")) {
        String cql = "SELECT c FROM %s WHERE %s".formatted(table, where);
        for (int pageSize : List.of(1, 3)) {
          SimpleStatement paged = SimpleStatement.newInstance(cql).setPageSize(pageSize);
          assertThat(Results.lines(NODE.session().execute(paged))).isEqualTo(all);
        }
        assertThat(read(null, cql + " AND c > 1 ALLOW FILTERING")).containsExactly("2", "3");
        assertThat(read(null, cql + " AND c = 1 ALLOW FILTERING")).containsExactly("1");
      }
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
