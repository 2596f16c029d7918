// SPDX-License-Identifier: Apache-2.0
package io.isolde.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.datastax.oss.driver.api.core.cql.AsyncResultSet;
import com.datastax.oss.driver.api.core.cql.BatchStatement;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.cql.Statement;
import com.datastax.oss.driver.api.core.metadata.Node;
import com.datastax.oss.driver.api.core.servererrors.SyntaxError;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Predicate;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** START that goes with the first statement, and writes that go with COMMIT. */
class SavedRequestsTest {
  private static final String BATCH = "BATCH; UPDATE 1; UPDATE 2";

  private final FakeNode node = new FakeNode();
  private final Isolde isolde = new Isolde(node, new FakeTiming());

  @Test
  void whenWritesAreHeldThenTheyGoWithCommit() {
    isolde.runVoid(
        tx -> {
          tx.execute("SELECT 1");
          writeTwo(tx);
        });

    assertThat(node.transcript).containsExactly("START", "SELECT", "BATCH;", "COMMIT");
    assertThat(node.requests).contains(BATCH);
  }

  @Test
  void whenThereIsARequestAfterWritesThenTheyGoBeforeIt() {
    isolde.runVoid(
        tx -> {
          writeTwo(tx);
          tx.execute("SELECT 1");
        });

    assertThat(node.transcript).containsExactly("START", "BATCH;", "SELECT", "COMMIT");
  }

  @Test
  void whenAllIsAsynchronousThenTheSameIsSent() {
    CompletionStage<Object> run =
        isolde.runAsync(
            tx ->
                tx.executeAsync("SELECT 1")
                    .thenCompose(read -> tx.writeAsync(SimpleStatement.newInstance("UPDATE 1")))
                    .thenCompose(held -> tx.writeAsync(SimpleStatement.newInstance("UPDATE 2")))
                    .thenApply(held -> "done"));

    assertThat(run).isCompletedWithValue("done");
    assertThat(node.transcript).containsExactly("START", "SELECT", "BATCH;", "COMMIT");
  }

  @Test
  void whenThereAreOnlyWritesThenTheTransactionIsBegunBeforeThem() {
    isolde.runVoid(SavedRequestsTest::writeTwo);

    assertThat(node.transcript).containsExactly("START", "BATCH;", "COMMIT");
    assertThat(node.enders).containsExactly(FakeNode.NODE);
  }

  @Test
  void whenTheAnswerIsLostThenTheHolderGetsTheWritesAgainAndOthersOnlyCommit() {
    node.failing("BATCH;", FakeNode.timeout());
    node.failing("COMMIT", FakeNode.timeout(), FakeNode.timeout());

    isolde.runVoid(SavedRequestsTest::writeTwo);

    assertThat(node.transcript)
        .containsExactly("START", "BATCH;", "COMMIT", "BATCH;", "COMMIT", "COMMIT");
    assertThat(node.enders)
        .containsExactly(FakeNode.OTHER_NODE, FakeNode.NODE, FakeNode.OTHER_NODE);
  }

  @Test
  void whenTheAnswerIsLostAndThereIsNoOtherNodeThenTheWritesAreRepeated() {
    node.alone().failing("BATCH;", FakeNode.timeout(), FakeNode.timeout());

    isolde.runVoid(SavedRequestsTest::writeTwo);

    assertThat(node.transcript).containsExactly("START", "BATCH;", "BATCH;", "BATCH;", "COMMIT");
  }

  @Test
  void whenTheLastWritesCantBeEncodedThenThatIsToldAndTheTransactionEnds() {
    node.failing("BATCH;", new IllegalArgumentException("no codec"));

    assertThatThrownBy(() -> isolde.runVoid(SavedRequestsTest::writeTwo))
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(node.transcript).containsExactly("START", "BATCH;", "ROLLBACK");
  }

  @Test
  void whenWritesAreOnTheirWayThenNothingOvertakesThem() {
    CompletableFuture<AsyncResultSet> first = new CompletableFuture<>();
    TransactionRequests slow = answeringLate(bound -> bound instanceof BatchStatement, first);
    Transaction tx = new Isolde(slow, new FakeTiming()).begin();
    tx.write("UPDATE 1");
    CompletionStage<AsyncResultSet> one = tx.executeAsync("SELECT 1");
    CompletionStage<AsyncResultSet> other = tx.executeAsync("SELECT 2");

    assertThat(node.transcript).containsExactly("START", "BATCH;");
    first.complete(null);
    assertThat(one).isCompleted();
    assertThat(other).isCompleted();
    assertThat(node.transcript).containsExactly("START", "BATCH;", "SELECT", "SELECT");
  }

  @Test
  void whenTheFirstStatementContinuesAResultThenTheTransactionIsBegunBeforeIt() {
    isolde.runVoid(
        tx ->
            tx.execute(
                SimpleStatement.newInstance("SELECT 1").setPagingState(ByteBuffer.allocate(1))));

    assertThat(node.transcript).containsExactly("START", "SELECT", "COMMIT");
    assertThat(node.starters).hasSize(1).containsOnlyNulls();
  }

  @Test
  void whenHeldWritesAreRefusedThenNothingIsCommitted() {
    SyntaxError wrong = new SyntaxError(FakeNode.NODE, "no viable alternative");
    node.failing("BATCH;", wrong);
    Transaction tx = isolde.begin();
    writeTwo(tx);

    assertThat(catchThrowable(() -> tx.execute("SELECT 1"))).isInstanceOf(SyntaxError.class);
    assertThat(catchThrowable(tx::commit)).isInstanceOf(SyntaxError.class);
    tx.close();
    assertThat(node.transcript).containsExactly("START", "BATCH;", "ROLLBACK");
  }

  @Test
  void whenTheWritesThatGoWithCommitAreRefusedThenTheTransactionIsOver() {
    node.failing("BATCH;", FakeNode.conflict(), new SyntaxError(FakeNode.NODE, "wrong"));

    assertThatThrownBy(() -> isolde.runVoid(SavedRequestsTest::writeTwo))
        .isInstanceOf(SyntaxError.class);
    assertThat(node.transcript).containsExactly("START", "BATCH;", "START", "BATCH;", "ROLLBACK");
  }

  @Test
  void whenAsManyAreHeldAsMayBeThenTheyAreSent() {
    isolde.runVoid(
        tx -> {
          for (int i = 0; i <= HeldWrites.MAX_STATEMENTS; i++) {
            tx.write("UPDATE 1");
          }
          tx.write("UPDATE 2", "x".repeat((int) HeldWrites.MAX_BYTES));
          assertThat(node.transcript).containsExactly("START", "BATCH;", "BATCH;");
        });

    assertThat(node.transcript).containsExactly("START", "BATCH;", "BATCH;", "COMMIT");
  }

  @Test
  void whenAWriteCantGoWithOthersThenItIsRefusedAtOnce() {
    Transaction tx = isolde.begin();

    assertThatThrownBy(() -> tx.write(SimpleStatement.newInstance("UPDATE :v", Map.of("v", 1))))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> tx.write(SimpleStatement.newInstance("UPDATE 1").setKeyspace("k")))
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(tx.commit().committed()).isTrue();
    assertThat(node.transcript).containsExactly("START", "COMMIT");
  }

  @Test
  void whenItIsRolledBackThenHeldWritesAreForgotten() {
    Transaction tx = isolde.begin();
    writeTwo(tx);
    tx.rollback();

    assertThatThrownBy(() -> tx.write("UPDATE 3")).isInstanceOf(IllegalStateException.class);
    assertThat(node.transcript).containsExactly("START", "ROLLBACK");
  }

  @Test
  void whenItGoesBackToASavepointThenHeldWritesAreForgotten() {
    SyntaxError wrong = new SyntaxError(FakeNode.NODE, "no viable alternative");
    node.failing("BATCH;", wrong);
    Transaction tx = isolde.begin();
    Savepoint savepoint = tx.savepoint();
    writeTwo(tx);
    assertThatThrownBy(() -> tx.execute("SELECT 1")).isInstanceOf(SyntaxError.class);
    tx.write("UPDATE 3");

    tx.rollbackTo(savepoint);
    writeTwo(tx);
    tx.commit();
    assertThat(node.transcript)
        .containsExactly("START", "SAVEPOINT", "BATCH;", "ROLLBACK", "BATCH;", "COMMIT");
    assertThat(node.requests).contains("SAVEPOINT s1", "ROLLBACK TO s1", BATCH);
  }

  /** It may be executed after ROLLBACK TO. */
  @Test
  void whenAStatementGotNoAnswerThenThereIsNoWayBack() {
    node.failing("UPDATE", FakeNode.timeout());
    Transaction tx = isolde.begin();
    Savepoint savepoint = tx.savepoint();
    assertThatThrownBy(() -> tx.execute("UPDATE 1")).isInstanceOf(IsoldeException.class);

    for (ThrowingCallable call :
        List.<ThrowingCallable>of(() -> tx.rollbackTo(savepoint), tx::commit)) {
      assertThat(catchThrowableOfType(IsoldeException.class, call).code())
          .isEqualTo(ErrorCode.REQUEST_FAILED);
    }
    assertThat(node.transcript).containsExactly("START", "SAVEPOINT", "UPDATE");
  }

  @Test
  void whenAStatementIsRunningThenItDoesNotGoBack() {
    CompletableFuture<AsyncResultSet> answer = new CompletableFuture<>();
    TransactionRequests slow = answeringLate(bound -> true, answer);
    Transaction tx = new Transaction(slow, new FakeTiming(), TransactionOptions.defaults());
    Savepoint savepoint = tx.savepoint();
    CompletionStage<AsyncResultSet> running = tx.executeAsync("UPDATE 1");

    assertThatThrownBy(() -> tx.rollbackTo(savepoint)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(tx::savepoint).isInstanceOf(IllegalStateException.class);
    answer.complete(null);
    assertThat(running).isCompleted();
    tx.rollbackTo(savepoint);
  }

  @Test
  void whenTheFirstAnswerHasWarningsThenItsNodeIsAskedWhenItStarted() {
    node.warning();

    isolde.runVoid(
        tx -> {
          tx.execute("SELECT 1");
          assertThat(tx.startTimestamp()).isEqualTo(FakeNode.START_TIMESTAMP);
        });

    assertThat(node.transcript).containsExactly("START", "SELECT", "START", "COMMIT");
    assertThat(node.starters).containsExactly(FakeNode.NODE, FakeNode.NODE);
  }

  @Test
  void whenTheStartTimestampIsAskedForFirstThenTheTransactionBegins() {
    long started =
        isolde.run(
            tx -> {
              long timestamp = tx.startTimestamp();
              tx.execute("SELECT 1");
              assertThat(tx.startTimestamp()).isEqualTo(timestamp);
              return timestamp;
            });

    assertThat(started).isEqualTo(FakeNode.START_TIMESTAMP);
    assertThat(node.transcript).containsExactly("START", "SELECT", "COMMIT");
  }

  @Test
  void whenTheFirstStatementFailsThenWhoWaitsForItBeginsAgain() {
    CompletableFuture<AsyncResultSet> first = new CompletableFuture<>();
    Transaction tx =
        new Transaction(startingLate(first), new FakeTiming(), TransactionOptions.defaults());
    CompletionStage<AsyncResultSet> wrong = tx.executeAsync("SELEKT 1");
    CompletionStage<Transaction> begun = tx.begin();

    first.completeExceptionally(new SyntaxError(FakeNode.NODE, "no viable alternative"));

    assertThat(wrong.toCompletableFuture()).isCompletedExceptionally();
    assertThat(begun.toCompletableFuture()).isCompleted();
    assertThat(tx.startTimestamp()).isEqualTo(FakeNode.START_TIMESTAMP);
  }

  @Test
  void whenItCanNotBeBegunThenThatIsTriedOnceMoreHoweverManyWait() {
    CompletableFuture<AsyncResultSet> first = new CompletableFuture<>();
    List<CompletableFuture<TransactionRequests.Started>> starts = new ArrayList<>();
    TransactionRequests slow =
        new DelegatingRequests(startingLate(first)) {
          @Override
          public CompletionStage<Started> start(UUID transaction, Node node, String cql) {
            starts.add(new CompletableFuture<>());
            return starts.get(starts.size() - 1);
          }
        };
    Transaction tx = new Transaction(slow, new FakeTiming(), TransactionOptions.defaults());
    List<CompletableFuture<?>> all = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      all.add(tx.executeAsync("SELECT 1").toCompletableFuture());
    }

    first.completeExceptionally(FakeNode.timeout());
    assertThat(starts).hasSize(1);
    starts.get(0).completeExceptionally(FakeNode.timeout());

    assertThat(all).allSatisfy(one -> assertThat(one).isCompletedExceptionally());
    assertThat(starts).hasSize(1);
  }

  /** The node, whose answer to a first statement comes when it is released. */
  private TransactionRequests startingLate(CompletableFuture<AsyncResultSet> answer) {
    return answeringLate(bound -> bound.getCustomPayload().containsKey(Binding.START_KEY), answer);
  }

  @Test
  void whenItEndedBeforeItBeganThenItHasNoStartTimestamp() {
    Transaction tx = new Transaction(node, new FakeTiming(), TransactionOptions.defaults());
    tx.rollback();

    assertThatThrownBy(tx::startTimestamp).isInstanceOf(IllegalStateException.class);
    assertThat(node.transcript).isEmpty();
  }

  @Test
  void whenTheFirstStatementIsRefusedThenTheNextOneBeginsOnTheSameNode() {
    node.failing("SELEKT", new SyntaxError(FakeNode.NODE, "no viable alternative"));

    isolde.runVoid(
        tx -> {
          assertThatThrownBy(() -> tx.execute("SELEKT 1")).isInstanceOf(SyntaxError.class);
          tx.execute("SELECT 1");
        });

    assertThat(node.transcript).containsExactly("START", "SELEKT", "START", "SELECT", "COMMIT");
    assertThat(node.starters).containsExactly(FakeNode.NODE, FakeNode.NODE);
  }

  @Test
  void whenTheFirstStatementGotNoAnswerThenNothingIsCommitted() {
    node.failing("SELECT", FakeNode.timeout());
    Transaction tx = new Transaction(node, new FakeTiming(), TransactionOptions.defaults());

    assertThatThrownBy(() -> tx.execute("SELECT 1")).isInstanceOf(IsoldeException.class);
    assertThat(catchThrowableOfType(IsoldeException.class, tx::commit).code())
        .isEqualTo(ErrorCode.REQUEST_FAILED);
    assertThat(node.transcript).containsExactly("START", "SELECT");
  }

  @Test
  void whenSeveralStatementsBeginAtTheSameTimeThenOneOfThemStarts() {
    CompletableFuture<AsyncResultSet> first = new CompletableFuture<>();
    TransactionRequests slow =
        answeringLate(bound -> bound.getCustomPayload().containsKey(Binding.START_KEY), first);
    Transaction tx = new Transaction(slow, new FakeTiming(), TransactionOptions.defaults());
    CompletionStage<AsyncResultSet> one = tx.executeAsync("SELECT 1");
    CompletionStage<AsyncResultSet> other = tx.executeAsync("SELECT 2");

    assertThat(other).isNotCompleted();
    first.complete(null);
    assertThat(one).isCompleted();
    assertThat(other).isCompleted();
    assertThat(node.transcript).containsExactly("START", "SELECT", "SELECT");
  }

  /** The node, whose answers to such requests come when they are released. */
  private TransactionRequests answeringLate(
      Predicate<Statement<?>> such, CompletableFuture<AsyncResultSet> release) {
    return new DelegatingRequests(node) {
      @Override
      public CompletionStage<AsyncResultSet> executeAsync(Statement<?> bound) {
        CompletionStage<AsyncResultSet> answer = super.executeAsync(bound);
        return such.test(bound) ? release.thenCombine(answer, (released, now) -> now) : answer;
      }
    };
  }

  private static void writeTwo(Transaction tx) {
    tx.write("UPDATE 1");
    tx.write("UPDATE 2");
  }
}
