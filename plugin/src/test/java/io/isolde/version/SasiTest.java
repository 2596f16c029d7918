// SPDX-License-Identifier: Apache-2.0
package io.isolde.version;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.cql3.UntypedResultSet;
import org.junit.jupiter.api.Test;

/** LIKE by a SASI index, as of a timestamp. */
class SasiTest {
  private final TestClock clock = TestClock.ofThisNode();

  @Test
  void whenTextsHaveChangedThenThoseOfTheTimestampAreFound() {
    DatabaseDescriptor.setSASIIndexesEnabled(true);
    try (VersionedTable table = new VersionedTable("(id int PRIMARY KEY, name text)")) {
      table.index(
          "CREATE CUSTOM INDEX ON %s (name) USING 'org.apache.cassandra.index.sasi.SASIIndex'"
              + " WITH OPTIONS = {'mode': 'CONTAINS'}");
      write(table, 1, "anna");
      write(table, 2, "bob");
      table.flush();
      long then = write(table, 3, "johanna");
      write(table, 1, "berta");
      write(table, 2, "hanna");
      String like = "SELECT id FROM %s WHERE name LIKE '%%ann%%' %s ALLOW FILTERING";
      assertThat(ids(table.asOf(then, like))).containsExactlyInAnyOrder(1, 3);
      assertThat(ids(table.asOf(clock.latestTimestamp(), like))).containsExactlyInAnyOrder(2, 3);
      String prefix = "SELECT id FROM %s WHERE name LIKE 'an%%' %s ALLOW FILTERING";
      assertThat(ids(table.asOf(then, prefix))).containsExactly(1);
      table.flush();
      table.compact();
      assertThat(ids(table.asOf(then, like))).containsExactlyInAnyOrder(1, 3);
    }
  }

  private long write(VersionedTable table, int id, String name) {
    long timestamp = clock.next();
    table.execute(
        "INSERT INTO %s (id, name) VALUES ("
            + id
            + ", '"
            + name
            + "') USING TIMESTAMP "
            + timestamp);
    return timestamp;
  }

  private static List<Integer> ids(UntypedResultSet rows) {
    List<Integer> ids = new ArrayList<>();
    rows.forEach(row -> ids.add(row.getInt("id")));
    return ids;
  }
}
