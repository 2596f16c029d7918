// SPDX-License-Identifier: Apache-2.0
package io.isolde.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.servererrors.UnauthorizedException;
import java.io.IOException;
import java.time.Duration;
import java.util.Collections;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

class IsoldeTest {
  private static final String UPDATE = "UPDATE t SET v = 1 WHERE k = 1";

  private final FakeNode node = new FakeNode();
  private final FakeTiming timing = new FakeTiming();
  private final Isolde isolde = new Isolde(node, timing);
  private final AtomicInteger runs = new AtomicInteger();

  @Test
  void whenAllGoesWellThenTheFunctionRunsOnceAndItsValueIsReturned() {
    assertThat(isolde.<String, RuntimeException>run(this::update)).isEqualTo("done");

    assertThat(node.transcript).containsExactly("START", "UPDATE", "COMMIT");
  }

  @Test
  void whenCommitConflictsThenTheFunctionRunsAgainInANewTransaction() {
    node.failing("COMMIT", FakeNode.conflict());

    isolde.run(this::update);

    assertThat(node.transcript)
        .containsExactly("START", "UPDATE", "COMMIT", "START", "UPDATE", "COMMIT");
    assertThat(node.transactions).hasSize(2);
    assertThat(timing.pauses).containsExactly(TransactionOptions.defaults().backoffBase());
  }

  @Test
  void whenAStatementConflictsThenTheTransactionIsRolledBackAndRunAgain() {
    node.failing("UPDATE", FakeNode.conflict());

    isolde.run(this::update);

    assertThat(node.transcript)
        .containsExactly("START", "UPDATE", "ROLLBACK", "START", "UPDATE", "COMMIT");
  }

  @Test
  void whenTheApplicationWrapsAConflictThenItIsFoundAmongTheCauses() throws IOException {
    node.failing("UPDATE", FakeNode.conflict());

    isolde.run(
        tx -> {
          try {
            return update(tx);
          } catch (RuntimeException e) {
            throw new IOException("mapper failed", e);
          }
        });

    assertThat(runs).hasValue(2);
  }

  @Test
  void whenAPageOfAResultFailsInTheDriverThenTheFunctionRunsAgain() {
    isolde.run(
        tx -> {
          if (runs.incrementAndGet() == 1) {
            throw FakeNode.ofPage(
                FakeNode.timeout(),
                new Binding(tx.id(), FakeNode.NODE).bind(SimpleStatement.newInstance("SELECT")));
          }
          return null;
        });

    assertThat(node.transcript).containsExactly("START", "COMMIT");
  }

  @Test
  void whenARequestOutsideTheTransactionFailsThenItIsNotRunAgain() {
    RuntimeException foreign =
        FakeNode.ofPage(FakeNode.timeout(), SimpleStatement.newInstance("SELECT"));

    assertThatThrownBy(
            () ->
                isolde.run(
                    tx -> {
                      throw foreign;
                    }))
        .isSameAs(foreign);
    assertThat(node.transcript).isEmpty();
  }

  @Test
  void whenAnotherTransactionConflictsForGoodInsideThenTheOuterOneIsNotRunAgain() {
    node.failing("COMMIT", FakeNode.conflict());
    TransactionOptions once = TransactionOptions.builder().maxAttempts(1).build();

    IsoldeException error = errorOf(() -> isolde.run(tx -> isolde.run(once, this::update)));

    assertThat(error.code()).isEqualTo(ErrorCode.CONFLICT);
    assertThat(node.transcript).containsExactly("START", "UPDATE", "COMMIT");
  }

  @Test
  void whenTheFunctionThrowsThenTheTransactionIsRolledBackAndTheExceptionRethrown() {
    IOException own = new IOException("disk full");

    assertThatThrownBy(
            () ->
                isolde.run(
                    tx -> {
                      update(tx);
                      throw own;
                    }))
        .isSameAs(own);
    assertThat(node.transcript).containsExactly("START", "UPDATE", "ROLLBACK");
  }

  @Test
  void whenAnErrorIsNotRetryableThenTheFunctionRunsOnce() {
    node.failing(
        "UPDATE", FakeNode.refusal(ErrorCode.UNSUPPORTED_COUNTER, false, Outcome.NOT_COMMITTED));

    assertThat(errorOf(() -> isolde.run(this::update)).code())
        .isEqualTo(ErrorCode.UNSUPPORTED_COUNTER);
    assertThat(runs).hasValue(1);
  }

  @Test
  void whenTheNodeIsLostBeforeCommitThenTheFunctionRunsAgain() {
    node.failing("UPDATE", FakeNode.timeout());
    node.failing("COMMIT", FakeNode.unreachable());

    isolde.run(this::update);

    assertThat(runs).hasValue(3);
  }

  @Test
  void whenNoTransactionCanBeBegunThenItIsTriedAgain() {
    node.failing(
        "START",
        FakeNode.timeout(),
        FakeNode.refusal(ErrorCode.ORACLE_OVERLOADED, true, Outcome.NOT_COMMITTED));

    isolde.run(this::update);

    assertThat(node.transcript)
        .containsExactly("START", "ROLLBACK", "START", "ROLLBACK", "START", "UPDATE", "COMMIT");
  }

  @Test
  void whenTheUserMayNotBeginThenTheDriversErrorIsPassedOn() {
    node.failing("START", new UnauthorizedException(FakeNode.NODE, "not yours"));

    assertThatThrownBy(() -> isolde.run(this::update)).isInstanceOf(UnauthorizedException.class);
    assertThat(runs).hasValue(1);
  }

  @Test
  void whenTheAnswerOfCommitIsLostThenItIsLookedUpAndTheFunctionRunsOnce() {
    node.failing("COMMIT", FakeNode.timeout());

    isolde.run(this::update);

    assertThat(node.transcript).containsExactly("START", "UPDATE", "COMMIT", "COMMIT");
  }

  @Test
  void whenTheOutcomeStaysUnknownThenTheFunctionIsNotRunAgain() {
    node.failing("COMMIT", FakeNode.timeout());
    node.failing("COMMIT", Collections.nCopies(100, FakeNode.notFound()));
    node.failing("SETTLE", Collections.nCopies(100, FakeNode.notFound()));

    IsoldeException error = errorOf(() -> isolde.run(this::update));

    assertThat(error.code()).isEqualTo(ErrorCode.OUTCOME_UNKNOWN);
    assertThat(error.transactionId()).isPresent().get().isIn(node.transactions);
    assertThat(runs).hasValue(1);
    assertThat(node.enders.subList(0, 3))
        .containsExactly(FakeNode.NODE, FakeNode.OTHER_NODE, FakeNode.NODE);
  }

  @Test
  void whenNobodyKnowsTheOutcomeThenItIsSettledAndTheFunctionRunsAgain() {
    node.failing("COMMIT", FakeNode.timeout());
    node.failing("COMMIT", Collections.nCopies(40, FakeNode.notFound()));
    node.failing("SETTLE", FakeNode.conflict(), FakeNode.conflict());
    TransactionOptions options =
        TransactionOptions.builder().timeLimit(Duration.ofSeconds(30)).build();

    isolde.run(options, this::update);

    assertThat(runs.get()).isGreaterThan(1);
    assertThat(node.transcript).contains("SETTLE").endsWith("COMMIT");
  }

  @Test
  void whenTheNodeForgetsTheTransactionBeforeCommitThenTheFunctionRunsAgain() {
    node.failing("UPDATE", FakeNode.notFound());
    node.failing("COMMIT", FakeNode.notFound());

    isolde.run(this::update);

    assertThat(runs).hasValue(3);
  }

  @Test
  void whenTheCommitOfAReaderIsLostThenTheFunctionRunsAgain() {
    node.failing("COMMIT", FakeNode.timeout());

    isolde.run(TransactionOptions.reading(), this::update);

    assertThat(runs).hasValue(2);
    assertThat(node.enders).containsOnly(FakeNode.NODE);
  }

  @Test
  void whenAllAttemptsConflictThenTheErrorTellsHowManyThereWere() {
    node.failing("COMMIT", FakeNode.conflict(), FakeNode.conflict(), FakeNode.conflict());
    TransactionOptions options = TransactionOptions.builder().maxAttempts(3).build();

    IsoldeException error = errorOf(() -> isolde.run(options, this::update));

    assertThat(error.code()).isEqualTo(ErrorCode.CONFLICT);
    assertThat(error.details()).containsEntry("attempts", "3");
    assertThat(runs).hasValue(3);
  }

  @Test
  void whenTheThreadIsInterruptedInAPauseThenTheLastErrorIsThrownAndItStaysInterrupted() {
    node.failing("COMMIT", FakeNode.conflict());
    timing.interrupts = true;

    assertThat(errorOf(() -> isolde.run(this::update)).code()).isEqualTo(ErrorCode.CONFLICT);
    assertThat(Thread.interrupted()).isTrue();
  }

  @Test
  void whenTheFunctionCommitsItselfThenItIsNotCommittedTwice() {
    CommitResult result = isolde.run(Transaction::commit);

    assertThat(result.committed()).isTrue();
    assertThat(node.transcript).containsExactly("START", "COMMIT");
  }

  @Test
  void whenTheFunctionRollsBackThenItsValueIsReturned() {
    assertThat(
            isolde.<String, RuntimeException>run(
                tx -> {
                  tx.rollback();
                  return "changed my mind";
                }))
        .isEqualTo("changed my mind");
    assertThat(node.transcript).isEmpty();
  }

  @Test
  void whenTheFunctionFailsAfterItCommittedThenItIsNotRunAgain() {
    Throwable error =
        catchThrowable(
            () ->
                isolde.run(
                    tx -> {
                      tx.commit();
                      throw FakeNode.ofPage(
                          FakeNode.timeout(),
                          new Binding(tx.id(), FakeNode.NODE)
                              .bind(SimpleStatement.newInstance("SELECT")));
                    }));

    assertThat(error).isNotNull();
    assertThat(node.transcript).containsExactly("START", "COMMIT");
  }

  @Test
  void whenThereIsNoResultThenRunVoidDoes() {
    isolde.runVoid(TransactionOptions.asOf(5), tx -> tx.execute("SELECT v FROM t"));

    assertThat(node.requests)
        .containsExactly(
            "START TRANSACTION ISOLATION LEVEL SERIALIZABLE READ ONLY AS OF 5",
            "SELECT v FROM t",
            "COMMIT");
  }

  @Test
  void whenTwoHadAConflictOverTheSameRowThenTheyRunAgainOneAfterTheOther() {
    String conflict =
        "Run it again. [isolde code=CONFLICT retryable=true outcome=not_committed table=k.t key=%d]";
    node.failing("COMMIT", FakeNode.refusal(conflict.formatted(7)));
    node.failing("COMMIT", FakeNode.refusal(conflict.formatted(7)));
    node.failing("COMMIT", FakeNode.refusal(conflict.formatted(8)));
    CompletableFuture<String> end = new CompletableFuture<>();
    AtomicInteger attempts = new AtomicInteger();

    CompletionStage<String> first =
        isolde.runAsync(
            tx -> attempts.incrementAndGet() == 1 ? updateAsync(tx) : end.thenApply(done -> done));
    CompletionStage<String> second = isolde.runAsync(this::updateAsync);
    CompletionStage<String> ofAnotherRow = isolde.runAsync(this::updateAsync);

    assertThat(attempts).as("the first one runs again").hasValue(2);
    assertThat(second).as("waits for that").isNotCompleted();
    assertThat(ofAnotherRow).isCompletedWithValue("done");
    end.complete("at last");
    assertThat(first).isCompletedWithValue("at last");
    assertThat(second.toCompletableFuture().join()).isEqualTo("done");
  }

  @Test
  void whenAnAsynchronousRunConflictsThenItRunsAgain() {
    node.failing("UPDATE", FakeNode.conflict());
    node.failing("COMMIT", FakeNode.conflict(), FakeNode.timeout());

    assertThat(isolde.runAsync(this::updateAsync)).isCompletedWithValue("done");

    assertThat(runs).hasValue(3);
    assertThat(node.transcript)
        .containsExactly(
            "START",
            "UPDATE",
            "ROLLBACK",
            "START",
            "UPDATE",
            "COMMIT",
            "START",
            "UPDATE",
            "COMMIT",
            "COMMIT");
  }

  @Test
  void whenAnAsynchronousFunctionThrowsThenTheStageFailsWithItsException() {
    IllegalArgumentException own = new IllegalArgumentException("no such account");

    CompletableFuture<String> stage =
        isolde
            .<String>runAsync(
                tx -> {
                  throw own;
                })
            .toCompletableFuture();

    assertThatThrownBy(stage::join).isInstanceOf(CompletionException.class).hasCause(own);
    assertThat(node.transcript).isEmpty();
  }

  private String update(Transaction tx) {
    runs.incrementAndGet();
    tx.execute(UPDATE);
    return "done";
  }

  private CompletionStage<String> updateAsync(Transaction tx) {
    runs.incrementAndGet();
    return tx.executeAsync(UPDATE).thenApply(result -> "done");
  }

  private static IsoldeException errorOf(ThrowingCallable call) {
    return catchThrowableOfType(IsoldeException.class, call);
  }
}
