// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle;

import static io.isolde.oracle.IsolationLevel.SERIALIZABLE;
import static io.isolde.oracle.IsolationLevel.SNAPSHOT;
import static io.isolde.oracle.OracleFixture.CONFIG;
import static io.isolde.oracle.OracleFixture.begin;
import static io.isolde.oracle.OracleFixture.blindWrite;
import static io.isolde.oracle.OracleFixture.conflictOf;
import static io.isolde.oracle.OracleFixture.decide;
import static io.isolde.oracle.OracleFixture.ids;
import static io.isolde.oracle.OracleFixture.update;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.UUID;
import org.junit.jupiter.api.Test;

/** What the oracle does when it may not remember, or take on, more. */
class BoundsTest {
  private static final Decision TOO_MANY_PENDING = new Decision.Refused(Refusal.TOO_MANY_PENDING);

  /** What a table of one row really holds, which makes it forget everything else. */
  private static final long[] SEVEN_OTHERS = ids(2, 3, 4, 5, 6, 7, 8);

  @Test
  void whenAReadRowMayHaveBeenForgottenThenTheAbortIsCountedAsFalse() {
    OracleFixture fixture = new OracleFixture(CONFIG.withMaxRows(1));
    long start = begin(fixture.oracle, 10);
    long forgotten = fixture.commitAndApply(100, 1);
    fixture.commitAndApply(200, SEVEN_OTHERS);
    Decision decision =
        decide(fixture.oracle, update(fixture.transaction(), SERIALIZABLE, start, 9), 300);
    assertThat(conflictOf(decision))
        .isEqualTo(new Conflict(Conflict.Kind.FORGOTTEN, 9, forgotten, null));
    assertThat(fixture.oracle.statistics().forgottenAborts()).isEqualTo(1);
    assertThat(fixture.oracle.statistics().readWriteAborts()).isZero();
  }

  @Test
  void whenARealConflictIsKnownTooThenItIsReported() {
    OracleFixture fixture = new OracleFixture(CONFIG.withMaxRows(1));
    fixture.commitAndApply(100, 1);
    fixture.commitAndApply(200, SEVEN_OTHERS);
    Decision decision =
        decide(fixture.oracle, update(fixture.transaction(), SNAPSHOT, 0, 9, 2), 300);
    assertThat(conflictOf(decision).kind()).isEqualTo(Conflict.Kind.WRITE_WRITE);
  }

  @Test
  void whenATransactionStartedAtTmaxThenNothingItNeedsIsForgotten() {
    OracleFixture fixture = new OracleFixture(CONFIG.withMaxRows(1));
    long start = fixture.commitAndApply(100, 1);
    fixture.commitAndApply(200, SEVEN_OTHERS);
    assertThat(fixture.oracle.statistics().tmax()).isEqualTo(start);
    assertThat(decide(fixture.oracle, update(fixture.transaction(), SNAPSHOT, start, 9), 300))
        .isInstanceOf(Decision.Committed.class);
  }

  @Test
  void whenTooManyCommitsArePendingThenOthersAreRefusedUntilOneIsApplied() {
    OracleFixture fixture = new OracleFixture(CONFIG.withMaxPendingCommits(2));
    long first = fixture.commit(100, 1);
    fixture.commit(100, 2);
    UUID third = fixture.transaction();
    assertThat(decide(fixture.oracle, blindWrite(third, 0, 3), 100)).isEqualTo(TOO_MANY_PENDING);
    assertThat(fixture.oracle.outcome(third)).isEmpty();
    fixture.oracle.applied(first);
    assertThat(decide(fixture.oracle, blindWrite(third, 0, 3), 100))
        .isInstanceOf(Decision.Committed.class);
    assertThat(fixture.oracle.statistics().refused()).isEqualTo(1);
  }

  @Test
  void whenThereAreTooManyOutcomesThenTheOldestIsForgotten() {
    OracleFixture fixture = new OracleFixture(CONFIG.withMaxOutcomes(2));
    UUID first = fixture.transaction();
    UUID second = fixture.transaction();
    decide(fixture.oracle, blindWrite(first, 0, 1), 100);
    decide(fixture.oracle, blindWrite(second, 0, 2), 200);
    fixture.commit(300, 3);
    assertThat(fixture.oracle.outcome(first)).isEmpty();
    assertThat(fixture.oracle.outcome(second)).contains(new Outcome.Committed(200));
    assertThat(fixture.oracle.statistics().outcomesKept()).isEqualTo(2);
  }

  @Test
  void whenOutcomesAreTooOldThenTheyAreForgotten() {
    OracleFixture fixture = new OracleFixture(CONFIG.withOutcomeRetentionMicros(100));
    UUID first = fixture.transaction();
    decide(fixture.oracle, blindWrite(first, 0, 1), 100);
    fixture.commit(200, 2);
    assertThat(fixture.oracle.outcome(first)).isPresent();
    fixture.commit(202, 3);
    assertThat(fixture.oracle.outcome(first)).isEmpty();
  }
}
