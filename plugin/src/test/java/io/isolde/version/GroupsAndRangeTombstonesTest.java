// SPDX-License-Identifier: Apache-2.0
package io.isolde.version;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.apache.cassandra.cql3.UntypedResultSet;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * GROUP BY with a limit stops at the first row behind its last group. A range tombstone that begins
 * between the two has no end then.
 */
class GroupsAndRangeTombstonesTest {
  private static final String COLUMNS = "(p int, c int, d int, v int, PRIMARY KEY (p, c, d))";
  private static TestClock clock;

  @BeforeAll
  static void start() {
    clock = TestClock.ofThisNode();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "WITH CLUSTERING ORDER BY (c DESC, d DESC)"})
  void whenATombstoneBeginsBehindTheLastGroupThenTheGroupsAreRight(String order) {
    try (VersionedTable table = new VersionedTable(COLUMNS + order)) {
      long asOf = rowsInDeletedRanges(table, List.of("c = %d", "c = %d AND d < 10"));
      for (String limit : List.of("LIMIT 1", "LIMIT 2", "PER PARTITION LIMIT 1")) {
        assertThat(counts(table, asOf, "WHERE p = 1 %2$s GROUP BY p, c " + limit))
            .containsOnly(1L)
            .hasSize(limit.contains("2") ? 2 : 1);
        assertThat(counts(table, asOf, "%2$s GROUP BY p, c " + limit))
            .containsOnly(1L)
            .hasSize(limit.contains("1") && !limit.contains("PER") ? 1 : 2);
      }
    }
  }

  @Test
  void whenOneRangeEndsWhereTheNextBeginsThenTheGroupsAreRight() {
    try (VersionedTable table = new VersionedTable(COLUMNS)) {
      long asOf = rowsInDeletedRanges(table, List.of("c < %d", "c >= %d"));
      assertThat(counts(table, asOf, "WHERE p = 1 %2$s GROUP BY p, c LIMIT 2"))
          .containsExactly(1L, 1L);
      assertThat(counts(table, asOf, "WHERE p = 1 %2$s GROUP BY p, c")).containsExactly(1L, 1L, 1L);
    }
  }

  @Test
  void whenRowsAreAlsoSelectedByValueThenTheGroupsAreRight() {
    try (VersionedTable table = new VersionedTable(COLUMNS)) {
      long asOf = rowsInDeletedRanges(table, List.of("c = %d"));
      String select = "WHERE p = 1 AND v = 3 %2$s GROUP BY p, c LIMIT 1 ALLOW FILTERING";
      assertThat(counts(table, asOf, select)).containsExactly(1L);
    }
  }

  /** Two partitions of three groups of one row, each newer than what deleted its range. */
  private static long rowsInDeletedRanges(VersionedTable table, List<String> ranges) {
    for (int p = 1; p <= 2; p++) {
      for (int c = 1; c <= 3; c++) {
        for (String range : ranges) {
          write(table, "DELETE FROM %%s USING TIMESTAMP %d WHERE p = %d AND " + range, p, c);
        }
      }
      for (int c = 1; c <= 3; c++) {
        String insert = "INSERT INTO %%s (p, c, d, v) VALUES (%2$d, %3$d, 5, 3)";
        write(table, insert + " USING TIMESTAMP %1$d", p, c);
      }
    }
    return clock.latestTimestamp();
  }

  private static void write(VersionedTable table, String statement, int p, int c) {
    table.execute(String.format(statement, clock.next(), p, c));
  }

  private static List<Long> counts(VersionedTable table, long asOf, String rest) {
    UntypedResultSet groups = table.asOf(asOf, "SELECT p, c, count(v) AS n FROM %1$s " + rest);
    Stream<UntypedResultSet.Row> rows = StreamSupport.stream(groups.spliterator(), false);
    return rows.map(row -> row.getLong("n")).toList();
  }
}
