// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.isolation;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.client.IsoldeException;
import io.isolde.client.Transaction;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Two transactions read the same two rows and each writes the other one: history 2 of A Critique of
 * Snapshot Isolation. Of two doctors one must stay on call.
 */
class WriteSkewTest extends Scenario {

  private String table;

  @BeforeEach
  void putBothOnCall() {
    table = node.table("doctor text PRIMARY KEY, on_call boolean");
    execute("INSERT INTO %s (doctor, on_call) VALUES ('alice', true)".formatted(table));
    execute("INSERT INTO %s (doctor, on_call) VALUES ('bob', true)".formatted(table));
  }

  @Test
  void whenSnapshotThenBothCommitAndNobodyIsOnCall() {
    try (Transaction first = snapshot();
        Transaction second = snapshot()) {
      leave(first, "alice", "bob");
      leave(second, "bob", "alice");
      assertCommits(first);
      assertCommits(second);
    }
    assertThat(onCall()).isEmpty();
  }

  @Test
  void whenSerializableThenTheSecondAborts() {
    try (Transaction first = serializable();
        Transaction second = serializable()) {
      leave(first, "alice", "bob");
      leave(second, "bob", "alice");
      assertCommits(first);
      IsoldeException conflict = assertConflicts(second);
      assertThat(conflict.details())
          .containsEntry("table", table)
          .containsEntry("key", "alice")
          .containsEntry("kind", "read_write")
          .containsEntry("transaction", second.id().toString())
          .containsEntry("by", first.id().toString());
    }
    assertThat(onCall()).containsExactly("bob");
  }

  @Test
  void whenSerializableAndTheReadIsAFullScanThenTheSecondAborts() {
    try (Transaction first = serializable();
        Transaction second = serializable()) {
      assertThat(read(first, "SELECT doctor FROM " + table)).hasSize(2);
      assertThat(read(second, "SELECT doctor FROM " + table)).hasSize(2);
      goHome(first, "alice");
      goHome(second, "bob");
      assertCommits(first);
      assertConflicts(second);
    }
    assertThat(onCall()).containsExactly("bob");
  }

  private void leave(Transaction transaction, String doctor, String other) {
    assertThat(
            read(transaction, "SELECT on_call FROM %s WHERE doctor = '%s'".formatted(table, other)))
        .containsExactly("true");
    goHome(transaction, doctor);
  }

  private void goHome(Transaction transaction, String doctor) {
    transaction.execute(
        "UPDATE %s SET on_call = false WHERE doctor = '%s'".formatted(table, doctor));
  }

  private List<String> onCall() {
    return read("SELECT doctor FROM %s WHERE on_call = true ALLOW FILTERING".formatted(table));
  }
}
