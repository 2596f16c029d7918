// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle;

import static io.isolde.oracle.OracleFixture.CONFIG;
import static io.isolde.oracle.OracleFixture.blindWrite;
import static io.isolde.oracle.OracleFixture.conflictOf;
import static io.isolde.oracle.OracleFixture.ids;
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

class SetAsideTest {
  private static final Decision IN_DOUBT = new Decision.Refused(Refusal.IN_DOUBT);

  private final OracleFixture fixture = new OracleFixture();
  private final StatusOracle oracle = fixture.oracle;

  private long stuck(long nowMicros, long... rows) {
    long commit = fixture.commit(nowMicros, rows);
    oracle.setAside(commit);
    return commit;
  }

  @Test
  void whenACommitIsSetAsideThenStablePassesItAndFollowsTheClock() {
    long first = fixture.commit(100, 1);
    long second = fixture.commit(200, 2);
    oracle.setAside(first);
    assertThat(oracle.stable(500)).isEqualTo(second - 2);
    oracle.applied(second);
    assertThat(oracle.stable(500)).isEqualTo(500);
  }

  @Test
  void whenACommitIsSetAsideThenItIsPendingInAllOtherRespects() {
    UUID id = fixture.transaction();
    oracle.commitUndecided(blindWrite(id, 0, 1), 7, 100);
    oracle.setAside(100);
    assertThat(oracle.isPending(100)).isTrue();
    assertThat(oracle.pendingOf(7)).extracting(PendingCommit::transactionId).containsExactly(id);
    assertThat(oracle.abort(id)).isEqualTo(new Outcome.Committed(100));
    assertThat(oracle.statistics().pendingCommits()).isEqualTo(1);
    assertThat(oracle.statistics().setAsideCommits()).isEqualTo(1);
  }

  @Test
  void whenACommitComesInOrGoesThenTheEpochGrows() {
    assertThat(oracle.setAside().epoch()).isZero();
    long commit = stuck(100, 1);
    assertThat(oracle.setAside().epoch()).isEqualTo(1);
    oracle.setAside(commit);
    oracle.setAside(4);
    fixture.commitAndApply(300, 7);
    assertThat(oracle.setAside().epoch()).isEqualTo(1);
    oracle.applied(commit);
    assertThat(oracle.setAside().epoch()).isEqualTo(2);
    assertThat(oracle.setAside().isEmpty()).isTrue();
  }

  @Test
  void whenATransactionBeganBeforeThenItIsTheUsualConflict() {
    UUID reader = fixture.transaction();
    UUID writer = fixture.transaction();
    long start = oracle.begin(reader, 50);
    long commit = stuck(100, 1);
    Decision read = oracle.commit(update(reader, IsolationLevel.SERIALIZABLE, start, 1), 200);
    assertThat(conflictOf(read).committedAt()).isEqualTo(commit);
    Decision written = oracle.commit(update(writer, IsolationLevel.SNAPSHOT, start, 1), 200);
    assertThat(conflictOf(written).kind()).isEqualTo(Conflict.Kind.WRITE_WRITE);
  }

  @Test
  void whenATransactionNeedsWhatIsInDoubtThenItIsRefusedAndMayBeSentAgain() {
    long commit = stuck(100, 1);
    long start = oracle.stable(200);
    UUID id = fixture.transaction();
    CommitRequest snapshot = update(id, IsolationLevel.SNAPSHOT, start, 1, 2);
    CommitRequest blind = blindWrite(fixture.transaction(), 0, 1);
    CommitRequest reader =
        new CommitRequest(
            fixture.transaction(), IsolationLevel.SERIALIZABLE, start, ids(1), ids(9), ids(9));
    assertThat(oracle.commit(snapshot, 300)).isEqualTo(IN_DOUBT);
    assertThat(oracle.commit(blind, 300)).isEqualTo(IN_DOUBT);
    assertThat(oracle.commit(reader, 300)).isEqualTo(IN_DOUBT);
    assertThat(oracle.outcome(id)).isEmpty();
    assertThat(oracle.statistics().refused()).isEqualTo(3);
    oracle.applied(commit);
    assertThat(oracle.commit(snapshot, 300)).isInstanceOf(Decision.Committed.class);
  }

  @Test
  void whenATransactionNeedsOtherRowsThenItCommitsAndNeedNotWait() {
    stuck(100, 1);
    CommitRequest request =
        new CommitRequest(
            fixture.transaction(), IsolationLevel.SERIALIZABLE, 0, ids(2), ids(3), ids(3, 1));
    assertThat(oracle.commit(request, 300)).isEqualTo(new Decision.Committed(300, 0));
    oracle.applied(300);
    assertThat(oracle.stable()).isEqualTo(300);
  }

  @Test
  void whenTooManyAreStuckThenStableStandsStill() {
    OracleFixture large = new OracleFixture(OracleConfig.defaults());
    long last = 0;
    for (int i = 0; i <= SetAsideCommits.MOST_COMMITS; i++) {
      last = large.commit(100 + 2L * i, i);
    }
    List<Long> some = large.oracle.toSetAside(last);
    assertThat(some).hasSize(SetAsideCommits.MOST_COMMITS).isSorted().doesNotContain(last);
    some.forEach(large.oracle::setAside);
    large.oracle.setAside(last);
    assertThat(large.oracle.setAside().size()).isEqualTo(SetAsideCommits.MOST_COMMITS);
    assertThat(large.oracle.stable(2 * last)).isEqualTo(last - 2);
    large.oracle.applied(some.get(0));
    assertThat(large.oracle.toSetAside(last)).containsExactly(last);
  }

  @Test
  void whenTheIdsAreTooManyThenStableStandsStill() {
    long large = fixture.commit(100, LongStream.range(0, SetAsideCommits.MOST_IDS).toArray());
    long small = fixture.commit(200, -1);
    assertThat(oracle.toSetAside(small)).containsExactly(large);
    oracle.setAside(large);
    oracle.setAside(small);
    assertThat(oracle.setAside().commits().keySet()).containsExactly(large);
    oracle.applied(large);
    oracle.applied(small);
    long larger = fixture.commit(300, LongStream.rangeClosed(0, 1 << 16).toArray());
    fixture.commit(400, -1);
    assertThat(oracle.toSetAside(900)).isEmpty();
    oracle.setAside(larger);
    assertThat(oracle.stable(900)).isEqualTo(larger - 2);
  }

  @Test
  void whenSomethingIsNotOverdueThenItIsNotSetAside() {
    long first = fixture.commit(100, 1);
    long second = fixture.commit(200, 2);
    assertThat(oracle.toSetAside(first - 2)).isEmpty();
    assertThat(oracle.toSetAside(second - 2)).containsExactly(first);
    assertThat(oracle.toSetAside(second)).containsExactly(first, second);
  }

  @Test
  void whenTheStateIsSavedThenItIsKnownWhatIsSetAside() throws IOException {
    long commit = stuck(100, 5, 6);
    fixture.commit(200, 7);
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    oracle.save(new DataOutputStream(bytes));
    StatusOracle loaded =
        StatusOracle.load(
            CONFIG, new DataInputStream(new ByteArrayInputStream(bytes.toByteArray())));
    assertThat(loaded.setAside().epoch()).isEqualTo(1);
    assertThat(loaded.setAside().commits().get(commit)).containsExactly(5, 6);
    assertThat(loaded.commit(blindWrite(fixture.transaction(), 0, 6), 300)).isEqualTo(IN_DOUBT);
    assertThat(loaded.toSetAside(900)).containsExactly(200L);
    loaded.applied(commit);
    assertThat(loaded.setAside().epoch()).isEqualTo(2);
  }
}
