// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle;

import static io.isolde.oracle.OracleFixture.CONFIG;
import static io.isolde.oracle.OracleFixture.begin;
import static io.isolde.oracle.OracleFixture.blindWrite;
import static io.isolde.oracle.OracleFixture.conflictOf;
import static io.isolde.oracle.OracleFixture.decide;
import static io.isolde.oracle.OracleFixture.ids;
import static io.isolde.oracle.OracleFixture.pendingOf;
import static io.isolde.oracle.OracleFixture.update;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.List;
import java.util.UUID;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class CommitsInDoubtTest {
  private static final Decision IN_DOUBT = new Decision.Refused(Refusal.IN_DOUBT);

  private final OracleFixture fixture = new OracleFixture();
  private final StatusOracle oracle = fixture.oracle;

  private long stuck(long nowMicros, long... rows) {
    long commit = fixture.commit(nowMicros, rows);
    oracle.inDoubt(commit);
    return commit;
  }

  @Test
  void whenACommitIsSetAsideThenStablePassesItAndFollowsTheClock() {
    long first = fixture.commit(100, 1);
    long second = fixture.commit(200, 2);
    oracle.inDoubt(first);
    assertThat(begin(oracle, 500)).isEqualTo(second - 2);
    oracle.applied(second);
    assertThat(begin(oracle, 500)).isEqualTo(500);
  }

  @Test
  void whenACommitIsSetAsideThenItIsPendingInAllOtherRespects() {
    UUID id = fixture.transaction();
    oracle.commit(blindWrite(id, 0, 1), 7, 0, 100, false);
    oracle.inDoubt(100);
    assertThat(oracle.isPending(100)).isTrue();
    assertThat(pendingOf(oracle, 7)).extracting(PendingCommit::transactionId).containsExactly(id);
    assertThat(oracle.abort(id)).isEqualTo(new Outcome.Committed(100));
    assertThat(oracle.statistics().pendingCommits()).isEqualTo(1);
    assertThat(oracle.statistics().inDoubtCommits()).isEqualTo(1);
  }

  @Test
  void whenACommitComesInOrGoesThenTheEpochGrows() {
    assertThat(oracle.inDoubt().epoch()).isZero();
    long commit = stuck(100, 1);
    assertThat(oracle.inDoubt().epoch()).isEqualTo(1);
    oracle.inDoubt(commit);
    oracle.inDoubt(4);
    fixture.commitAndApply(300, 7);
    assertThat(oracle.inDoubt().epoch()).isEqualTo(1);
    oracle.applied(commit);
    assertThat(oracle.inDoubt().epoch()).isEqualTo(2);
    assertThat(oracle.inDoubt().isEmpty()).isTrue();
  }

  @Test
  void whenATransactionBeganBeforeThenItIsTheUsualConflict() {
    UUID reader = fixture.transaction();
    UUID writer = fixture.transaction();
    long start = begin(oracle, 50);
    long commit = stuck(100, 1);
    Decision read = decide(oracle, update(reader, IsolationLevel.SERIALIZABLE, start, 1), 200);
    assertThat(conflictOf(read).committedAt()).isEqualTo(commit);
    Decision written = decide(oracle, update(writer, IsolationLevel.SNAPSHOT, start, 1), 200);
    assertThat(conflictOf(written).kind()).isEqualTo(Conflict.Kind.WRITE_WRITE);
  }

  @Test
  void whenATransactionNeedsWhatIsInDoubtThenItIsRefusedAndMayBeSentAgain() {
    long commit = stuck(100, 1);
    long start = begin(oracle, 200);
    UUID id = fixture.transaction();
    CommitRequest snapshot = update(id, IsolationLevel.SNAPSHOT, start, 1, 2);
    CommitRequest blind = blindWrite(fixture.transaction(), 0, 1);
    CommitRequest reader =
        new CommitRequest(
            fixture.transaction(), IsolationLevel.SERIALIZABLE, start, ids(1), ids(9), ids(9));
    assertThat(decide(oracle, snapshot, 300)).isEqualTo(IN_DOUBT);
    assertThat(decide(oracle, blind, 300)).isEqualTo(IN_DOUBT);
    assertThat(decide(oracle, reader, 300)).isEqualTo(IN_DOUBT);
    assertThat(oracle.outcome(id)).isEmpty();
    assertThat(oracle.statistics().refused()).isEqualTo(3);
    oracle.applied(commit);
    assertThat(decide(oracle, snapshot, 300)).isInstanceOf(Decision.Committed.class);
  }

  @Test
  void whenATransactionNeedsOtherRowsThenItCommitsAndNeedNotWait() {
    stuck(100, 1);
    CommitRequest request =
        new CommitRequest(
            fixture.transaction(), IsolationLevel.SERIALIZABLE, 0, ids(2), ids(3), ids(3, 1));
    assertThat(decide(oracle, request, 300)).isEqualTo(new Decision.Committed(300, 0));
    oracle.applied(300);
    assertThat(oracle.stable()).isEqualTo(300);
  }

  @Test
  void whenTooManyAreStuckThenStableStandsStill() {
    OracleFixture large = new OracleFixture(OracleConfig.defaults());
    long last = 0;
    for (int i = 0; i <= InDoubtCommits.MAX_COMMITS; i++) {
      last = large.commit(100 + 2L * i, i);
    }
    List<Long> some = large.oracle.overdue(last);
    assertThat(some).hasSize(InDoubtCommits.MAX_COMMITS).isSorted().doesNotContain(last);
    some.forEach(large.oracle::inDoubt);
    large.oracle.inDoubt(last);
    assertThat(large.oracle.inDoubt().size()).isEqualTo(InDoubtCommits.MAX_COMMITS);
    assertThat(begin(large.oracle, 2 * last)).isEqualTo(last - 2);
    large.oracle.applied(some.get(0));
    assertThat(large.oracle.overdue(last)).containsExactly(last);
  }

  @Test
  void whenTheIdsAreTooManyThenStableStandsStill() {
    long large = fixture.commit(100, LongStream.range(0, InDoubtCommits.MAX_IDS).toArray());
    long small = fixture.commit(200, -1);
    assertThat(oracle.overdue(small)).containsExactly(large);
    oracle.inDoubt(large);
    oracle.inDoubt(small);
    assertThat(oracle.inDoubt().commits().keySet()).containsExactly(large);
    oracle.applied(large);
    oracle.applied(small);
    long larger = fixture.commit(300, LongStream.rangeClosed(0, InDoubtCommits.MAX_IDS).toArray());
    fixture.commit(400, -1);
    assertThat(oracle.overdue(900)).isEmpty();
    oracle.inDoubt(larger);
    assertThat(begin(oracle, 900)).isEqualTo(larger - 2);
  }

  @Test
  void whenSomethingIsNotOverdueThenItIsNotSetAside() {
    long first = fixture.commit(100, 1);
    long second = fixture.commit(200, 2);
    assertThat(oracle.overdue(first - 2)).isEmpty();
    assertThat(oracle.overdue(second - 2)).containsExactly(first);
    assertThat(oracle.overdue(second)).containsExactly(first, second);
  }

  @Test
  void whenTheStateIsSavedThenItIsKnownWhatIsSetAside() throws IOException {
    long commit = stuck(100, 5, 6);
    fixture.commit(200, 7);
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    oracle.snapshot().writeTo(new DataOutputStream(bytes));
    StatusOracle loaded =
        StatusOracle.load(
            CONFIG, new DataInputStream(new ByteArrayInputStream(bytes.toByteArray())));
    assertThat(loaded.inDoubt().epoch()).isEqualTo(1);
    assertThat(loaded.inDoubt().commits().get(commit)).containsExactly(5, 6);
    assertThat(decide(loaded, blindWrite(fixture.transaction(), 0, 6), 300)).isEqualTo(IN_DOUBT);
    assertThat(loaded.overdue(900)).containsExactly(200L);
    loaded.applied(commit);
    assertThat(loaded.inDoubt().epoch()).isEqualTo(2);
  }
}
