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
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

class TransactionTest {
  private static final EndedTransactions.End FAILED =
      new EndedTransactions.End(ErrorCode.TRANSACTION_ABORTED, "A statement failed.", null);

  private final AtomicLong nowMillis = new AtomicLong();
  private final Transaction transaction =
      new Transaction(
          UUID.randomUUID(),
          new Transactions.Options(IsolationLevel.SERIALIZABLE, false, OptionalLong.empty()),
          1,
          0,
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
    transaction.doom(FAILED);

    assertRefused(ErrorCode.TRANSACTION_NOT_FOUND, transaction::enter);
  }

  private static void assertRefused(ErrorCode code, ThrowingCallable call) {
    assertThatThrownBy(call)
        .isInstanceOfSatisfying(
            IsoldeException.class, e -> assertThat(e.errorCode()).isEqualTo(code));
  }

  private void set(String name) {
    transaction.atSavepoints(savepoints -> savepoints.set(name), false);
  }

  private void backTo(String name) {
    transaction.atSavepoints(savepoints -> savepoints.backTo(name), true);
  }

  @Test
  void whenAStatementFailsThenOnlyASavepointSavesIt() {
    transaction.fail(FAILED);
    assertThat(transaction.isLost()).isTrue();
    assertRefused(ErrorCode.TRANSACTION_ABORTED, () -> set("a"));
    assertRefused(ErrorCode.TRANSACTION_ABORTED, () -> backTo("a"));
  }

  @Test
  void whenItGoesBackThenTheFailureIsForgotten() {
    set("a");
    transaction.fail(FAILED);
    assertThat(transaction.isLost()).isFalse();
    assertRefused(ErrorCode.TRANSACTION_ABORTED, transaction::enter);
    assertRefused(ErrorCode.TRANSACTION_ABORTED, () -> set("b"));
    assertRefused(ErrorCode.SAVEPOINT_NOT_FOUND, () -> backTo("b"));
    assertThat(transaction.doom()).isPresent();

    backTo("a");
    assertThat(transaction.doom()).isEmpty();
    transaction.enter();
    transaction.leave();
  }

  @Test
  void whenItIsDoomedThenNoSavepointSavesIt() {
    set("a");
    transaction.doom(FAILED);
    assertThat(transaction.isLost()).isTrue();
    assertRefused(ErrorCode.TRANSACTION_ABORTED, () -> backTo("a"));
  }

  /** What it takes back may be committed. */
  @Test
  void whenItCommitsThenItDoesNotGoBack() {
    set("a");
    transaction.markEnded();
    transaction.commits(new CompletableFuture<>());
    assertRefused(ErrorCode.TRANSACTION_NOT_FOUND, () -> backTo("a"));
  }
}
