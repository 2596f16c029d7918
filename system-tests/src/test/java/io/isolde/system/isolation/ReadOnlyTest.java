// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.isolation;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.client.ErrorCode;
import io.isolde.client.Transaction;
import io.isolde.system.Refusals;
import org.junit.jupiter.api.Test;

/** Transactions that write nothing. */
class ReadOnlyTest extends Scenario {

  private final String table = node.table("id int PRIMARY KEY, v int");

  @Test
  void whenWhatTheyReadChangesThenTheyCommitNevertheless() {
    execute("INSERT INTO %s (id, v) VALUES (1, 1)".formatted(table));
    try (Transaction declared = reader();
        Transaction undeclared = serializable()) {
      for (int round = 2; round < 5; round++) {
        assertThat(read(declared, "SELECT v FROM " + table)).containsExactly("1");
        assertThat(read(undeclared, "SELECT v FROM " + table)).containsExactly("1");
        execute("UPDATE %s SET v = %d WHERE id = 1".formatted(table, round));
      }
      assertCommits(declared);
      assertCommits(undeclared);
    }
  }

  @Test
  void whenTheyWriteThenTheyAreRefusedAndOver() {
    execute("INSERT INTO %s (id, v) VALUES (1, 1)".formatted(table));
    for (String write :
        new String[] {
          "INSERT INTO %s (id, v) VALUES (2, 2)",
          "UPDATE %s SET v = 3 WHERE id = 1",
          "DELETE FROM %s WHERE id = 1",
          "BEGIN BATCH UPDATE %s SET v = 3 WHERE id = 1; APPLY BATCH"
        }) {
      try (Transaction transaction = reader()) {
        Refusals.assertRefused(
            ErrorCode.READ_ONLY_TRANSACTION, () -> transaction.execute(write.formatted(table)));
        Refusals.assertRefused(ErrorCode.TRANSACTION_ABORTED, transaction::commit);
      }
    }
    assertThat(read("SELECT * FROM " + table)).containsExactly("1 1");
  }
}
