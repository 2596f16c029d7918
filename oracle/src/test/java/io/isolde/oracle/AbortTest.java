// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle;

import static io.isolde.oracle.OracleFixture.CONFIG;
import static io.isolde.oracle.OracleFixture.begin;
import static io.isolde.oracle.OracleFixture.blindWrite;
import static io.isolde.oracle.OracleFixture.conflictOf;
import static io.isolde.oracle.OracleFixture.decide;
import static io.isolde.oracle.OracleFixture.pendingOf;
import static io.isolde.oracle.OracleFixture.update;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Aborts that somebody asks for, and what commits leave behind. */
class AbortTest {
  private static final Outcome ABORTED = new Outcome.Aborted(Conflict.REQUESTED);

  private final OracleFixture fixture = new OracleFixture();
  private final StatusOracle oracle = fixture.oracle;
  private final UUID first = fixture.transaction();

  @Test
  void whenAnUndecidedTransactionIsAbortedThenItCanNoLongerCommit() {
    long start = begin(oracle, 100);
    assertThat(oracle.abort(first)).isEqualTo(ABORTED);
    Decision.Aborted aborted = new Decision.Aborted(Conflict.REQUESTED);
    assertThat(decide(oracle, blindWrite(first, start, 1), 200)).isEqualTo(aborted);
    assertThat(oracle.commit(blindWrite(first, start, 1), 1, 0, 200, false)).isEqualTo(aborted);
    assertThat(oracle.outcome(first)).contains(ABORTED);
    assertThat(oracle.statistics().requestedAborts()).isEqualTo(1);
  }

  @Test
  void whenADecidedTransactionIsAbortedThenItsOutcomeStays() {
    decide(oracle, blindWrite(first, 0, 1), 100);
    assertThat(oracle.abort(first)).isEqualTo(new Outcome.Committed(100));
    UUID second = fixture.transaction();
    Conflict conflict =
        conflictOf(decide(oracle, update(second, IsolationLevel.SNAPSHOT, 0, 1), 0));
    assertThat(oracle.abort(second)).isEqualTo(new Outcome.Aborted(conflict));
    assertThat(oracle.statistics().requestedAborts()).isZero();
  }

  @Test
  void whenAPendingCommitIsForgottenThenItIsStillNotAborted() {
    OracleFixture forgetful = new OracleFixture(CONFIG.withMaxOutcomes(1));
    UUID pending = forgetful.transaction();
    decide(forgetful.oracle, blindWrite(pending, 0, 1), 100);
    forgetful.commit(200, 2);
    assertThat(forgetful.oracle.outcome(pending)).isEmpty();
    assertThat(forgetful.oracle.abort(pending)).isEqualTo(new Outcome.Committed(100));
  }

  @Test
  void whenAnAbortFollowsACommitWithoutAnIdThenItIsNotNamedAsTheCommitter() {
    decide(oracle, blindWrite(null, 0, 1), 200);
    oracle.abort(fixture.transaction());
    assertThat(conflictOf(decide(oracle, update(first, IsolationLevel.SNAPSHOT, 0, 1), 300)).by())
        .isNull();
  }

  @Test
  void whenCommitsArePendingThenEachSessionFindsItsOwn() {
    oracle.commit(blindWrite(first, 0, 1), 7, 0, 100, false);
    oracle.commit(blindWrite(null, 0, 2), 8, 0, 200, false);
    long third = fixture.commit(300, 3);
    assertThat(pendingOf(oracle, 7)).containsExactly(new PendingCommit(first, 100, 7));
    assertThat(pendingOf(oracle, 8)).containsExactly(new PendingCommit(null, 200, 8));
    assertThat(pendingOf(oracle, PendingCommit.NO_SESSION)).hasSize(1);
    oracle.applied(200);
    assertThat(pendingOf(oracle, 8)).isEmpty();
    assertThat(oracle.isPending(200)).isFalse();
    assertThat(oracle.isPending(third)).isTrue();
    assertThat(oracle.isPending(250)).isFalse();
  }

  @Test
  void whenReconfiguredThenWhatExceedsTheBoundsIsForgottenButStaysPending() {
    UUID second = fixture.transaction();
    decide(oracle, blindWrite(first, 0, 1), 100);
    decide(oracle, blindWrite(second, 0, 2), 200);
    oracle.reconfigure(CONFIG.withMaxRows(10).withMaxOutcomes(1).withMaxPendingCommits(1));
    assertThat(oracle.outcome(first)).isEmpty();
    assertThat(oracle.outcome(second)).contains(new Outcome.Committed(200));
    assertThat(oracle.statistics().pendingCommits()).isEqualTo(2);
    assertThat(oracle.statistics().tmax()).isEqualTo(200);
    oracle.applied(100);
    assertThat(oracle.commit(blindWrite(fixture.transaction(), 0, 3), 0, 0, 300, false))
        .isEqualTo(new Decision.Refused(Refusal.TOO_MANY_PENDING));
  }
}
