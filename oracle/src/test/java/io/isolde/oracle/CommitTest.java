// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle;

import static io.isolde.oracle.IsolationLevel.SERIALIZABLE;
import static io.isolde.oracle.IsolationLevel.SNAPSHOT;
import static io.isolde.oracle.OracleFixture.begin;
import static io.isolde.oracle.OracleFixture.blindWrite;
import static io.isolde.oracle.OracleFixture.conflictOf;
import static io.isolde.oracle.OracleFixture.decide;
import static io.isolde.oracle.OracleFixture.ids;
import static io.isolde.oracle.OracleFixture.timestampOf;
import static io.isolde.oracle.OracleFixture.update;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.UUID;
import org.junit.jupiter.api.Test;

class CommitTest {
  private final OracleFixture fixture = new OracleFixture();
  private final StatusOracle oracle = fixture.oracle;
  private final UUID first = fixture.transaction();
  private final UUID second = fixture.transaction();

  @Test
  void whenSomethingReadWasCommittedSinceThenTheConflictSaysWhatWhenAndBy() {
    long start = begin(oracle, 100);
    long commit = timestampOf(decide(oracle, blindWrite(first, start, 7, 8), 200));
    Decision decision = decide(oracle, update(second, SERIALIZABLE, start, 6, 8), 300);
    assertThat(decision)
        .isEqualTo(new Decision.Aborted(new Conflict(Conflict.Kind.READ_WRITE, 8, commit, first)));
    assertThat(oracle.outcome(second)).contains(new Outcome.Aborted(conflictOf(decision)));
  }

  @Test
  void whenATransactionHasNoIdThenItIsDecidedButItsOutcomeIsNotKept() {
    long start = begin(oracle, 100);
    Decision decision = decide(oracle, blindWrite(null, start, 7), 200);
    assertThat(decision).isEqualTo(new Decision.Committed(200, 0));
    assertThat(oracle.statistics().outcomesKept()).isZero();
    assertThat(decide(oracle, update(first, SNAPSHOT, start, 7), 300))
        .isEqualTo(new Decision.Aborted(new Conflict(Conflict.Kind.WRITE_WRITE, 7, 200, null)));
  }

  @Test
  void whenTheOtherIsNoLongerKnownThenTheConflictNamesNobody() {
    OracleFixture forgetful = new OracleFixture(OracleFixture.CONFIG.withMaxOutcomes(1));
    UUID begun = forgetful.transaction();
    long start = begin(forgetful.oracle, 10);
    long commit = forgetful.commit(100, 7);
    forgetful.commit(200, 8);
    Decision decision = decide(forgetful.oracle, update(begun, SNAPSHOT, start, 7), 300);
    assertThat(conflictOf(decision))
        .isEqualTo(new Conflict(Conflict.Kind.WRITE_WRITE, 7, commit, null));
  }

  @Test
  void whenTheSnapshotHasTheOtherCommitThenThereIsNoConflict() {
    long commit = fixture.commitAndApply(100, 7);
    assertThat(timestampOf(decide(oracle, update(first, SERIALIZABLE, commit, 7), 100)))
        .isEqualTo(102);
  }

  @Test
  void whenAPartitionIsDeletedThenRowsOfItConflictButNotWithEachOther() {
    long partition = 1;
    long deletion = 2;
    long start = begin(oracle, 100);
    decide(oracle, rowWrite(first, start, 10, partition, deletion), 200);
    assertThat(decide(oracle, rowWrite(second, start, 11, partition, deletion), 200))
        .isInstanceOf(Decision.Committed.class);
    CommitRequest delete =
        new CommitRequest(
            fixture.transaction(),
            SNAPSHOT,
            start,
            ids(),
            ids(partition),
            ids(partition, deletion));
    assertThat(conflictOf(decide(oracle, delete, 200)).id()).isEqualTo(partition);
  }

  private static CommitRequest rowWrite(
      UUID id, long start, long row, long partition, long deletion) {
    return new CommitRequest(id, SNAPSHOT, start, ids(), ids(row, deletion), ids(row, partition));
  }

  @Test
  void whenARequestIsRepeatedThenItGetsTheSameAnswerAndCountsOnce() {
    Decision commit = decide(oracle, blindWrite(first, 0, 1), 100);
    Decision abort = decide(oracle, update(second, SNAPSHOT, 0, 1), 100);
    OracleStatistics before = oracle.statistics();
    assertThat(decide(oracle, blindWrite(first, 0, 1), 500)).isEqualTo(commit);
    assertThat(decide(oracle, update(second, SNAPSHOT, 0, 1), 500)).isEqualTo(abort);
    assertThat(oracle.statistics()).isEqualTo(before);
  }

  @Test
  void whenBlindWritersOfARowOverlapThenTheLaterIsAppliedAfterTheEarlier() {
    long earlier = fixture.commit(100, 1);
    fixture.commit(200, 2);
    Decision later = decide(oracle, blindWrite(first, 0, 1), 300);
    assertThat(later).isEqualTo(new Decision.Committed(300, earlier));
    oracle.applied(earlier);
    assertThat(oracle.stable()).isGreaterThanOrEqualTo(earlier);
  }

  @Test
  void whenTheEarlierWriterIsAppliedThenTheLaterNeedNotWait() {
    fixture.commitAndApply(100, 1);
    fixture.commit(200, 2);
    assertThat(decide(oracle, blindWrite(first, 0, 1), 300))
        .isEqualTo(new Decision.Committed(300, 0));
  }

  @Test
  void whenTheEarlierWriterIsForgottenAndPendingThenTheLaterWaitsForItsBound() {
    OracleFixture small = new OracleFixture(OracleFixture.CONFIG.withMaxRows(1));
    long earlier = small.commit(100, 1);
    small.commit(200, 2, 3, 4, 5, 6, 7, 8);
    assertThat(decide(small.oracle, blindWrite(small.transaction(), 0, 1), 300))
        .isEqualTo(new Decision.Committed(300, earlier));
  }

  @Test
  void whenNothingIsWrittenThenThereIsNothingToCommit() {
    assertThatThrownBy(() -> new CommitRequest(first, SNAPSHOT, 0, ids(1), ids(), ids()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageEndingWith("wrote nothing, so there is nothing to commit.");
  }

  @Test
  void whenTheStartTimestampWasNeverStableThenTheRequestIsRefused() {
    assertThatThrownBy(() -> decide(oracle, blindWrite(first, 2, 1), 100))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void whenNoTimestampIsReservedThenTheCommitChangesNothing() {
    StatusOracle unreserved = new StatusOracle(OracleFixture.CONFIG);
    OracleStatistics before = unreserved.statistics();
    assertThatThrownBy(() -> decide(unreserved, blindWrite(first, 0, 1), 100))
        .isInstanceOf(IllegalStateException.class);
    assertThat(unreserved.statistics()).isEqualTo(before);
    unreserved.reserve(100);
    assertThat(timestampOf(decide(unreserved, blindWrite(first, 0, 1), 100))).isEqualTo(100);
  }
}
