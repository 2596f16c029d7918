// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.replica;

import static io.isolde.oracle.replica.ReplicaFixture.CONFIG;
import static io.isolde.oracle.replica.ReplicaFixture.COORDINATOR;
import static io.isolde.oracle.replica.ReplicaFixture.blind;
import static io.isolde.oracle.replica.ReplicaFixture.commit;
import static io.isolde.oracle.replica.ReplicaFixture.decision;
import static io.isolde.oracle.replica.ReplicaFixture.timestamp;
import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.oracle.Conflict;
import io.isolde.oracle.Decision;
import io.isolde.oracle.Outcome;
import io.isolde.oracle.Refusal;
import io.isolde.oracle.replica.Answer.Rejected.Reason;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class OracleReplicaTest {
  private static final UUID ID = new UUID(9, 1);

  private final ReplicaFixture fixture = new ReplicaFixture();
  private final OracleReplica replica = fixture.replica;
  private final long session = fixture.session;

  @Test
  void whenACommitIsSentAgainThenItIsNotDecidedAgain() {
    Answer first = fixture.apply(blind(session, 0, 1));
    assertThat(fixture.apply(blind(session, 0, 1))).isEqualTo(first);
    assertThat(replica.statistics().committed()).isEqualTo(1);
  }

  @Test
  void whenACommitWasRefusedThenACopyThatComesLateIsNotDecided() {
    fixture.lead(CONFIG.withMaxPendingCommits(1), 20_000);
    Answer committed = fixture.apply(blind(session, 0, 1));
    Answer refused = fixture.apply(blind(session, 1, 2));
    assertThat(decision(refused)).isEqualTo(new Decision.Refused(Refusal.TOO_MANY_PENDING));
    fixture.apply(new Command.Applied(timestamp(committed)));
    assertThat(fixture.apply(blind(session, 1, 2))).isEqualTo(refused);
    assertThat(decision(fixture.apply(blind(session, 2, 2))))
        .isInstanceOf(Decision.Committed.class);
  }

  @Test
  void whenACopyComesFromBeforeTheWindowThenItIsNotDecided() {
    for (int sequence = 0; sequence <= RecentDecisions.WINDOW; sequence++) {
      Answer answer = fixture.apply(blind(session, sequence, 1));
      fixture.apply(new Command.Applied(timestamp(answer)));
    }
    assertThat(fixture.apply(blind(session, 0, 1)))
        .isEqualTo(new Answer.Rejected(Reason.OUT_OF_WINDOW));
    assertThat(fixture.apply(blind(session, 1, 1))).isInstanceOf(Answer.Decided.class);
    assertThat(replica.stable()).isEqualTo(replica.last());
  }

  @Test
  void whenASequenceNumberIsAheadOfTheWindowThenItIsRejected() {
    assertThat(fixture.apply(blind(session, RecentDecisions.WINDOW, 1)))
        .isEqualTo(new Answer.Rejected(Reason.OUT_OF_WINDOW));
    assertThat(fixture.apply(blind(session, RecentDecisions.WINDOW - 1, 1)))
        .isInstanceOf(Answer.Decided.class);
  }

  @Test
  void whenASnapshotNeverWasThenItsCommitIsRejectedForGood() {
    long start = replica.stable() + 1000;
    Answer rejected = new Answer.Rejected(Reason.NO_SUCH_SNAPSHOT);
    assertThat(fixture.apply(commit(session, 0, ID, start, 1))).isEqualTo(rejected);
    assertThat(fixture.apply(commit(session, 1, ID, -1, 1))).isEqualTo(rejected);
    fixture.apply(new Command.IssueTimestamp(start));
    assertThat(fixture.apply(commit(session, 0, ID, start, 1))).isEqualTo(rejected);
  }

  @Test
  void whenASessionIsFencedThenItDecidesNothingAndItsCommitsAreOrphans() {
    long pending = timestamp(fixture.apply(blind(session, 0, 1)));
    fixture.apply(new Command.FenceSession(session));
    assertThat(fixture.apply(blind(session, 1, 1))).isEqualTo(new Answer.Fenced());
    assertThat(fixture.apply(blind(session, 0, 1))).isEqualTo(new Answer.Fenced());
    assertThat(replica.orphans()).singleElement().matches(o -> o.commitTimestamp() == pending);
    assertThat(replica.stable()).isLessThan(pending);
    fixture.apply(new Command.Applied(pending));
    assertThat(replica.stable()).isGreaterThanOrEqualTo(pending);
  }

  @Test
  void whenACommitIsSetAsideThenOthersMayFinishItThoughItsCoordinatorLives() {
    long pending = timestamp(fixture.apply(blind(session, 0, 1)));
    assertThat(replica.unfinished()).isEmpty();
    fixture.apply(new Command.DeclareInDoubt(pending));
    assertThat(replica.orphans()).isEmpty();
    assertThat(replica.unfinished())
        .singleElement()
        .matches(u -> u.commit().commitTimestamp() == pending && !u.isOrphan());
    fixture.apply(new Command.FenceSession(session));
    assertThat(replica.unfinished()).singleElement().matches(UnfinishedCommit::isOrphan);
    fixture.apply(new Command.Applied(pending));
    assertThat(replica.unfinished()).isEmpty();
  }

  @Test
  void whenASessionIsFencedThenAKnownDecisionIsStillTheAnswer() {
    Answer decided = fixture.apply(commit(session, 0, ID, replica.stable(), 1));
    fixture.apply(new Command.FenceSession(session));
    assertThat(fixture.apply(commit(session, 0, ID, 0, 1))).isEqualTo(decided);
  }

  /** Whatever the second has read was not checked, and what it writes is not in the first. */
  @Test
  void
      whenTwoCoordinatorsCommitOneTransactionIdThenTheSecondIsRefusedAndNeverGetsTheOthersAnswer() {
    UUID other = new UUID(7, 7);
    long second = fixture.open(other, 1);
    Answer committed = fixture.apply(commit(session, 0, ID, replica.stable(), 1));
    Answer taken = new Answer.Decided(new Decision.Refused(Refusal.ID_TAKEN));

    assertThat(fixture.apply(commit(second, 0, ID, replica.stable(), 2))).isEqualTo(taken);
    assertThat(fixture.apply(commit(second, 0, ID, replica.stable(), 2))).isEqualTo(taken);
    assertThat(fixture.apply(commit(session, 1, ID, replica.stable(), 2))).isEqualTo(taken);
    assertThat(fixture.apply(commit(session, 0, ID, 0, 1))).isEqualTo(committed);
    fixture.apply(new Command.FenceSession(second));
    assertThat(fixture.apply(commit(second, 1, ID, 0, 2))).isEqualTo(new Answer.Fenced());
    fixture.apply(new Command.FenceSession(session));
    assertThat(fixture.apply(commit(session, 0, ID, 0, 1))).isEqualTo(committed);
    assertThat(replica.statistics().committed()).isEqualTo(1);
  }

  @Test
  void whenATransactionIdIsAbortedOnRequestThenThatHoldsForAllWhoCommitIt() {
    long second = fixture.open(new UUID(7, 7), 1);
    fixture.apply(new Command.Abort(ID, 0));

    Decision aborted = new Decision.Aborted(Conflict.REQUESTED);
    assertThat(decision(fixture.apply(commit(session, 0, ID, replica.stable(), 1))))
        .isEqualTo(aborted);
    assertThat(decision(fixture.apply(commit(second, 0, ID, replica.stable(), 2))))
        .isEqualTo(aborted);
  }

  @Test
  void whenACoordinatorStartsAnewThenItsOlderSessionIsClosed() {
    long newer = fixture.open(COORDINATOR, 2);
    assertThat(replica.openSessions()).containsExactly(newer);
    assertThat(replica.coordinatorOf(newer)).contains(COORDINATOR);
    assertThat(fixture.apply(blind(session, 0, 1))).isEqualTo(new Answer.Fenced());
  }

  @Test
  void whenOpeningIsSentAgainThenTheSessionIsTheSame() {
    assertThat(fixture.open(COORDINATOR, 1)).isEqualTo(session);
    assertThat(fixture.apply(blind(session, 0, 1))).isInstanceOf(Answer.Decided.class);
  }

  @Test
  void whenAReplacedProcessOpensASessionThenItGetsNone() {
    long successor = fixture.open(COORDINATOR, 5);
    assertThat(fixture.apply(new Command.OpenSession(COORDINATOR, 4)))
        .isEqualTo(new Answer.Fenced());
    assertThat(replica.openSessions()).containsExactly(successor);
  }

  @Test
  void whenAppliedIsRepeatedOrUnknownThenNothingHappens() {
    long first = timestamp(fixture.apply(blind(session, 0, 1)));
    long second = timestamp(fixture.apply(blind(session, 1, 2)));
    fixture.apply(new Command.Applied(first));
    fixture.apply(new Command.Applied(first));
    fixture.apply(new Command.Applied(first + 1));
    fixture.apply(new Command.Applied(Long.MAX_VALUE));
    assertThat(replica.stable()).isEqualTo(second - 2);
  }

  @Test
  void whenATimestampFarAheadIsIssuedThenTheRestOfItsEntryIsDecidedAboveIt() {
    long ahead = replica.last() + 1_000_000;
    List<Answer> answers =
        fixture.apply(
            replica.last(),
            List.of(new Command.IssueTimestamp(ahead), blind(session, 0, 1), blind(session, 1, 2)));
    assertThat(answers.get(0)).isEqualTo(new Answer.Issued(ahead + 2));
    assertThat(timestamp(answers.get(1))).isEqualTo(ahead + 4);
    assertThat(timestamp(answers.get(2))).isEqualTo(ahead + 6);
  }

  @Test
  void whenATimestampTooFarAheadIsAskedForThenItIsRejected() {
    Answer rejected = new Answer.Rejected(Reason.TOO_FAR_AHEAD);
    assertThat(fixture.apply(new Command.IssueTimestamp(Long.MAX_VALUE))).isEqualTo(rejected);
    assertThat(fixture.apply(new Command.IssueTimestamp(OracleReplica.LATEST_MICROS + 1)))
        .isEqualTo(rejected);
    assertThat(fixture.apply(new Command.IssueTimestamp(OracleReplica.LATEST_MICROS)))
        .isInstanceOf(Answer.Issued.class);
    assertThat(fixture.apply(blind(session, 0, 1))).isInstanceOf(Answer.Decided.class);
    assertThat(fixture.apply(new Command.IssueTimestamp(Long.MIN_VALUE)))
        .isInstanceOf(Answer.Issued.class);
  }

  @Test
  void whenAnAbortWasRequestedThenTheCommitComesTooLate() {
    long start = replica.stable();
    Answer aborted = fixture.apply(new Command.Abort(ID, start));
    assertThat(aborted).isEqualTo(new Answer.Ended(new Outcome.Aborted(Conflict.REQUESTED)));
    assertThat(decision(fixture.apply(commit(session, 0, ID, start, 1))))
        .isEqualTo(new Decision.Aborted(Conflict.REQUESTED));
  }

  /** The outcomes of the oracle forget the abort; it must stay nevertheless. */
  @Test
  void whenARequestedAbortIsAmongForgottenOutcomesThenTheCommitIsStillAborted() {
    long start = replica.stable();
    fixture.apply(new Command.Abort(ID, start));
    int sequence = forgetOutcomes(0);
    assertThat(replica.outcome(ID)).isEmpty();
    assertThat(decision(fixture.apply(commit(session, sequence, ID, start, 1))))
        .isEqualTo(new Decision.Aborted(Conflict.REQUESTED));
  }

  @Test
  void whenMoreAbortsAreRequestedThanAreKeptThenOlderTransactionsAreAborted() {
    long start = replica.stable();
    fixture.apply(new Command.Abort(ID, start));
    for (int i = 0; i < RequestedAborts.MOST; i++) {
      fixture.apply(new Command.Abort(new UUID(10, i), replica.stable()));
    }
    assertThat(decision(fixture.apply(commit(session, 0, ID, start, 1))))
        .isInstanceOf(Decision.Aborted.class);
    long later = replica.stable();
    fixture.apply(new Command.IssueTimestamp(0));
    assertThat(later).isLessThan(replica.stable());
    assertThat(decision(fixture.apply(commit(session, 1, new UUID(9, 2), replica.stable(), 1))))
        .isInstanceOf(Decision.Committed.class);
  }

  @Test
  void whenACommitIsForgottenThenItIsNotCalledAborted() {
    long start = replica.stable();
    fixture.apply(new Command.Applied(timestamp(fixture.apply(commit(session, 0, ID, start, 1)))));
    forgetOutcomes(1);
    assertThat(fixture.apply(new Command.Abort(ID, start)))
        .isEqualTo(new Answer.Rejected(Reason.OUTCOME_FORGOTTEN));
    assertThat(fixture.apply(new Command.Abort(new UUID(9, 2), replica.stable())))
        .isInstanceOf(Answer.Ended.class);
  }

  @Test
  void whenAForgottenCommitIsPendingThenItsOutcomeIsKnown() {
    long pending = timestamp(fixture.apply(commit(session, 0, ID, replica.stable(), 1)));
    forgetOutcomes(1);
    assertThat(fixture.apply(new Command.Abort(ID, 0)))
        .isEqualTo(new Answer.Ended(new Outcome.Committed(pending)));
  }

  private int forgetOutcomes(int firstSequence) {
    int sequence = firstSequence;
    for (int i = 0; i < CONFIG.maxOutcomes(); i++) {
      Answer answer =
          fixture.apply(commit(session, sequence, new UUID(8, i), replica.stable(), 100 + i));
      fixture.apply(new Command.Applied(timestamp(answer)));
      sequence++;
    }
    return sequence;
  }

  @Test
  void whenANewLeaderHasOtherBoundsThenTheyHoldFromItsFirstEntryOn() {
    long start = replica.stable();
    fixture.apply(new Command.Applied(timestamp(fixture.apply(blind(session, 0, 1)))));
    fixture.lead(CONFIG.withMaxRows(10), replica.last());
    assertThat(replica.config()).isEqualTo(CONFIG.withMaxRows(10));
    Decision old = decision(fixture.apply(commit(session, 1, ID, start, 2)));
    assertThat(((Decision.Aborted) old).conflict().kind()).isEqualTo(Conflict.Kind.FORGOTTEN);
    long now = replica.stable();
    assertThat(decision(fixture.apply(commit(session, 2, new UUID(9, 2), now, 2))))
        .isInstanceOf(Decision.Committed.class);
  }

  @Test
  void whenLeadersChangeThenTimestampsDoNotRunAhead() {
    long now = replica.reservedUntil();
    for (int i = 0; i < 100; i++) {
      fixture.lead(CONFIG, now);
      fixture.apply(now, List.of(new Command.IssueTimestamp(0)));
    }
    assertThat(replica.last()).isLessThanOrEqualTo(now + ReplicaFixture.RESERVATION + 1000);
  }
}
