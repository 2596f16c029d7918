// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.snapshots;

import static io.isolde.system.Refusals.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.servererrors.SyntaxError;
import io.isolde.client.ErrorCode;
import io.isolde.system.Await;
import io.isolde.system.Results;
import io.isolde.system.SystemNode;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** CREATE SNAPSHOT, DROP SNAPSHOT and what can be read between them, on one node. */
class SnapshotStatementsTest {
  private static final SystemNode NODE = SystemNode.shared();
  private static final CqlSession SESSION = NODE.session();

  private static Row create(String name, String rest) {
    return SESSION.execute("CREATE SNAPSHOT " + name + " " + rest).one();
  }

  private static List<String> read(String cql, Object... values) {
    return Results.lines(SESSION.execute(SimpleStatement.newInstance(cql, values)));
  }

  private static String filledTable() {
    String table = NODE.plainTable("p int, c int, v int, PRIMARY KEY (p, c)");
    for (int i = 0; i < 20; i++) {
      SESSION.execute("INSERT INTO %s (p, c, v) VALUES (%d, %d, 1)".formatted(table, i % 2, i));
    }
    return table;
  }

  @Test
  void whenATableChangesAfterwardsThenItsSnapshotDoesNot() {
    String table = filledTable();
    String snapshot = SystemNode.freshName("snap");
    Row made = create(snapshot, "ON " + table);
    assertThat(made.getString("snapshot")).isEqualTo(snapshot);
    assertThat(made.getInt("tables")).isEqualTo(1);
    assertThat(made.getInt("nodes")).isEqualTo(1);
    SESSION.execute("UPDATE %s SET v = 2 WHERE p = 0 AND c = 0".formatted(table));
    SESSION.execute("DELETE FROM %s WHERE p = 1".formatted(table));
    NODE.flushAndCompact(table);
    String all = "SELECT count(*), sum(v) FROM %s".formatted(table);
    assertThat(read(all)).containsExactly("10 11");
    assertThat(read(all + " AS OF SNAPSHOT " + snapshot)).containsExactly("20 20");
    assertThat(read(all + "__" + snapshot)).containsExactly("20 20");
    SESSION.execute("DROP SNAPSHOT " + snapshot);
    assertRefused(
        ErrorCode.SNAPSHOT_NOT_FOUND, () -> SESSION.execute(all + " AS OF SNAPSHOT " + snapshot));
  }

  @Test
  void whenASelectIsPreparedOrPagedThenItReadsTheSnapshot() {
    String table = filledTable();
    String snapshot = SystemNode.freshName("snap");
    create(snapshot, "ON " + table);
    SESSION.execute("TRUNCATE " + table);
    PreparedStatement prepared =
        SESSION.prepare(
            "SELECT c FROM %s AS OF SNAPSHOT %s WHERE p = ? ORDER BY c DESC LIMIT ?"
                .formatted(table, snapshot));
    assertThat(Results.lines(SESSION.execute(prepared.bind(1, 3))))
        .containsExactly("19", "17", "15");
    SimpleStatement paged =
        SimpleStatement.newInstance("SELECT c FROM %s as of snapshot %s".formatted(table, snapshot))
            .setPageSize(3);
    assertThat(Results.lines(SESSION.execute(paged))).hasSize(20);
    assertThat(
            read(
                "SELECT JSON c FROM %s AS OF SNAPSHOT %s WHERE p = 0 AND c < 2"
                    .formatted(table, snapshot)))
        .containsExactly("{\"c\": 0}");
    assertThat(
            read(
                "SELECT p, max(c) FROM %s /* AS OF */ AS OF SNAPSHOT %s GROUP BY p"
                    .formatted(table, snapshot)))
        .containsExactlyInAnyOrder("0 18", "1 19");
    SESSION.execute("DROP SNAPSHOT " + snapshot);
  }

  @Test
  void whenALiteralLooksLikeTheClauseThenItIsALiteral() {
    String table = NODE.plainTable("p text PRIMARY KEY");
    String text = "FROM t AS OF SNAPSHOT s";
    SESSION.execute("INSERT INTO %s (p) VALUES ('%s')".formatted(table, text));
    assertThat(read("SELECT p FROM %s WHERE p = '%s'".formatted(table, text)))
        .containsExactly(text);
  }

  @Test
  void whenASnapshotIsOfAKeyspaceThenItIsOfAllTablesButSnapshots() {
    String keyspace = SystemNode.freshName("ks");
    SESSION.execute(
        "CREATE KEYSPACE %s WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"
            .formatted(keyspace));
    for (String name : List.of("a", "b")) {
      SESSION.execute("CREATE TABLE %s.%s (p int PRIMARY KEY)".formatted(keyspace, name));
      SESSION.execute("INSERT INTO %s.%s (p) VALUES (1)".formatted(keyspace, name));
    }
    String first = SystemNode.freshName("snap");
    String second = SystemNode.freshName("snap");
    assertThat(create(first, "ON KEYSPACE " + keyspace).getInt("tables")).isEqualTo(2);
    SESSION.execute("INSERT INTO %s.a (p) VALUES (2)".formatted(keyspace));
    assertThat(create(second, "ON KEYSPACE " + keyspace).getInt("tables")).isEqualTo(2);
    String count = "SELECT count(*) FROM %s.a AS OF SNAPSHOT ".formatted(keyspace);
    assertThat(read(count + first)).containsExactly("1");
    assertThat(read(count + second)).containsExactly("2");
    assertRefused(
        ErrorCode.UNSUPPORTED_TABLE,
        () -> create("again", "ON %s.a__%s".formatted(keyspace, first)));
    SESSION.execute("DROP KEYSPACE " + keyspace);
    assertThat(read("SELECT name FROM isolde.snapshots")).doesNotContain(first, second);
  }

  @Test
  void whenANameIsTakenOrUnknownThenItIsSaid() {
    String table = filledTable();
    String snapshot = SystemNode.freshName("snap");
    create(snapshot, "ON " + table);
    assertRefused(ErrorCode.SNAPSHOT_EXISTS, () -> create(snapshot, "ON " + table));
    SESSION.execute("CREATE SNAPSHOT IF NOT EXISTS %s ON %s".formatted(snapshot, table));
    SESSION.execute("DROP SNAPSHOT " + snapshot);
    assertRefused(ErrorCode.SNAPSHOT_NOT_FOUND, () -> SESSION.execute("DROP SNAPSHOT " + snapshot));
    SESSION.execute("DROP SNAPSHOT IF EXISTS " + snapshot);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "CREATE SNAPSHOT",
        "CREATE SNAPSHOT s",
        "CREATE SNAPSHOT 1s ON t",
        "CREATE SNAPSHOT s ON t WITH ttl = 'soon'",
        "CREATE SNAPSHOT s ON t WITH colour = 'red'",
        "DROP SNAPSHOT",
        "DROP SNAPSHOT s, t",
        "START TRANSACTION AS OF SNAPSHOT",
      })
  void whenAStatementIsWrongThenItIsASyntaxError(String cql) {
    assertThatThrownBy(() -> SESSION.execute(cql)).isInstanceOf(SyntaxError.class);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "INSERT INTO $t (p, c, v) VALUES (1, 1, 1)",
        "UPDATE $t SET v = 1 WHERE p = 1 AND c = 1",
        "DELETE FROM $t WHERE p = 1",
        "INSERT INTO $t (p, c, v) VALUES (1, 1, 1) IF NOT EXISTS",
        "BEGIN BATCH INSERT INTO $t (p, c, v) VALUES (1, 1, 1); APPLY BATCH",
        "TRUNCATE $t",
        "ALTER TABLE $t ADD w int",
        "ALTER TABLE $t WITH compaction = {'class': 'SizeTieredCompactionStrategy'}",
        "DROP TABLE $t",
        "ENABLE TRANSACTIONS ON $t",
      })
  void whenSomebodyWantsToChangeASnapshotThenThatIsRefused(String cql) {
    assertRefused(
        ErrorCode.SNAPSHOT_READ_ONLY, () -> SESSION.execute(cql.replace("$t", Unchanged.TABLE)));
    assertThat(read("SELECT count(*), sum(v) FROM " + Unchanged.TABLE)).containsExactly("20 20");
  }

  /** One for all who try. */
  private static final class Unchanged {
    static final String TABLE = make();

    private static String make() {
      String table = filledTable();
      String snapshot = SystemNode.freshName("snap");
      create(snapshot, "ON " + table);
      return table + "__" + snapshot;
    }
  }

  @Test
  void whenItsTimeIsOverThenASnapshotGoes() {
    String table = filledTable();
    String snapshot = SystemNode.freshName("snap");
    create(snapshot, "ON %s WITH ttl = '8s' AND gate = true".formatted(table));
    String find = "SELECT name FROM isolde.snapshots WHERE name = '%s'".formatted(snapshot);
    Await.until("it expires", () -> read(find).isEmpty());
    assertRefused(ErrorCode.SNAPSHOT_NOT_FOUND, () -> SESSION.execute("DROP SNAPSHOT " + snapshot));
  }
}
