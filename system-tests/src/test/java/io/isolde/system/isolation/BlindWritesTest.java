// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.isolation;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.client.Transaction;
import org.junit.jupiter.api.Test;

/** Two transactions write the same row without reading it. */
class BlindWritesTest extends Scenario {

  private final String table = node.table("id int PRIMARY KEY, v int, w int");

  @Test
  void whenSerializableThenBothCommitAndTheLaterCommitStays() {
    try (Transaction first = serializable();
        Transaction second = serializable()) {
      first.execute("UPDATE %s SET v = 1 WHERE id = 1".formatted(table));
      second.execute("UPDATE %s SET v = 2 WHERE id = 1".formatted(table));
      assertCommits(second);
      assertCommits(first);
    }
    assertThat(read("SELECT v FROM %s WHERE id = 1".formatted(table))).containsExactly("1");
  }

  @Test
  void whenSnapshotThenTheSecondAborts() {
    try (Transaction first = snapshot();
        Transaction second = snapshot()) {
      first.execute("UPDATE %s SET v = 1 WHERE id = 1".formatted(table));
      second.execute("UPDATE %s SET w = 2 WHERE id = 1".formatted(table));
      assertCommits(first);
      assertThat(assertConflicts(second).details())
          .containsEntry("kind", "write_write")
          .containsEntry("by", first.id().toString());
    }
    assertThat(read("SELECT v, w FROM %s WHERE id = 1".formatted(table))).containsExactly("1 null");
  }

  @Test
  void whenSnapshotAndRowsDifferThenBothCommit() {
    try (Transaction first = snapshot();
        Transaction second = snapshot()) {
      first.execute("UPDATE %s SET v = 1 WHERE id = 1".formatted(table));
      second.execute("UPDATE %s SET v = 2 WHERE id = 2".formatted(table));
      assertCommits(first);
      assertCommits(second);
    }
    assertThat(read("SELECT v FROM %s".formatted(table))).containsExactlyInAnyOrder("1", "2");
  }

  @Test
  void whenOneBeganAfterTheOtherCommittedThenBothCommit() {
    try (Transaction first = snapshot()) {
      first.execute("UPDATE %s SET v = 1 WHERE id = 1".formatted(table));
      assertCommits(first);
    }
    try (Transaction second = snapshot()) {
      second.execute("UPDATE %s SET v = 2 WHERE id = 1".formatted(table));
      assertCommits(second);
    }
    assertThat(read("SELECT v FROM %s WHERE id = 1".formatted(table))).containsExactly("2");
  }
}
