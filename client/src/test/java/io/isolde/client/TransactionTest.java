// SPDX-License-Identifier: Apache-2.0
package io.isolde.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.datastax.oss.driver.api.core.cql.AsyncResultSet;
import com.datastax.oss.driver.api.core.cql.Statement;
import com.datastax.oss.driver.api.core.servererrors.SyntaxError;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

class TransactionTest {
  private final FakeNode node = new FakeNode();
  private final Isolde isolde = new Isolde(node, new FakeTiming());

  @Test
  void whenATransactionIsCommittedThenTheResultNamesIt() {
    try (Transaction tx = isolde.begin()) {
      tx.execute("UPDATE t SET v = 1 WHERE k = 1");

      assertThat(tx.commit())
          .isEqualTo(new CommitResult(tx.id(), true, OptionalLong.of(FakeNode.COMMIT_TIMESTAMP)));
      assertThat(tx.startTimestamp()).isEqualTo(7);
      assertThat(node.transactions).containsExactly(tx.id());
    }
    assertThat(node.transcript).containsExactly("START", "UPDATE", "COMMIT");
  }

  @Test
  void whenATransactionIsClosedOpenThenItIsRolledBackOnce() {
    try (Transaction tx = isolde.begin()) {
      tx.close();
      tx.rollback();
    }
    assertThat(node.transcript).containsExactly("START", "ROLLBACK");
  }

  @Test
  void whenTheNodeIsGoneAtCloseThenCloseDoesNotThrow() {
    node.failing("ROLLBACK", FakeNode.timeout());

    isolde.begin().close();

    assertThat(node.transcript).containsExactly("START", "ROLLBACK");
  }

  @Test
  void whenTheNodeIsGoneAtRollbackThenThatIsTold() {
    node.failing("ROLLBACK", FakeNode.timeout());
    Transaction tx = isolde.begin();

    assertThat(errorOf(tx::rollback).code()).isEqualTo(ErrorCode.REQUEST_FAILED);
  }

  @Test
  void whenTheServerRolledBackFirstThenRollbackIsContent() {
    node.failing(
        "ROLLBACK", FakeNode.refusal(ErrorCode.TRANSACTION_EXPIRED, true, Outcome.NOT_COMMITTED));

    isolde.begin().rollback();

    assertThat(node.transcript).containsExactly("START", "ROLLBACK");
  }

  @Test
  void whenATransactionHasEndedThenItTakesNoMoreRequests() {
    Transaction tx = isolde.begin();
    tx.commit();

    assertThatThrownBy(() -> tx.execute("SELECT 1")).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(tx::commit).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void whenAStatementIsRefusedThenTheErrorTellsWhy() {
    node.failing(
        "UPDATE",
        FakeNode.refusal(
            "No. [isolde code=NOT_TRANSACTIONAL retryable=false outcome=not_committed table=a.b]"));
    Transaction tx = isolde.begin();

    IsoldeException error = errorOf(() -> tx.execute("UPDATE a.b SET v = 1 WHERE k = 1"));

    assertThat(error.code()).isEqualTo(ErrorCode.NOT_TRANSACTIONAL);
    assertThat(error.details()).containsEntry("table", "a.b");
    assertThat(error.transactionId()).contains(tx.id());
    assertThat(tx.isOpen()).isTrue();
  }

  @Test
  void whenAStatementIsWrongInItselfThenTheDriversErrorIsPassedOn() {
    SyntaxError wrong = new SyntaxError(FakeNode.NODE, "no viable alternative");
    node.failing("SELEKT", wrong);
    Transaction tx = isolde.begin();

    assertThatThrownBy(() -> tx.execute("SELEKT 1")).isSameAs(wrong);
  }

  @Test
  void whenTheAnswerOfCommitIsLostThenItIsAskedForAgain() {
    node.failing("COMMIT", FakeNode.timeout(), FakeNode.timeout());
    Transaction tx = isolde.begin();

    assertThat(tx.commit().committed()).isTrue();
    assertThat(node.transcript).containsExactly("START", "COMMIT", "COMMIT", "COMMIT");
  }

  @Test
  void whenTheOutcomeIsUnknownThenItMayBeAskedForLaterButNotRolledBack() {
    node.failing("COMMIT", FakeNode.timeout());
    node.failing("SETTLE", FakeNode.notFound());
    Transaction tx =
        isolde.begin(TransactionOptions.builder().timeLimit(Duration.ofMillis(8)).build());

    assertThat(errorOf(tx::commit).outcome()).isEqualTo(Outcome.UNKNOWN);
    tx.rollback();
    assertThat(tx.commit().committed()).isTrue();
    assertThat(node.transcript).containsExactly("START", "COMMIT", "SETTLE", "COMMIT");
  }

  @Test
  void whenAStatementWasNotAnsweredThenCommitIsNotSent() {
    node.failing("UPDATE", FakeNode.timeout(), FakeNode.timeout());
    Transaction tx = isolde.begin();

    IsoldeException first = errorOf(() -> tx.execute("UPDATE t SET v = 1 WHERE k = 1"));
    assertThat(tx.executeAsync("UPDATE t SET v = 2 WHERE k = 1")).isCompletedExceptionally();

    assertThat(errorOf(tx::commit))
        .hasMessage(first.getMessage())
        .matches(IsoldeException::isSafeToRunAgain);
    tx.close();
    assertThat(node.transcript).containsExactly("START", "UPDATE", "UPDATE", "ROLLBACK");
  }

  @Test
  void whenAStatementIsStillRunningThenCommitIsRefused() {
    CompletableFuture<AsyncResultSet> answer = new CompletableFuture<>();
    TransactionRequests slow =
        new DelegatingRequests(node) {
          @Override
          public CompletionStage<AsyncResultSet> executeAsync(Statement<?> bound) {
            return answer;
          }
        };
    Transaction tx = new Isolde(slow, new FakeTiming()).begin();
    CompletionStage<AsyncResultSet> running = tx.executeAsync("UPDATE t SET v = 1 WHERE k = 1");

    assertThatThrownBy(tx::commit)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("1 of its statements");
    answer.complete(null);
    assertThat(running).isCompleted();
    assertThat(tx.commit().committed()).isTrue();
  }

  private static IsoldeException errorOf(ThrowingCallable call) {
    return catchThrowableOfType(IsoldeException.class, call);
  }
}
