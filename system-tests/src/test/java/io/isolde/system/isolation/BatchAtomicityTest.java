// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.isolation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.datastax.oss.driver.api.core.cql.BatchStatement;
import com.datastax.oss.driver.api.core.cql.BatchType;
import com.datastax.oss.driver.api.core.cql.BoundStatement;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import io.isolde.client.ErrorCode;
import io.isolde.client.Transaction;
import io.isolde.system.Refusals;
import java.util.HashSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** A batch over partitions and tables is one transaction: seen whole or not at all. */
class BatchAtomicityTest extends Scenario {

  private static final int ROUNDS = 60;
  private final String left = node.table("id int PRIMARY KEY, v int");
  private final String right = node.table("id int PRIMARY KEY, v int");

  @Test
  void whenBatchesRunThenReadersSeeThemWhole() {
    AtomicBoolean writing = new AtomicBoolean(true);
    writeBatch(0);
    CompletableFuture<Void> writer =
        CompletableFuture.runAsync(
            () -> {
              try {
                for (int round = 1; round <= ROUNDS; round++) {
                  writeBatch(round);
                }
              } finally {
                writing.set(false);
              }
            });
    int looks = 0;
    while (writing.get() || looks < 5) {
      looks++;
      try (Transaction transaction = reader()) {
        var seen = new HashSet<String>();
        seen.addAll(read(transaction, "SELECT v FROM " + left));
        seen.addAll(read(transaction, "SELECT v FROM " + right));
        assertThat(seen).as("versions in one snapshot").hasSize(1);
      }
      assertThat(new HashSet<>(read("SELECT v FROM " + left))).as("one statement").hasSize(1);
    }
    writer.join();
    assertThat(read("SELECT v FROM " + right)).containsOnly(Integer.toString(ROUNDS));
  }

  private void writeBatch(int v) {
    StringBuilder batch = new StringBuilder("BEGIN BATCH ");
    for (int id = 0; id < 5; id++) {
      batch.append("UPDATE %s SET v = %d WHERE id = %d; ".formatted(left, v, id));
      batch.append("UPDATE %s SET v = %d WHERE id = %d; ".formatted(right, v, id));
    }
    execute(batch.append("APPLY BATCH").toString());
  }

  @Test
  void whenABatchOfTheProtocolRunsInATransactionThenItIsPartOfIt() {
    PreparedStatement insert =
        node.session().prepare("INSERT INTO %s (id, v) VALUES (?, ?)".formatted(left));
    BoundStatement one = insert.bind(11, 1);
    BoundStatement two = insert.bind(12, 2);
    try (Transaction transaction = serializable()) {
      transaction.execute(BatchStatement.newInstance(BatchType.LOGGED, one, two));
      assertThat(read(transaction, "SELECT v FROM " + left)).containsExactlyInAnyOrder("1", "2");
      assertThat(read("SELECT v FROM " + left)).isEmpty();
      assertCommits(transaction);
    }
    assertThat(read("SELECT v FROM " + left)).containsExactlyInAnyOrder("1", "2");
  }

  @Test
  void whenOneStatementOfABatchIsRefusedThenNoneIsWritten() {
    String plain = node.plainTable("id int PRIMARY KEY, v int");
    String mixed =
        "BEGIN BATCH INSERT INTO %s (id, v) VALUES (1, 1);".formatted(left)
            + " INSERT INTO %s (id, v) VALUES (1, 1); APPLY BATCH".formatted(plain);
    Refusals.assertRefused(ErrorCode.NOT_TRANSACTIONAL, () -> execute(mixed));
    try (Transaction transaction = serializable()) {
      Refusals.assertRefused(ErrorCode.NOT_TRANSACTIONAL, () -> transaction.execute(mixed));
      Refusals.assertRefused(ErrorCode.TRANSACTION_ABORTED, transaction::commit);
    }
    assertThat(read("SELECT * FROM " + left)).isEmpty();
    assertThat(read("SELECT * FROM " + plain)).isEmpty();
  }

  @Test
  void whenALaterStatementOfABatchIsWrongThenNothingOfTheTransactionIsCommitted() {
    PreparedStatement insert =
        node.session().prepare("INSERT INTO %s (id, v) VALUES (?, ?)".formatted(left));
    BatchStatement batch =
        BatchStatement.newInstance(BatchType.LOGGED, insert.bind(1, 1), insert.bind(null, 2));
    try (Transaction transaction = serializable()) {
      transaction.execute("INSERT INTO %s (id, v) VALUES (3, 3)".formatted(left));
      assertThatThrownBy(() -> transaction.execute(batch)).hasMessageContaining("null");
      Refusals.assertRefused(ErrorCode.TRANSACTION_ABORTED, transaction::commit);
    }
    assertThat(read("SELECT * FROM " + left)).isEmpty();
  }

  @Test
  void whenStatementsOfABatchMeetThenTheLaterWins() {
    execute(
        ("BEGIN BATCH INSERT INTO $t (id, v) VALUES (1, 1); DELETE FROM $t WHERE id = 1;"
                + " INSERT INTO $t (id, v) VALUES (1, 3); INSERT INTO $t (id, v) VALUES (2, 2);"
                + " DELETE FROM $t WHERE id = 2; APPLY BATCH")
            .replace("$t", left));
    assertThat(read("SELECT * FROM " + left)).containsExactly("1 3");
  }
}
