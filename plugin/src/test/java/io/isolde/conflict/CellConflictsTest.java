// SPDX-License-Identifier: Apache-2.0
package io.isolde.conflict;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.isolde.testing.CassandraInProcess;
import io.isolde.testing.WriteSets;
import io.isolde.version.ConflictUnit;
import io.isolde.version.VersionIndex;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.apache.cassandra.cql3.UntypedResultSet;
import org.apache.cassandra.db.Clustering;
import org.apache.cassandra.db.DecoratedKey;
import org.apache.cassandra.db.marshal.Int32Type;
import org.apache.cassandra.exceptions.ConfigurationException;
import org.apache.cassandra.schema.TableMetadata;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which writes conflict where conflicts are by cell. */
class CellConflictsTest {
  private static final long SEED = Long.getLong("isolde.seed", System.nanoTime());
  private static final int PAIRS = 1_500;
  private static final String COLUMNS =
      "(p int, c int, s int static, t int static, v int, w int, m map<int, int>,"
          + " PRIMARY KEY (p, c))";

  @BeforeAll
  static void start() {
    CassandraInProcess.start();
    for (ConflictUnit unit : ConflictUnit.values()) {
      String name = "by_" + unit.inCql();
      CassandraInProcess.execute("CREATE TABLE test." + name + " " + COLUMNS);
      index(name, unit.inCql());
    }
  }

  private static void index(String table, String conflicts) {
    CassandraInProcess.executeAsAClient(
        "CREATE CUSTOM INDEX %s ON test.%s () USING '%s' WITH OPTIONS = {'conflicts': '%s'}"
            .formatted(
                VersionIndex.nameFor(table), table, VersionIndex.class.getName(), conflicts));
  }

  private static WriteSet writes(String cql, ConflictUnit unit) {
    return WriteSets.of(cql.formatted("by_" + unit.inCql(), "", 1));
  }

  /** As the oracle finds it, whichever of them commits first. */
  private static boolean conflict(String one, String other, ConflictUnit unit) {
    WriteSet first = writes(one, unit);
    WriteSet second = writes(other, unit);
    boolean conflict = WriteSets.meet(second.overwrites(), first.writes());
    assertThat(WriteSets.meet(first.overwrites(), second.writes()))
        .as("the order of %s and %s does not matter", one, other)
        .isEqualTo(conflict);
    return conflict;
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "UPDATE SET v = 1 | UPDATE SET w = 2 | false",
        "UPDATE SET v = 1 | UPDATE SET v = 1 | true",
        "UPDATE SET v = 1 | DELETE v | true",
        "UPDATE SET v = 1 | DELETE w | false",
        "UPDATE SET v = 1 | DELETE | true",
        "INSERT v | UPDATE SET w = 1 | false",
        "INSERT v | UPDATE SET v = 1 | true",
        "INSERT v | INSERT w | true",
        "INSERT v | DELETE | true",
        "DELETE | DELETE | true",
        "UPDATE SET m[1] = 1 | UPDATE SET m[2] = 2 | true",
        "UPDATE SET m[1] = 1 | UPDATE SET v = 2 | false",
        "UPDATE SET m = {} | UPDATE SET v = 2 | false"
      })
  void whenTwoWritesAreOfOneRowThenTheyConflictIfTheyShareACell(
      String one, String other, boolean areInConflict) {
    assertThat(conflict(statement(one), statement(other), ConflictUnit.CELL))
        .isEqualTo(areInConflict);
    assertThat(conflict(statement(one), statement(other), ConflictUnit.ROW)).isTrue();
  }

  private static String statement(String brief) {
    if (brief.startsWith("UPDATE")) {
      return "UPDATE test.%s %s" + brief.substring("UPDATE".length()) + " WHERE p = %d AND c = 5";
    }
    return brief.startsWith("INSERT")
        ? "INSERT INTO test.%s (c, " + brief.substring("INSERT ".length()) + ", p) VALUES (5, 1, 1)"
        : brief + " FROM test.%s %s WHERE p = %d AND c = 5";
  }

  /** Readers at SERIALIZABLE, conditions and FOR UPDATE check the row. */
  @Test
  void whenACellIsWrittenThenWhoHasReadTheRowConflicts() {
    TableMetadata table = CassandraInProcess.table("by_cell").metadata();
    DecoratedKey key = table.partitioner.decorateKey(Int32Type.instance.decompose(1));
    Clustering<?> five = Clustering.make(Int32Type.instance.decompose(5));
    long row = RowIds.row(table, key, five);
    for (String brief : List.of("UPDATE SET v = 1", "INSERT w", "DELETE", "DELETE v")) {
      assertThat(writes(statement(brief), ConflictUnit.CELL).writes()).contains(row);
    }
    assertThat(writes("DELETE FROM test.%s %s WHERE p = %d", ConflictUnit.CELL).writes())
        .contains(RowIds.sweep(table, key));
  }

  @Test
  void whenARowIsLockedThenWritesOfAnyCellOfItConflict() {
    TableMetadata table = CassandraInProcess.table("by_cell").metadata();
    DecoratedKey key = table.partitioner.decorateKey(Int32Type.instance.decompose(1));
    Clustering<?> five = Clustering.make(Int32Type.instance.decompose(5));
    ReadSet reads = new ReadSet(10);
    reads.locked(RowIds.row(table, key, five), new Granule(table, key, five));
    WriteSet ofLocker = WriteSet.of(List.of(), reads.locked());
    for (String cql :
        List.of(
            statement("UPDATE SET v = 1"),
            statement("INSERT w"),
            statement("DELETE"),
            statement("DELETE v"),
            "DELETE FROM test.%s %s WHERE p = %d AND c > 1",
            "DELETE FROM test.%s %s WHERE p = %d")) {
      WriteSet other = writes(cql, ConflictUnit.CELL);
      assertThat(WriteSets.meet(other.overwrites(), ofLocker.writes())).as(cql).isTrue();
      assertThat(WriteSets.meet(reads.ids(), other.writes())).as(cql).isTrue();
    }
  }

  /**
   * Two transactions that both commit have written without knowing of each other, so the order of
   * their timestamps must not matter; and replicas may apply them in either order.
   */
  @Test
  void whenTwoWritesDoNotConflictThenTheirOrderDoesNotMatter() {
    Random random = new Random(SEED);
    int harmless = 0;
    for (int pair = 0; pair < PAIRS; pair++) {
      String one = random(random);
      String other = random(random);
      String what = "seed %d: %s and %s".formatted(SEED, one, other);
      if (conflict(one, other, ConflictUnit.CELL)) {
        assertThat(conflict(one, other, ConflictUnit.ROW)).as(what).isTrue();
        continue;
      }
      harmless += conflict(one, other, ConflictUnit.ROW) ? 1 : 0;
      Set<String> outcomes = new HashSet<>();
      for (int order = 0; order < 4; order++) {
        outcomes.add(outcome(one, other, 4 * pair + order + 2, order));
      }
      assertThat(outcomes).as(what).hasSize(1);
    }
    assertThat(harmless).as("pairs that conflict by row only").isGreaterThan(PAIRS / 20);
  }

  /** Bit 0 of the order: who has the later timestamp; bit 1: who comes first. */
  private static String outcome(String one, String other, int partition, int order) {
    for (int c = 5; c < 7; c++) {
      CassandraInProcess.execute(
          ("INSERT INTO test.by_cell (p, c, s, t, v, w, m) VALUES (%d, %d, 1, 1, 1, 1, {1: 1})"
                  + " USING TIMESTAMP 5")
              .formatted(partition, c));
    }
    List<String> writes =
        new ArrayList<>(
            List.of(
                stamped(one, partition, 10 + 10 * (order & 1)),
                stamped(other, partition, 20 - 10 * (order & 1))));
    if (order > 1) {
      Collections.reverse(writes);
    }
    writes.forEach(CassandraInProcess::execute);
    List<String> rows = new ArrayList<>();
    UntypedResultSet found =
        CassandraInProcess.execute(
            "SELECT c, s, t, v, w, m FROM test.by_cell WHERE p = " + partition);
    found.forEach(
        row -> {
          for (String name : List.of("c", "s", "t", "v", "w")) {
            rows.add(row.has(name) ? String.valueOf(row.getInt(name)) : "null");
          }
          rows.add(
              row.has("m")
                  ? row.getMap("m", Int32Type.instance, Int32Type.instance).toString()
                  : "null");
        });
    return rows.toString();
  }

  private static String stamped(String cql, int partition, int timestamp) {
    String using = "USING TIMESTAMP " + timestamp;
    return cql.startsWith("INSERT")
        ? cql.formatted("by_cell", using, partition).replace("1)", partition + ") " + using)
        : cql.formatted("by_cell", using, partition);
  }

  private static String random(Random random) {
    int c = 5 + random.nextInt(2);
    String column = List.of("v", "w", "m").get(random.nextInt(3));
    return switch (random.nextInt(9)) {
      case 0, 1, 2 -> "UPDATE test.%s %s SET " + set(random, column) + " WHERE p = %d AND c = " + c;
      case 3 ->
          "INSERT INTO test.%s (c, "
              + (random.nextBoolean() ? "v" : "w")
              + ", p) VALUES ("
              + c
              + ", "
              + (2 + random.nextInt(8))
              + ", 1)";
      case 4 ->
          "UPDATE test.%s %s SET " + (random.nextBoolean() ? "s = 7" : "t = 8") + " WHERE p = %d";
      case 5 -> "DELETE " + column + " FROM test.%s %s WHERE p = %d AND c = " + c;
      case 6 -> "DELETE FROM test.%s %s WHERE p = %d AND c = " + c;
      case 7 -> "DELETE FROM test.%s %s WHERE p = %d AND c >= 6";
      default ->
          random.nextInt(3) == 0
              ? "DELETE FROM test.%s %s WHERE p = %d"
              : "DELETE s FROM test.%s %s WHERE p = %d";
    };
  }

  private static String set(Random random, String column) {
    int value = 2 + random.nextInt(8);
    return switch (column) {
      case "v" -> "v = " + value;
      case "w" -> "w = " + value + (random.nextBoolean() ? ", v = 9" : "");
      default -> random.nextBoolean() ? "m[2] = " + value : "m = {3: " + value + "}";
    };
  }

  @Test
  void whenTheOptionIsNotKnownThenTheIndexIsRefused() {
    CassandraInProcess.execute("CREATE TABLE test.by_page " + COLUMNS);
    assertThatThrownBy(() -> index("by_page", "page"))
        .isInstanceOf(ConfigurationException.class)
        .hasMessageContaining("'row' or 'cell', not 'page'");
  }
}
