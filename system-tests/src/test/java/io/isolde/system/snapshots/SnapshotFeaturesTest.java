// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.snapshots;

import static org.assertj.core.api.Assertions.assertThat;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.Row;
import io.isolde.cluster.NodeTool;
import io.isolde.system.Await;
import io.isolde.system.Results;
import io.isolde.system.SystemNode;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Snapshots of tables of every kind; each is destroyed afterwards, and its snapshot compared. */
class SnapshotFeaturesTest {
  private static final SystemNode NODE = SystemNode.shared();
  private static final CqlSession SESSION = NODE.session();

  /**
   * A kind of table.
   *
   * @param writes statements with $t for the table; "flush" writes it to disk
   */
  private record Kind(String name, String columns, String options, List<String> writes) {
    @Override
    public String toString() {
      return name;
    }
  }

  private static Kind kind(String name, String columns, String options, String... writes) {
    return new Kind(name, columns, options, List.of(writes));
  }

  private static Kind simple(String name, String options) {
    return kind(
        name,
        "p int, c int, v text, PRIMARY KEY (p, c)",
        options,
        "INSERT INTO $t (p, c, v) VALUES (1, 1, 'a')",
        "INSERT INTO $t (p, c, v) VALUES (1, 2, 'b')",
        "flush",
        "UPDATE $t SET v = 'c' WHERE p = 1 AND c = 2",
        "INSERT INTO $t (p, c, v) VALUES (2, 1, 'd')",
        "flush",
        "INSERT INTO $t (p, c, v) VALUES (3, 1, 'in the memtable')");
  }

  static Stream<Kind> kinds() {
    return Stream.of(
        kind(
            "static columns",
            "p int, c int, s text STATIC, v int, PRIMARY KEY (p, c)",
            "",
            "INSERT INTO $t (p, s) VALUES (1, 'alone')",
            "INSERT INTO $t (p, c, s, v) VALUES (2, 1, 'first', 1)",
            "flush",
            "INSERT INTO $t (p, s) VALUES (2, 'second')"),
        kind(
            "collections",
            "p int PRIMARY KEY, l list<int>, s set<text>, m map<text, int>, f frozen<list<int>>",
            "",
            "INSERT INTO $t (p, l, s, m, f) VALUES (1, [1, 2], {'a', 'b'}, {'x': 1}, [7])",
            "flush",
            "UPDATE $t SET l = l + [3], s = s - {'a'}, m['y'] = 2 WHERE p = 1",
            "INSERT INTO $t (p, l) VALUES (2, [1])",
            "flush",
            "UPDATE $t SET l = [9] WHERE p = 2"),
        kind(
            "user types and tuples",
            "p int PRIMARY KEY, u $udt, f frozen<$udt>, t tuple<int, text>",
            "",
            "INSERT INTO $t (p, u, f, t) VALUES (1, {a: 1, b: 'x'}, {a: 2, b: 'y'}, (3, 'z'))",
            "flush",
            "UPDATE $t SET u.b = 'changed' WHERE p = 1"),
        kind(
            "tombstones",
            "p int, c int, v int, PRIMARY KEY (p, c)",
            "",
            "INSERT INTO $t (p, c, v) VALUES (1, 1, 1)",
            "INSERT INTO $t (p, c, v) VALUES (1, 2, 1)",
            "INSERT INTO $t (p, c, v) VALUES (1, 3, 1)",
            "INSERT INTO $t (p, c, v) VALUES (2, 1, 1)",
            "INSERT INTO $t (p, c, v) VALUES (3, 1, 1)",
            "flush",
            "DELETE FROM $t WHERE p = 1 AND c = 1",
            "DELETE v FROM $t WHERE p = 1 AND c = 2",
            "DELETE FROM $t WHERE p = 2",
            "flush",
            "DELETE FROM $t WHERE p = 3 AND c >= 0 AND c < 5"),
        kind(
            "a dropped column",
            "p int PRIMARY KEY, v int, gone text",
            "",
            "INSERT INTO $t (p, v, gone) VALUES (1, 1, 'x')",
            "flush",
            "ALTER TABLE $t DROP gone",
            "INSERT INTO $t (p, v) VALUES (2, 2)"),
        simple("no compression", "WITH compression = {'enabled': 'false'}"),
        simple("Zstd", "WITH compression = {'class': 'ZstdCompressor'}"),
        simple("size-tiered", "WITH compaction = {'class': 'SizeTieredCompactionStrategy'}"),
        simple("levelled", "WITH compaction = {'class': 'LeveledCompactionStrategy'}"),
        simple("time windows", "WITH compaction = {'class': 'TimeWindowCompactionStrategy'}"),
        simple("unified", "WITH compaction = {'class': 'UnifiedCompactionStrategy'}"));
  }

  private static String make(Kind kind, boolean isTransactional) {
    String type = SystemNode.KEYSPACE + "." + SystemNode.freshName("u");
    if (kind.columns.contains("$udt")) {
      SESSION.execute("CREATE TYPE %s (a int, b text)".formatted(type));
    }
    String columns = kind.columns.replace("$udt", type);
    String table =
        isTransactional
            ? NODE.table(columns, kind.options)
            : NODE.plainTable(columns, kind.options);
    for (String write : kind.writes) {
      if (write.equals("flush")) {
        NODE.flush(table);
      } else {
        SESSION.execute(write.replace("$t", table));
      }
    }
    return table;
  }

  private static List<String> rows(String table) {
    return Results.lines(SESSION.execute("SELECT * FROM " + table));
  }

  private static String snapshotOf(String table) {
    String name = SystemNode.freshName("snap");
    SESSION.execute("CREATE SNAPSHOT %s ON %s".formatted(name, table));
    return table + "__" + name;
  }

  @ParameterizedTest
  @MethodSource("kinds")
  void whenATableOfThisKindIsGoneThenItsSnapshotHasWhatItHad(Kind kind) {
    String table = make(kind, false);
    List<String> before = rows(table);
    assertThat(before).isNotEmpty();
    String snapshot = snapshotOf(table);
    NODE.flushAndCompact(table);
    SESSION.execute("DROP TABLE " + table);
    assertThat(rows(snapshot)).isEqualTo(before);
  }

  @ParameterizedTest
  @MethodSource("kinds")
  void whenATransactionalTableOfThisKindIsGoneThenItsSnapshotHasWhatItHad(Kind kind) {
    String table = make(kind, true);
    List<String> before = rows(table);
    String snapshot = snapshotOf(table);
    SESSION.execute("TRUNCATE " + table);
    assertThat(rows(snapshot)).isEqualTo(before);
    assertThat(rows(table)).isEmpty();
  }

  @Test
  void whenATableHasCountersThenTheSnapshotKeepsTheirValues() {
    String table = NODE.plainTable("p int PRIMARY KEY, n counter");
    String add = "UPDATE %s SET n = n + 1 WHERE p = 1".formatted(table);
    SESSION.execute(add);
    NODE.flush(table);
    SESSION.execute(add);
    String snapshot = snapshotOf(table);
    SESSION.execute(add);
    assertThat(rows(snapshot)).containsExactly("1 2");
    assertThat(rows(table)).containsExactly("1 3");
  }

  @ParameterizedTest
  @ValueSource(strings = {"CREATE INDEX", "CREATE CUSTOM INDEX"})
  void whenATableHasAnIndexThenTheSnapshotHasOne(String create) {
    String table = NODE.plainTable("p int PRIMARY KEY, v int, w text");
    String using = create.contains("CUSTOM") ? " USING 'StorageAttachedIndex'" : "";
    SESSION.execute(
        "%s %s ON %s (v)%s".formatted(create, SystemNode.freshName("ix"), table, using));
    for (int p = 0; p < 10; p++) {
      SESSION.execute("INSERT INTO %s (p, v, w) VALUES (%d, %d, 'x')".formatted(table, p, p % 3));
      if (p == 5) {
        NODE.flush(table);
      }
    }
    String snapshot = snapshotOf(table);
    SESSION.execute("UPDATE %s SET v = 1 WHERE p = 0".formatted(table));
    assertThat(Results.lines(SESSION.execute("SELECT p FROM %s WHERE v = 1".formatted(snapshot))))
        .containsExactlyInAnyOrder("1", "4", "7");
    assertThat(Results.lines(SESSION.execute("SELECT p FROM %s WHERE v = 1".formatted(table))))
        .containsExactlyInAnyOrder("0", "1", "4", "7");
  }

  @Test
  void whenRowsExpireThenTheSnapshotStillHasThem() {
    String columns = "p int PRIMARY KEY, v int";
    String options = "WITH gc_grace_seconds = 0";
    List<String> tables = List.of(NODE.plainTable(columns, options), NODE.table(columns, options));
    String name = SystemNode.freshName("snap");
    for (String table : tables) {
      SESSION.execute("INSERT INTO %s (p, v) VALUES (1, 1) USING TTL 25".formatted(table));
      SESSION.execute("INSERT INTO %s (p, v) VALUES (2, 2)".formatted(table));
    }
    SESSION.execute("CREATE SNAPSHOT %s ON %s".formatted(name, String.join(", ", tables)));
    for (String table : tables) {
      Await.until("the row expires", () -> rows(table).size() == 1);
      NODE.flushAndCompact(table);
      NODE.flushAndCompact(table + "__" + name);
      assertThat(rows(table + "__" + name)).containsExactly("1 1", "2 2");
    }
  }

  @Test
  void whenASnapshotIsOfManySSTablesThenTheyAreMergedOnce() {
    String table =
        NODE.plainTable(
            "p int PRIMARY KEY, v int",
            "WITH compaction = {'class': 'SizeTieredCompactionStrategy', 'enabled': 'false'}");
    for (int round = 0; round < 10; round++) {
      for (int p = 0; p < 3; p++) {
        SESSION.execute(
            "INSERT INTO %s (p, v) VALUES (%d, %d) USING TTL 1000".formatted(table, p, round));
      }
      NODE.flush(table);
    }
    List<String> before = rows(table);
    String snapshot = snapshotOf(table);
    String name = snapshot.substring(snapshot.indexOf("__") + 2);
    Await.until("they are merged", () -> status(name).getLong("sstables") == 1);
    assertThat(rows(snapshot)).isEqualTo(before);
    assertThat(status(name).getLong("own_bytes")).isPositive();
  }

  @Test
  void whenASnapshotIsNewThenItSharesItsBytesWithTheTable() {
    String table = make(simple("shared", "WITH compression = {'enabled': 'false'}"), false);
    String kilobytes = "x".repeat(20_000);
    for (int key = 0; key < 10; key++) {
      SESSION.execute("INSERT INTO %s (p, c, v) VALUES (?, 0, ?)".formatted(table), key, kilobytes);
    }
    NODE.flush(table);
    String snapshot = snapshotOf(table);
    String name = snapshot.substring(snapshot.indexOf("__") + 2);
    Row shared = status(name);
    assertThat(shared.getString("state")).isEqualTo("READY");
    assertThat(shared.getLong("shared_bytes")).isGreaterThan(shared.getLong("own_bytes"));
    assertThat(shared.getMap("replicas", String.class, String.class).values())
        .containsExactly("READY");
    try (NodeTool tool = NODE.tool()) {
      tool.compact(SystemNode.KEYSPACE, table.substring(table.indexOf('.') + 1));
    }
    assertThat(rows(snapshot)).isNotEmpty();
  }

  private static Row status(String name) {
    return SESSION
        .execute("SELECT * FROM isolde.snapshots WHERE name = '%s'".formatted(name))
        .one();
  }
}
