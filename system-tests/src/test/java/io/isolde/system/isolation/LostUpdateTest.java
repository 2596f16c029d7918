// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.isolation;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.client.IsolationLevel;
import io.isolde.client.IsoldeException;
import io.isolde.client.Transaction;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Two transactions read a row and write what they made of it: the first update must not vanish. */
class LostUpdateTest extends Scenario {

  private final String table = node.table("id int PRIMARY KEY, v int");

  @ParameterizedTest
  @EnumSource
  void whenBothUpdateTheSameRowThenTheSecondAborts(IsolationLevel level) {
    execute("INSERT INTO %s (id, v) VALUES (1, 100)".formatted(table));
    try (Transaction first = begin(level);
        Transaction second = begin(level)) {
      add(first, 30);
      add(second, 20);
      assertCommits(first);
      IsoldeException conflict = assertConflicts(second);
      assertThat(conflict.details())
          .containsEntry("kind", level == IsolationLevel.SNAPSHOT ? "write_write" : "read_write")
          .containsEntry("key", "1");
    }
    assertThat(value()).containsExactly("130");
  }

  @ParameterizedTest
  @EnumSource
  void whenAPlainUpdateComesInBetweenThenTheTransactionAborts(IsolationLevel level) {
    execute("INSERT INTO %s (id, v) VALUES (1, 100)".formatted(table));
    try (Transaction transaction = begin(level)) {
      add(transaction, 30);
      execute("UPDATE %s SET v = 7 WHERE id = 1".formatted(table));
      assertConflicts(transaction);
    }
    assertThat(value()).containsExactly("7");
  }

  @ParameterizedTest
  @EnumSource
  void whenRunAgainAfterTheConflictThenItCommits(IsolationLevel level) {
    execute("INSERT INTO %s (id, v) VALUES (1, 100)".formatted(table));
    try (Transaction first = begin(level);
        Transaction second = begin(level)) {
      add(first, 30);
      add(second, 20);
      assertCommits(first);
      assertConflicts(second);
    }
    try (Transaction again = begin(level)) {
      add(again, 20);
      assertCommits(again);
    }
    assertThat(value()).containsExactly("150");
  }

  @Test
  void whenTheFirstRollsBackThenTheSecondCommits() {
    execute("INSERT INTO %s (id, v) VALUES (1, 100)".formatted(table));
    try (Transaction first = serializable();
        Transaction second = serializable()) {
      add(first, 30);
      add(second, 20);
      first.rollback();
      assertCommits(second);
    }
    assertThat(value()).containsExactly("120");
  }

  private void add(Transaction transaction, int amount) {
    int v = transaction.execute("SELECT v FROM %s WHERE id = 1".formatted(table)).one().getInt("v");
    transaction.execute("UPDATE %s SET v = ? WHERE id = 1".formatted(table), v + amount);
  }

  private List<String> value() {
    return read("SELECT v FROM %s WHERE id = 1".formatted(table));
  }
}
