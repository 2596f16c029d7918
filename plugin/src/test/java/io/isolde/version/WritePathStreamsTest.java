// SPDX-License-Identifier: Apache-2.0
package io.isolde.version;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.testing.CassandraInProcess;
import java.util.Set;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class WritePathStreamsTest {
  private static final String COLUMNS = "(p int PRIMARY KEY, v int)";

  private static TestClock clock;

  private final WritePathStreams streams = new WritePathStreams(NodeVersions.ofThisNode());

  @BeforeAll
  static void start() {
    clock = TestClock.ofThisNode();
  }

  @Test
  void whenRangesHaveComeThenOnlyTablesThatAreWrittenToCeaseToVouchForThePast() {
    try (VersionedTable plain = new VersionedTable(COLUMNS);
        VersionedTable captured = new VersionedTable(COLUMNS + " WITH cdc = true");
        VersionedTable viewed = new VersionedTable(COLUMNS)) {
      String view = viewed.name + "_by_v";
      viewed.execute(
          "CREATE MATERIALIZED VIEW test.%s AS SELECT * FROM %%s WHERE p IS NOT NULL AND v IS NOT NULL PRIMARY KEY (v, p)"
              .formatted(view));
      long past = clock.next();
      long now = clock.next();
      streams.rangesHaveCome(Set.of("elsewhere"));
      assertThat(captured.versions().horizon().covers(past)).isTrue();
      streams.rangesHaveCome(Set.of(CassandraInProcess.KEYSPACE, "elsewhere"));

      assertThat(plain.versions().horizon().covers(past)).isTrue();
      assertThat(captured.versions().horizon().covers(past)).isFalse();
      assertThat(captured.versions().horizon().covers(now)).isTrue();
      assertThat(viewed.versions().horizon().covers(past)).isFalse();
      CassandraInProcess.execute("DROP MATERIALIZED VIEW test." + view);
    }
  }
}
