// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.isolation;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.client.Transaction;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Deletions of many rows at once, against reads and writes of one of these rows. */
class DeletionConflictTest extends Scenario {

  private static final String PARTITION = "DELETE FROM $t WHERE p = 1";
  private static final String RANGE = "DELETE FROM $t WHERE p = 1 AND c > 2";
  private static final String OPEN_RANGE = "DELETE FROM $t WHERE p = 1 AND c >= 3 AND c <= 3";
  private static final String PARTITIONS = "DELETE FROM $t WHERE p IN (1, 9)";

  private String table;

  @BeforeEach
  void fill() {
    table = node.table("p int, c int, v int, PRIMARY KEY (p, c)");
    for (int c = 0; c < 5; c++) {
      execute("INSERT INTO %s (p, c, v) VALUES (1, %d, 1)".formatted(table, c));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {PARTITION, RANGE, OPEN_RANGE, PARTITIONS})
  void whenARowThatWasReadIsDeletedThenTheReaderAborts(String deletion) {
    try (Transaction transaction = serializable()) {
      assertThat(read(transaction, "SELECT v FROM %s WHERE p = 1 AND c = 3".formatted(table)))
          .containsExactly("1");
      transaction.execute("INSERT INTO %s (p, c, v) VALUES (100, 1, 1)".formatted(table));
      execute(on(deletion));
      assertConflicts(transaction);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {PARTITION, RANGE, OPEN_RANGE, PARTITIONS})
  void whenARowThatIsWrittenIsDeletedThenTheWriterAbortsAtSnapshot(String deletion) {
    try (Transaction transaction = snapshot()) {
      transaction.execute("UPDATE %s SET v = 2 WHERE p = 1 AND c = 3".formatted(table));
      execute(on(deletion));
      assertConflicts(transaction);
    }
    assertThat(read("SELECT v FROM %s WHERE p = 1 AND c = 3".formatted(table))).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {PARTITION, RANGE, OPEN_RANGE, PARTITIONS})
  void whenARowIsWrittenMeanwhileThenTheDeletionAbortsAtSnapshot(String deletion) {
    try (Transaction transaction = snapshot()) {
      transaction.execute(on(deletion));
      execute("UPDATE %s SET v = 2 WHERE p = 1 AND c = 3".formatted(table));
      assertConflicts(transaction);
    }
    assertThat(read("SELECT v FROM %s WHERE p = 1 AND c = 3".formatted(table)))
        .containsExactly("2");
  }

  @ParameterizedTest
  @ValueSource(strings = {PARTITION, RANGE, OPEN_RANGE, PARTITIONS})
  void whenTwoDeleteTheSameThenTheSecondAbortsAtSnapshot(String deletion) {
    try (Transaction transaction = snapshot()) {
      transaction.execute(on(deletion));
      execute(on(deletion));
      assertConflicts(transaction);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {PARTITION, RANGE, OPEN_RANGE, PARTITIONS})
  void whenBlindAtSerializableThenTheLaterCommitWins(String deletion) {
    try (Transaction deleting = serializable();
        Transaction writing = serializable()) {
      deleting.execute(on(deletion));
      writing.execute("UPDATE %s SET v = 2 WHERE p = 1 AND c = 3".formatted(table));
      assertCommits(deleting);
      assertCommits(writing);
    }
    assertThat(read("SELECT v FROM %s WHERE p = 1 AND c = 3".formatted(table)))
        .containsExactly("2");
    try (Transaction deleting = serializable();
        Transaction writing = serializable()) {
      writing.execute("UPDATE %s SET v = 3 WHERE p = 1 AND c = 3".formatted(table));
      deleting.execute(on(deletion));
      assertCommits(writing);
      assertCommits(deleting);
    }
    assertThat(read("SELECT v FROM %s WHERE p = 1 AND c = 3".formatted(table))).isEmpty();
  }

  private String on(String deletion) {
    return deletion.replace("$t", table);
  }
}
