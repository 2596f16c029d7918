// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.oracle.Decision;
import io.isolde.raft.Peer;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The leader learns by its own node, not by a request, that commits are applied. */
class ReportedAtTheLeaderTest {
  @TempDir Path directory;

  @Test
  void whenTheLeadersNodeTellsThenTheCommitIsVisibleToAll() throws Exception {
    try (Members members = new Members(Members.quick(), directory, 3).startAll()) {
      CoordinatorSession session = members.session();
      OracleClient other = members.client();
      long commit = commit(session, 1);

      Stable stable = members.node(members.leader()).applied(List.of(commit)).orElseThrow();

      assertThat(stable.timestamp()).isGreaterThanOrEqualTo(commit);
      assertThat(other.begin().get()).isGreaterThanOrEqualTo(commit);
      session.applied(commit, stable).get();
      assertThat(session.newestStable()).isGreaterThanOrEqualTo(commit);
    }
  }

  @Test
  void whenThatLeaderDiesThenTheCoordinatorTellsTheNextOne() throws Exception {
    try (Members members = new Members(Members.quick(), directory, 3).startAll()) {
      CoordinatorSession session = members.session();
      OracleClient other = members.client();
      long commit = commit(session, 1);
      Peer leader = members.leader();
      session.applied(commit, members.node(leader).applied(List.of(commit)).orElseThrow()).get();

      members.kill(leader);

      assertThat(other.begin().get()).isGreaterThanOrEqualTo(commit);
      assertThat(other.awaitLogged(commit).get()).isGreaterThanOrEqualTo(commit);
      assertThat(other.inDoubt().isEmpty()).as("nobody took it for orphaned").isTrue();
      members.awaitEnds();
    }
  }

  @Test
  void whenAnEarlierCommitIsNotAppliedThenItIsWaitedFor() throws Exception {
    OracleGroupConfig patient = Members.quick().withOverdueMillis(600_000);
    try (Members members = new Members(patient, directory, 3).startAll()) {
      CoordinatorSession session = members.session();
      long first = commit(session, 1);
      long second = commit(session, 2);
      OracleNode leader = members.node(members.leader());

      Stable stable = leader.applied(List.of(second)).orElseThrow();
      CompletableFuture<Void> visible = session.applied(second, stable);

      assertThat(stable.timestamp()).isLessThan(first);
      assertThat(visible).isNotDone();
      session.applied(first).get();
      visible.get();
      assertThat(session.newestStable()).isGreaterThanOrEqualTo(second);
    }
  }

  /**
   * Others keep away from its rows until the log knows, so its coordinator has to wait for that.
   */
  @Test
  void whenACommitIsSetAsideThenItIsNotEnough() throws Exception {
    OracleGroupConfig impatient = Members.quick().withOverdueMillis(100);
    try (Members members = new Members(impatient, directory, 1).startAll()) {
      CoordinatorSession session = members.session();
      long commit = commit(session, 1);
      OracleNode leader = members.node(members.leader());
      OracleClient other = members.client();
      Members.await("it is in doubt", () -> other.latestInDoubt().join().contains(commit));

      assertThat(leader.applied(List.of(commit))).isEmpty();
      session.applied(commit).get();
      assertThat(other.latestInDoubt().get().isEmpty()).isTrue();
    }
  }

  @Test
  void whenANodeDoesNotLeadThenItCanNotTell() throws Exception {
    try (Members members = new Members(Members.quick(), directory, 3).startAll()) {
      long commit = commit(members.session(), 1);
      for (Peer follower : members.followers()) {
        assertThat(members.node(follower).applied(List.of(commit))).isEmpty();
      }
    }
  }

  private static long commit(CoordinatorSession session, long row) throws Exception {
    Decision decision =
        session
            .commit(TransactionsTest.update(UUID.randomUUID(), session.begin().get(), row))
            .get();
    return ((Decision.Committed) decision).commitTimestamp();
  }
}
