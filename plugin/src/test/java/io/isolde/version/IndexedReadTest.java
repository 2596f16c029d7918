// SPDX-License-Identifier: Apache-2.0
package io.isolde.version;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.apache.cassandra.cql3.UntypedResultSet;
import org.junit.jupiter.api.Test;

/** What random tables do not come by: see {@link AsOfReadsMatchHistoryTest} for the rest. */
class IndexedReadTest {
  private final TestClock clock = TestClock.ofThisNode();

  private long write(VersionedTable table, String statement) {
    long timestamp = clock.next();
    table.execute(statement.formatted("%s", "TIMESTAMP " + timestamp));
    return timestamp;
  }

  private static List<String> values(UntypedResultSet rows, String column) {
    List<String> values = new ArrayList<>();
    rows.forEach(row -> values.add(String.valueOf(row.getInt(column))));
    return values;
  }

  @Test
  void whenAPartOfTheKeyIsIndexedThenPartitionsWithStaticsOnlyAreFound() {
    try (VersionedTable table =
        new VersionedTable("(a int, b int, c int, s int static, PRIMARY KEY ((a, b), c))")) {
      table.index("CREATE INDEX ON %s (a)");
      write(table, "INSERT INTO %s (a, b, s) VALUES (1, 1, 5) USING %s");
      long then = write(table, "INSERT INTO %s (a, b, c) VALUES (1, 2, 3) USING %s");
      write(table, "UPDATE %s USING %s SET s = 6 WHERE a = 1 AND b = 3");
      write(table, "DELETE FROM %s USING %s WHERE a = 1 AND b = 1");
      String query = "SELECT b FROM %s WHERE a = 1 %s ALLOW FILTERING";
      assertThat(values(table.asOf(then, query), "b")).containsExactlyInAnyOrder("1", "2");
      assertThat(values(table.asOf(clock.latestTimestamp(), query), "b"))
          .containsExactlyInAnyOrder("2", "3");
    }
  }

  /** A replica that has nothing to look at must not say that there was nothing. */
  @Test
  void whenNothingIsFoundThenTheReplicaMustStillVouchForTheTimestamp() {
    try (VersionedTable table = new VersionedTable("(id int PRIMARY KEY, v int)")) {
      table.index("CREATE INDEX ON %s (v) USING 'sai'");
      long then = write(table, "INSERT INTO %s (id, v) VALUES (1, 1) USING %s");
      String query = "SELECT id FROM %s WHERE v = 9 %s ALLOW FILTERING";
      assertThat(table.asOf(then, query)).isEmpty();
      table.versions().horizon().raise(then + 1);
      assertThatThrownBy(() -> table.asOf(then, query)).isInstanceOf(SnapshotTooOldException.class);
    }
  }

  /** What had a TTL at the snapshot and has expired since is in no index any more. */
  @Test
  void whenAValueHasExpiredSinceThenItIsFoundAsOfBefore() throws InterruptedException {
    try (VersionedTable table = new VersionedTable("(id int PRIMARY KEY, v int)")) {
      table.index("CREATE INDEX ON %s (v) USING 'sai'");
      long nowInSeconds = System.currentTimeMillis() / 1000;
      long then = clock.next();
      table.execute("INSERT INTO %s (id, v) VALUES (1, 1) USING TTL 1 AND TIMESTAMP " + then);
      Thread.sleep(2_100);
      String query = "SELECT id FROM %s WHERE v = 1 %s ALLOW FILTERING";
      assertThat(values(table.asOfAt(nowInSeconds, then, query), "id")).containsExactly("1");
      assertThat(table.asOf(then, query)).isEmpty();
    }
  }
}
