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
class ReportedAgainTest {
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
      assertThat(other.inDoubt().isEmpty()).isTrue();
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
      assertThat(other.inDoubt().contains(commit)).isTrue();
      members.awaitEnds();
    }
  }

  @Test
  void whenTheLogKnowsWhatIsAppliedThenTheCoordinatorForgetsIt() {
    ReportedApplies reported = new ReportedApplies();
    assertThat(reported.add(2, ReportedAgainTest::unexpected)).isTrue();
    assertThat(reported.add(4, ReportedAgainTest::unexpected)).isTrue();
    List<Long> first = reported.all();
    assertThat(reported.add(6, ReportedAgainTest::unexpected)).isTrue();
    reported.heard(first, List.of(4L));
    assertThat(reported.all()).containsExactlyInAnyOrder(4L, 6L);
  }

  @Test
  void whenTooMuchIsToldThenMoreIsNotKept() {
    AtomicInteger asked = new AtomicInteger();
    ReportedApplies reported = new ReportedApplies();
    for (long commit = 0; commit < ReportedApplies.MOST; commit++) {
      assertThat(reported.add(commit, asked::incrementAndGet)).isTrue();
    }
    assertThat(asked.get()).isPositive();
    assertThat(reported.add(ReportedApplies.MOST, ReportedAgainTest::unexpected)).isFalse();
    assertThat(reported.add(0, ReportedAgainTest::unexpected)).as("it is kept already").isTrue();
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
