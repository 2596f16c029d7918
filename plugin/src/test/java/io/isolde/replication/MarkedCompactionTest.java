// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.isolde.testing.CassandraInProcess;
import org.apache.cassandra.db.ColumnFamilyStore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** SSTables that stay marked would be compacted by nobody until the node is started again. */
class MarkedCompactionTest {
  private static final int ENOUGH_TO_COMPACT = 4;

  private ColumnFamilyStore table;

  @BeforeEach
  void writeSsTables() {
    CassandraInProcess.start();
    CassandraInProcess.execute("CREATE TABLE test.marked (p int PRIMARY KEY)");
    table = CassandraInProcess.table("marked");
    table.disableAutoCompaction();
    for (int i = 0; i < ENOUGH_TO_COMPACT; i++) {
      CassandraInProcess.execute("INSERT INTO test.marked (p) VALUES (%d)".formatted(i));
      CassandraInProcess.flush("marked");
    }
  }

  @AfterEach
  void drop() {
    CassandraInProcess.execute("DROP TABLE test.marked");
  }

  @Test
  void whenWhatComesBeforeItFailsThenItsSsTablesCanBeCompactedLater() {
    MarkedCompaction compaction = MarkedCompaction.next(table);
    assertThat(table.getTracker().getCompacting()).hasSize(ENOUGH_TO_COMPACT);
    assertThatThrownBy(() -> compaction.runAfter(MarkedCompactionTest::fail))
        .hasMessage("No hand-over today.");
    assertThat(table.getTracker().getCompacting()).isEmpty();

    MarkedCompaction.next(table).runAfter(() -> {});
    assertThat(table.getLiveSSTables()).hasSize(1);
    assertThat(table.getTracker().getCompacting()).isEmpty();
  }

  private static void fail() {
    throw new IllegalStateException("No hand-over today.");
  }
}
