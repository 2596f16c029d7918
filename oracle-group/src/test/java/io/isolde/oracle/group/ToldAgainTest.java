// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.oracle.CommitRequest;
import io.isolde.oracle.Decision;
import io.isolde.oracle.IsolationLevel;
import io.isolde.raft.Peer;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the leader was told to be applied, and dies before the log knows it. */
class ToldAgainTest {
  private static final int COMMITS = 300;

  @TempDir Path directory;

  @Test
  void whenTheLeaderDiesRightAfterCommitsWereAppliedThenTheNextOneShowsThem() throws Exception {
    try (Members members = new Members(Members.quick(), directory, 3).startAll()) {
      CoordinatorSession session = members.session();
      OracleClient other = members.client();
      long last = 0;
      for (int row = 0; row < COMMITS; row++) {
        last = commit(session, row);
        session.applied(last).get();
      }
      Peer leader = members.leader();
      members.kill(leader);
      assertThat(other.begin().get()).isGreaterThanOrEqualTo(last);
      assertThat(other.awaitLogged(last).get()).isGreaterThanOrEqualTo(last);
      assertThat(pending(members)).isZero();
      members.awaitEnds();
    }
  }

  @Test
  void whenTheLeaderHandsOverThenTheLogKnowsWhatIsApplied() throws Exception {
    try (Members members = new Members(Members.quick(), directory, 3).startAll()) {
      CoordinatorSession session = members.session();
      long last = commit(session, 1);
      session.applied(last).get();
      session.close(); // It will not tell the next one.
      OracleClient other = members.client();
      Peer next = members.followers().get(0);
      other.change(new MemberChange(MemberChange.Kind.LEAD, next)).get();
      assertThat(other.begin().get()).isGreaterThanOrEqualTo(last);
      assertThat(other.setAside().isEmpty()).isTrue();
      assertThat(pending(members)).isZero();
    }
  }

  /**
   * Nobody tells again, so the next leader goes on without them, as without a commit that is stuck.
   */
  @Test
  void whenTheCoordinatorDiesTooThenItsCommitsAreSetAside() throws Exception {
    try (Members members = new Members(Members.quick(), directory, 3).startAll()) {
      CoordinatorSession session = members.session();
      long commit = commit(session, 1);
      session.close();
      OracleClient other = members.client();
      members.kill(members.leader());
      assertThat(other.begin().get()).isGreaterThanOrEqualTo(commit);
      assertThat(other.setAside().contains(commit)).isTrue();
      members.awaitEnds();
    }
  }

  @Test
  void whenTheLogKnowsWhatIsAppliedThenTheCoordinatorForgetsIt() {
    ToldApplied told = new ToldApplied();
    assertThat(told.add(2, ToldAgainTest::unexpected)).isTrue();
    assertThat(told.add(4, ToldAgainTest::unexpected)).isTrue();
    List<Long> first = told.all();
    assertThat(told.add(6, ToldAgainTest::unexpected)).isTrue();
    told.heard(first, List.of(4L));
    assertThat(told.all()).containsExactlyInAnyOrder(4L, 6L);
  }

  @Test
  void whenTooMuchIsToldThenMoreIsNotKept() {
    AtomicInteger asked = new AtomicInteger();
    ToldApplied told = new ToldApplied();
    for (long commit = 0; commit < ToldApplied.MOST; commit++) {
      assertThat(told.add(commit, asked::incrementAndGet)).isTrue();
    }
    assertThat(asked.get()).isPositive();
    assertThat(told.add(ToldApplied.MOST, ToldAgainTest::unexpected)).isFalse();
    assertThat(told.add(0, ToldAgainTest::unexpected)).as("it is kept already").isTrue();
  }

  private static void unexpected() {
    throw new AssertionError("It is not half full.");
  }

  private static long pending(Members members) {
    return members.node(members.leader()).status().orElseThrow().pendingCommits();
  }

  private static long commit(CoordinatorSession session, long row) throws Exception {
    long[] rows = {row};
    Decision decision =
        session
            .commit(
                new CommitRequest(
                    UUID.randomUUID(),
                    IsolationLevel.SERIALIZABLE,
                    session.begin().get(),
                    rows,
                    rows,
                    rows))
            .get();
    return ((Decision.Committed) decision).commitTimestamp();
  }
}
