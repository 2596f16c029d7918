// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.isolation;

import static io.isolde.system.Refusals.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;

import com.datastax.oss.driver.api.core.cql.BatchStatementBuilder;
import com.datastax.oss.driver.api.core.cql.BatchType;
import com.datastax.oss.driver.api.core.cql.BoundStatement;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.Row;
import io.isolde.client.ErrorCode;
import io.isolde.client.Transaction;
import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** Transactions whose writes do not fit into an entry of the oracle's log. */
class LargeTransactionsTest extends Scenario {
  private static final int PARTITIONS = 100;
  private static final int VALUE_BYTES = 60_000;
  private static final int ROUNDS = 5;

  /** Above what an entry of the log takes, below what this node takes. */
  private static final int CELL_BYTES = 7_000_000;

  private final String table = node.table("id int PRIMARY KEY, round int, v blob");
  private final PreparedStatement write =
      node.session().prepare("UPDATE %s SET round = ?, v = ? WHERE id = ?".formatted(table));

  private BoundStatement write(int round, int id) {
    byte[] value = new byte[VALUE_BYTES];
    new Random(31L * round + id).nextBytes(value);
    return write.bind(round, ByteBuffer.wrap(value), id);
  }

  private void writeAll(Transaction transaction, int round) {
    for (int id = 0; id < PARTITIONS; id++) {
      transaction.execute(write(round, id));
    }
  }

  @Test
  void whenATransactionIsLargeThenItIsSeenWholeOrNotAtAllAndHasWhatWasWritten() {
    try (Transaction first = snapshot()) {
      writeAll(first, 0);
      assertCommits(first);
    }
    AtomicBoolean writing = new AtomicBoolean(true);
    CompletableFuture<Void> writer =
        CompletableFuture.runAsync(
            () -> {
              try {
                for (int round = 1; round <= ROUNDS; round++) {
                  try (Transaction transaction = serializable()) {
                    writeAll(transaction, round);
                    assertCommits(transaction);
                  }
                  assertThat(rounds()).containsExactly(round);
                }
              } finally {
                writing.set(false);
              }
            });
    while (writing.get()) {
      assertThat(rounds()).as("in one statement").hasSize(1);
      try (Transaction reader = reader()) {
        int some = round(reader, 1);
        assertThat(round(reader, 99)).as("in one snapshot").isEqualTo(some);
      }
    }
    writer.join();
    for (int id = 0; id < PARTITIONS; id++) {
      Row row = node.session().execute("SELECT * FROM %s WHERE id = %d".formatted(table, id)).one();
      assertThat(row.getByteBuffer("v")).isEqualTo(write(ROUNDS, id).getByteBuffer("v"));
    }
  }

  private Set<Integer> rounds() {
    Set<Integer> rounds = new HashSet<>();
    node.session()
        .execute("SELECT round FROM " + table)
        .forEach(row -> rounds.add(row.getInt("round")));
    return rounds;
  }

  private int round(Transaction transaction, int id) {
    return transaction
        .execute("SELECT round FROM %s WHERE id = %d".formatted(table, id))
        .one()
        .getInt("round");
  }

  /** A cell of its own is more than an entry takes. */
  @Test
  void whenAStatementIsLargeThenItNeedsNoTransaction() {
    byte[] value = new byte[CELL_BYTES];
    new Random(5).nextBytes(value);
    node.session().execute(write.bind(7, ByteBuffer.wrap(value), 1));
    Row row = node.session().execute("SELECT v FROM %s WHERE id = 1".formatted(table)).one();
    assertThat(row.getByteBuffer("v")).isEqualTo(ByteBuffer.wrap(value));
  }

  @Test
  void whenABatchIsLargeThenAllOfItIsThere() {
    BatchStatementBuilder batch = new BatchStatementBuilder(BatchType.UNLOGGED);
    for (int id = 0; id < PARTITIONS; id++) {
      batch.addStatement(write(3, id));
    }
    node.session().execute(batch.build());
    assertThat(rounds()).containsExactly(3);
    assertThat(read("SELECT id FROM " + table)).hasSize(PARTITIONS);
  }

  @Test
  void whenALargeTransactionHasAConflictThenNothingOfItIsLeft() {
    execute("INSERT INTO %s (id, round) VALUES (5, 1)".formatted(table));
    try (Transaction large = snapshot();
        Transaction next = snapshot()) {
      writeAll(large, 4);
      next.execute("UPDATE %s SET round = 2 WHERE id = 5".formatted(table));
      assertCommits(next);
      assertConflicts(large);
    }
    assertThat(read("SELECT id, round FROM " + table)).containsExactly("5 2");
    try (Transaction again = snapshot()) {
      writeAll(again, 4);
      assertCommits(again);
    }
    assertThat(rounds()).containsExactly(4);
  }

  @Test
  void whenItIsLargerThanTheNodeTakesThenItIsRefusedAndTheNextOneIsNot() {
    try (Transaction large = snapshot()) {
      assertRefused(
          ErrorCode.TRANSACTION_TOO_LARGE,
          () -> {
            for (int i = 0; i < 3; i++) {
              writeAll(large, i);
            }
          });
    }
    try (Transaction next = snapshot()) {
      writeAll(next, 9);
      assertCommits(next);
    }
  }

  @Test
  void whenLargeOnesCommitSideBySideThenEachIsThere() {
    CompletableFuture<?>[] all = new CompletableFuture<?>[4];
    for (int i = 0; i < all.length; i++) {
      int first = 1000 * (i + 1);
      all[i] =
          CompletableFuture.runAsync(
              () -> {
                BatchStatementBuilder batch = new BatchStatementBuilder(BatchType.UNLOGGED);
                for (int id = first; id < first + 30; id++) {
                  batch.addStatement(write(8, id));
                }
                node.session().execute(batch.build());
              });
    }
    CompletableFuture.allOf(all).join();
    assertThat(read("SELECT id FROM " + table)).hasSize(4 * 30);
  }
}
