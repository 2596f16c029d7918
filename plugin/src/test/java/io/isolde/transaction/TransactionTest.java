// SPDX-License-Identifier: Apache-2.0
package io.isolde.transaction;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.isolde.conflict.ReadSet;
import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import io.isolde.oracle.IsolationLevel;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class TransactionTest {
  private final AtomicLong nowMillis = new AtomicLong();
  private final Transaction transaction =
      new Transaction(
          UUID.randomUUID(),
          new Transactions.Options(IsolationLevel.SERIALIZABLE, false, OptionalLong.empty()),
          1,
          "",
          nowMillis::get,
          new ReadSet(1),
          new WriteBuffer(1, CommitMemory.unbounded()));

  /** A long aggregation must not be the last statement of its transaction. */
  @Test
  void whenAStatementRunsForLongThenItsClientWasNotIdle() {
    transaction.enter();
    nowMillis.set(90_000);
    transaction.leave();
    nowMillis.addAndGet(5);

    assertThat(transaction.idleMillis()).isEqualTo(5);
    assertThat(transaction.ageMillis()).isEqualTo(90_005);
  }

  /** Its client would run it again, and it may be committed. */
  @Test
  void whenItCommitsThenNoStatementSaysThatNothingOfItCanBeCommitted() {
    transaction.markEnded();
    transaction.commits(new CompletableFuture<>());
    transaction.doom(
        new EndedTransactions.End(ErrorCode.TRANSACTION_ABORTED, "A statement failed.", null));

    assertThatThrownBy(transaction::enter)
        .isInstanceOfSatisfying(
            IsoldeException.class,
            e -> assertThat(e.errorCode()).isEqualTo(ErrorCode.TRANSACTION_NOT_FOUND));
  }
}
