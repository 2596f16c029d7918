// SPDX-License-Identifier: Apache-2.0
package io.isolde.version;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.conflict.WriteSet;
import io.isolde.testing.CassandraInProcess;
import io.isolde.testing.Seeds;
import io.isolde.testing.WriteSets;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import org.apache.cassandra.cql3.ColumnSpecification;
import org.apache.cassandra.cql3.UntypedResultSet;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The version store against a model that keeps every version: the history of writes. What a table
 * answers as of T must be what a plain table answers to which only the writes up to T were made, by
 * whatever flushes and compactions happened in between.
 */
class AsOfReadsMatchHistoryTest {
  private static final int STEPS = 120;
  private static final int CHECKS_PER_LOOK = 3;
  private static final List<String> MEMTABLES = List.of("default", "trie");

  /** What indexes answer; the model is asked without any. */
  private static final List<String> INDEXED_QUERIES =
      List.of(
          "SELECT * FROM %s WHERE v = 't3' %s",
          "SELECT * FROM %s WHERE w = 3 %s",
          "SELECT p, c FROM %s WHERE w >= 2 %s",
          "SELECT * FROM %s WHERE s = 't2' %s",
          "SELECT * FROM %s WHERE e CONTAINS 2 %s",
          "SELECT * FROM %s WHERE m CONTAINS 't1' %s",
          "SELECT * FROM %s WHERE l CONTAINS 4 %s",
          "SELECT * FROM %s WHERE f = [1] %s",
          "SELECT * FROM %s WHERE sm CONTAINS KEY 1 %s",
          "SELECT * FROM %s WHERE p = 1 AND w = 2 %s",
          "SELECT * FROM %s WHERE p = 2 AND c >= 2 AND v = 't4' %s",
          "SELECT c FROM %s WHERE w > 0 AND v = 't0' %s",
          "SELECT * FROM %s WHERE w = 1 AND s = 't1' %s",
          "SELECT * FROM %s WHERE c = 2 AND s >= 't1' %s",
          "SELECT * FROM %s WHERE s >= 't0' %s",
          "SELECT * FROM %s WHERE v = 't2' %s LIMIT 1",
          "SELECT p, w FROM %s WHERE w = 4 %s PER PARTITION LIMIT 1",
          "SELECT p, count(*) FROM %s WHERE w < 3 %s GROUP BY p",
          "SELECT * FROM %s WHERE c = 3 %s");

  private static final List<String> INDEXES =
      List.of(
          "CREATE INDEX ON test.%s (v)",
          "CREATE INDEX ON test.%s (w) USING 'sai'",
          "CREATE INDEX ON test.%s (s) USING 'sai'",
          "CREATE INDEX ON test.%s (e)",
          "CREATE INDEX ON test.%s (values(m)) USING 'sai'",
          "CREATE INDEX ON test.%s (l) USING 'sai'",
          "CREATE INDEX ON test.%s (full(f))",
          "CREATE INDEX ON test.%s (keys(sm)) USING 'sai'",
          "CREATE INDEX ON test.%s (c)");

  private static final List<String> QUERIES =
      List.of(
          "SELECT * FROM %s %s",
          "SELECT p, c, v, writetime(v), w FROM %s WHERE p = 1 %s",
          "SELECT * FROM %s WHERE p = 2 %s ORDER BY c DESC",
          "SELECT * FROM %s WHERE p = 0 AND c = 3 %s",
          "SELECT * FROM %s WHERE p = 1 AND c = 2 %s",
          "SELECT c, m, e, l, u FROM %s WHERE p = 3 AND c >= 1 AND c < 4 %s",
          "SELECT v FROM %s WHERE p = 3 AND c > 2 %s ORDER BY c DESC",
          "SELECT * FROM %s WHERE p = 1 %s LIMIT 2",
          "SELECT s, sm, v FROM %s WHERE p = 2 AND c = 1 %s",
          "SELECT DISTINCT p, s, sm FROM %s %s",
          "SELECT * FROM %s WHERE token(p) > 0 %s",
          "SELECT p, count(*) FROM %s %s GROUP BY p",
          "SELECT p, c, w FROM %s %s PER PARTITION LIMIT 1");

  /** One write of the history. */
  private record Write(long timestamp, String statement) {
    void applyTo(String table) {
      CassandraInProcess.execute(in(table));
    }

    private String in(String table) {
      return String.format(statement, table, "TIMESTAMP " + timestamp);
    }

    WriteSet writeSet(String table) {
      return WriteSets.of(in("test." + table));
    }
  }

  private static TestClock clock;
  private static int tables;
  private static int reversed;

  private final List<Write> history = new ArrayList<>();
  private String table;
  private String model;

  @BeforeAll
  static void start() {
    CassandraInProcess.start();
    CassandraInProcess.execute("CREATE TYPE IF NOT EXISTS test.point (x int, y int)");
    clock = new TestClock();
    NodeVersions.ofThisNode().useClock(clock, clock.latestTimestamp());
  }

  static LongStream seeds() {
    return Seeds.fixedAndFresh(8);
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void whenAskedAsOfATimestampThenOnlyWritesUpToItAreSeen(long seed) {
    check(new Random(seed), QUERIES, 1000);
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void whenAnIndexIsAskedAsOfATimestampThenItAnswersAsTheRowsWereThen(long seed) {
    Random random = new Random(seed);
    check(random, INDEXED_QUERIES, 6);
  }

  private void check(Random random, List<String> queries, int texts) {
    create(random);
    if (queries == INDEXED_QUERIES) {
      INDEXES.forEach(index -> CassandraInProcess.execute(String.format(index, table)));
      VersionedTable.awaitIndexes(table);
    }
    RandomWrites writes = new RandomWrites(random, texts);
    long first = clock.next();
    for (int step = 0; step < STEPS; step++) {
      switch (random.nextInt(30)) {
        case 0, 1 -> CassandraInProcess.flush(table);
        case 2 -> CassandraInProcess.compact(table);
        case 3 -> look(random, first, queries);
        case 4, 5, 6, 7, 8, 9 -> writeTwo(random, writes);
        default -> write(writes).applyTo("test." + table);
      }
    }
    look(random, first, queries);
    // Once nobody needs the first half any more, the second half is still right.
    long middle = history.get(history.size() / 2).timestamp;
    clock.releaseBelow(middle);
    CassandraInProcess.compact(table);
    look(random, middle, queries);
  }

  private Write write(RandomWrites writes) {
    Write write = new Write(clock.next(), writes.next());
    history.add(write);
    return write;
  }

  /**
   * Two commits that do not conflict may reach a replica in either order, also if they write
   * different cells of one row.
   */
  private void writeTwo(Random random, RandomWrites writes) {
    Write first = write(writes);
    Write second = write(writes);
    boolean isReversed =
        !WriteSets.meet(second.writeSet(table).overwrites(), first.writeSet(table).writes());
    (isReversed ? second : first).applyTo("test." + table);
    if (random.nextInt(4) == 0) {
      CassandraInProcess.flush(table);
    }
    (isReversed ? first : second).applyTo("test." + table);
    reversed += isReversed ? 1 : 0;
  }

  private void create(Random random) {
    int number = tables++;
    table = "versioned" + number;
    model = "model" + number;
    String memtable = MEMTABLES.get(random.nextInt(MEMTABLES.size()));
    // Nothing is kept for repair, so that compactions purge what they can, at once.
    String options = " WITH gc_grace_seconds = 0 AND memtable = '" + memtable + "'";
    CassandraInProcess.execute("CREATE TABLE test." + table + " " + RandomWrites.COLUMNS + options);
    CassandraInProcess.execute("CREATE TABLE test." + model + " " + RandomWrites.COLUMNS);
    CassandraInProcess.execute(
        "CREATE CUSTOM INDEX "
            + VersionIndex.nameFor(table)
            + " ON test."
            + table
            + " () USING '"
            + VersionIndex.class.getName()
            + "' WITH OPTIONS = {'conflicts': 'cell'}");
  }

  @AfterAll
  static void seeThatOrdersWereReversed() {
    assertThat(reversed).isGreaterThan(50);
  }

  @AfterEach
  void drop() {
    clock.releaseBelow(clock.latestTimestamp());
    CassandraInProcess.execute("DROP TABLE test." + table);
    CassandraInProcess.execute("DROP TABLE test." + model);
  }

  private void look(Random random, long oldest, List<String> queries) {
    for (int check = 0; check < CHECKS_PER_LOOK; check++) {
      long span = clock.latestTimestamp() - oldest;
      long asOf = oldest + (long) (random.nextDouble() * (span + 2)) & ~1L;
      replay(asOf);
      String expression = "expr(" + VersionIndex.nameFor(table) + ", " + asOf + ")";
      for (String query : queries) {
        String and = (query.contains("WHERE") ? "AND " : "WHERE ") + expression;
        String filtering = queries == INDEXED_QUERIES ? " ALLOW FILTERING" : "";
        assertThat(rows(String.format(query, "test." + table, and) + filtering))
            .as("%s as of %s, after %s", query, asOf, history)
            .isEqualTo(rows(String.format(query, "test." + model, "") + filtering));
        if (!query.contains("count(*)")) {
          int page = 1 + random.nextInt(4);
          String paged = String.format(query, "test." + table, "") + filtering;
          assertThat(rows(new AsOfPages(table, asOf).read(paged, page)))
              .as("%s as of %s, %s at a time, after %s", query, asOf, page, history)
              .isEqualTo(rows(String.format(query, "test." + model, "") + filtering));
        }
      }
    }
  }

  private void replay(long asOf) {
    CassandraInProcess.table(model).truncateBlockingWithoutSnapshot();
    for (Write write : history) {
      if (write.timestamp <= asOf) {
        write.applyTo("test." + model);
      }
    }
  }

  private static List<List<String>> rows(String query) {
    return rows(CassandraInProcess.execute(query));
  }

  private static List<List<String>> rows(UntypedResultSet result) {
    List<List<String>> rows = new ArrayList<>();
    for (UntypedResultSet.Row row : result) {
      List<String> values = new ArrayList<>();
      for (ColumnSpecification column : result.metadata()) {
        ByteBuffer value = row.getBlob(column.name.toString());
        values.add(value == null ? "null" : column.type.getString(value));
      }
      rows.add(values);
    }
    return rows;
  }
}
