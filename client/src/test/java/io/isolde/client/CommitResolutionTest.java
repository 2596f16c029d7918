// SPDX-License-Identifier: Apache-2.0
package io.isolde.client;

import static org.assertj.core.api.Assertions.assertThat;

import com.datastax.oss.driver.api.core.servererrors.InvalidQueryException;
import com.datastax.oss.driver.api.core.servererrors.SyntaxError;
import java.time.Duration;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class CommitResolutionTest {
  private static final UUID ID = UUID.fromString("11111111-2222-4333-8444-555555555555");
  private static final Duration LATE = Duration.ofSeconds(11);

  private final CommitResolution resolution =
      new CommitResolution(ID, Backoff.ofCommit(TransactionOptions.defaults()), false);

  @Test
  void whenTheServerSaysNotCommittedThenThatIsTheEnd() {
    CommitResolution.Step step = after(FakeNode.conflict());

    assertThat(step.pause()).isEmpty();
    assertError(step, ErrorCode.CONFLICT, Outcome.NOT_COMMITTED, true);
  }

  @Test
  void whenTheAnswerIsLostThenCommitIsRepeated() {
    assertThat(after(FakeNode.timeout()).pause()).isPresent();
  }

  @Test
  void whenTheAnswerIsLostAndThenAConflictIsToldThenNothingIsCommitted() {
    after(FakeNode.timeout());

    assertError(after(FakeNode.conflict()), ErrorCode.CONFLICT, Outcome.NOT_COMMITTED, true);
  }

  @Test
  void whenTheAnswerIsLostAndTheOracleCannotBeAskedThenNothingIsKnown() {
    after(FakeNode.timeout());
    var noAnswer = FakeNode.refusal(ErrorCode.ORACLE_UNAVAILABLE, true, Outcome.NOT_COMMITTED);
    assertThat(after(noAnswer).pause()).isPresent();

    resolution.afterFailure(noAnswer, LATE, 0);
    assertError(
        resolution.afterFailure(noAnswer, LATE, 0),
        ErrorCode.OUTCOME_UNKNOWN,
        Outcome.UNKNOWN,
        false);
  }

  @Test
  void whenTheOracleIsOverloadedAtTheFirstCommitThenNothingIsCommitted() {
    var overloaded = FakeNode.refusal(ErrorCode.ORACLE_OVERLOADED, true, Outcome.NOT_COMMITTED);

    assertError(after(overloaded), ErrorCode.ORACLE_OVERLOADED, Outcome.NOT_COMMITTED, true);
  }

  @Test
  void whenTheAnswerIsLostForTheWholeTimeThenTheOutcomeIsUnknown() {
    resolution.afterFailure(FakeNode.timeout(), LATE, 0);
    CommitResolution.Step step = resolution.afterFailure(FakeNode.timeout(), LATE, 0);

    assertThat(step.pause()).isEmpty();
    assertError(step, ErrorCode.OUTCOME_UNKNOWN, Outcome.UNKNOWN, false);
  }

  @Test
  void whenTheAnswerIsLostAndANodeDoesNotKnowThenOthersAreAskedUntilTimeIsOver() {
    after(FakeNode.timeout());
    assertThat(after(notFound()).pause()).isPresent();

    resolution.afterFailure(notFound(), LATE, 0);
    CommitResolution.Step step = resolution.afterFailure(notFound(), LATE, 0);
    assertThat(step.pause()).isEmpty();
    assertError(step, ErrorCode.OUTCOME_UNKNOWN, Outcome.UNKNOWN, false);
  }

  @Test
  void whenHalfOfTheTimeIsOverWithoutAnAnswerThenTheTransactionIsToBeSettled() {
    Duration half = TransactionOptions.defaults().timeLimit().dividedBy(2);

    assertThat(resolution.isToBeResolved()).isFalse();
    resolution.afterFailure(FakeNode.timeout(), half.minusMillis(1), 0);
    assertThat(resolution.isToBeResolved()).isFalse();
    resolution.afterFailure(FakeNode.timeout(), half, 0);
    assertThat(resolution.isToBeResolved()).isTrue();
  }

  @Test
  void whenTimeIsOverBeforeAnybodyWasToldToSettleThenThatIsDoneOnceMore() {
    CommitResolution.Step step = resolution.afterFailure(FakeNode.timeout(), LATE, 0);

    assertThat(step.pause()).contains(Duration.ZERO);
    assertThat(resolution.isToBeResolved()).isTrue();
    assertThat(resolution.afterFailure(FakeNode.timeout(), LATE, 0).pause()).isEmpty();
  }

  @Test
  void whenCommitIsRepeatedThenTheHolderAndAnotherNodeTakeTurns() {
    assertThat(resolution.isElsewhere()).isFalse();
    after(FakeNode.timeout());
    assertThat(resolution.isElsewhere()).isTrue();
    after(notFound());
    assertThat(resolution.isElsewhere()).isFalse();
  }

  @Test
  void whenTheFirstCommitFindsNoTransactionThenNothingIsCommitted() {
    assertError(after(notFound()), ErrorCode.TRANSACTION_NOT_FOUND, Outcome.NOT_COMMITTED, true);
  }

  @Test
  void whenAnEarlierCommitWasLeftUnknownThenANodeThatForgotProvesNothing() {
    CommitResolution again =
        new CommitResolution(ID, Backoff.ofCommit(TransactionOptions.defaults()), true);

    assertError(
        again.afterFailure(notFound(), Duration.ZERO, 0),
        ErrorCode.OUTCOME_UNKNOWN,
        Outcome.UNKNOWN,
        false);
  }

  @Test
  void whenCommitWasNeverSentThenNothingIsCommittedAndAnotherNodeMayDoIt() {
    CommitResolution.Step step = after(FakeNode.unreachable());

    assertThat(step.pause()).isEmpty();
    assertError(step, ErrorCode.REQUEST_FAILED, Outcome.NOT_COMMITTED, true);
  }

  @Test
  void whenTheAnswerIsLostAndTheNodeIsGoneThenItIsWaitedFor() {
    after(FakeNode.timeout());
    CommitResolution.Step step = after(FakeNode.unreachable());

    assertThat(step.pause()).isPresent();
    assertError(step, ErrorCode.OUTCOME_UNKNOWN, Outcome.UNKNOWN, false);
  }

  @Test
  void whenTheAnswerIsLostThenOnlyADecisionSaysThatNothingIsCommitted() {
    InvalidQueryException refused =
        FakeNode.refusal(ErrorCode.NOT_TRANSACTIONAL, false, Outcome.NOT_COMMITTED);
    after(FakeNode.timeout());

    assertThat(after(refused).pause()).isPresent();
    assertError(after(FakeNode.conflict()), ErrorCode.CONFLICT, Outcome.NOT_COMMITTED, true);
  }

  @Test
  void whenTheServerDoesNotKnowYetThenCommitIsRepeated() {
    CommitResolution.Step step =
        after(FakeNode.refusal(ErrorCode.OUTCOME_UNKNOWN, false, Outcome.UNKNOWN));

    assertThat(step.pause()).isPresent();
  }

  @Test
  void whenTheCommitIsDecidedButNotAppliedThenItIsWaitedForAndNeverCalledUnknown() {
    assertThat(after(applyPending()).pause()).isPresent();

    CommitResolution.Step step = resolution.afterFailure(applyPending(), LATE, 0);
    assertThat(step.pause()).isEmpty();
    assertError(step, ErrorCode.APPLY_PENDING, Outcome.COMMITTED, true);
    assertThat(((IsoldeException) step.error()).isSafeToRunAgain()).isFalse();
  }

  @Test
  void whenTheCommitIsDecidedAndTheNodeIsLostThenItStaysCommitted() {
    after(applyPending());

    assertError(after(FakeNode.timeout()), ErrorCode.APPLY_PENDING, Outcome.COMMITTED, true);
    assertError(after(notFound()), ErrorCode.APPLY_PENDING, Outcome.COMMITTED, true);
  }

  @Test
  void whenTheNodeDoesNotKnowTheStatementThenTheDriversErrorIsPassedOn() {
    SyntaxError error = new SyntaxError(FakeNode.NODE, "no viable alternative at input 'COMMIT'");

    CommitResolution.Step step = after(error);

    assertThat(step.pause()).isEmpty();
    assertThat(step.error()).isSameAs(error);
  }

  @Test
  void whenTheNodeComesBackWithoutThePluginThenTheOutcomeIsUnknown() {
    after(FakeNode.timeout());

    CommitResolution.Step step = after(new SyntaxError(FakeNode.NODE, "no viable alternative"));

    assertThat(step.pause()).isPresent();
    assertError(step, ErrorCode.OUTCOME_UNKNOWN, Outcome.UNKNOWN, false);
  }

  private CommitResolution.Step after(Throwable error) {
    return resolution.afterFailure(error, Duration.ZERO, 0.5);
  }

  private static Throwable notFound() {
    return FakeNode.notFound();
  }

  private static Throwable applyPending() {
    return FakeNode.refusal(ErrorCode.APPLY_PENDING, true, Outcome.COMMITTED);
  }

  private static void assertError(
      CommitResolution.Step step, ErrorCode code, Outcome outcome, boolean retryable) {
    assertThat(step.error()).isInstanceOf(IsoldeException.class);
    IsoldeException error = (IsoldeException) step.error();
    assertThat(error.code()).isEqualTo(code);
    assertThat(error.outcome()).isEqualTo(outcome);
    assertThat(error.isRetryable()).isEqualTo(retryable);
    assertThat(error.transactionId()).contains(ID);
  }
}
