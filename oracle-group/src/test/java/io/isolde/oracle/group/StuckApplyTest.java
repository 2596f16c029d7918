// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.oracle.CommitRequest;
import io.isolde.oracle.Conflict;
import io.isolde.oracle.Decision;
import io.isolde.oracle.IsolationLevel;
import io.isolde.oracle.Refusal;
import io.isolde.raft.Peer;
import java.nio.file.Path;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A commit is decided and not applied: the others go on without it. */
class StuckApplyTest {
  private static final long STUCK_ROW = 1;

  @TempDir Path directory;

  private static OracleGroupConfig config() {
    return Members.quick().withOverdueMillis(200);
  }

  @Test
  void whenACommitIsNotAppliedThenOthersGoOnAndKnowWhatIsInDoubt() throws Exception {
    try (Members members = new Members(config(), directory, 3).startAll()) {
      CoordinatorSession writer = members.session();
      CoordinatorSession other = members.session();
      long before = other.begin().get();
      long stuck = commit(writer, STUCK_ROW);

      Members.await("snapshots go on", () -> other.begin().join() > stuck);
      assertThat(other.inDoubt().find(new long[] {STUCK_ROW}, stuck)).isPresent();
      assertThat(status(members).inDoubtCommits()).isEqualTo(1);

      long next = commit(other, 2);
      other.applied(next).get();
      assertThat(other.begin().get()).isGreaterThanOrEqualTo(next);
      assertThat(decide(other, other.begin().get(), STUCK_ROW))
          .isEqualTo(new Decision.Refused(Refusal.IN_DOUBT));
      Conflict conflict = ((Decision.Aborted) decide(other, before, STUCK_ROW)).conflict();
      assertThat(conflict.committedAt()).isEqualTo(stuck);

      writer.applied(stuck).get();
      other.begin().get();
      assertThat(other.inDoubt().isEmpty()).isTrue();
      assertThat(decide(other, other.begin().get(), STUCK_ROW))
          .isInstanceOf(Decision.Committed.class);
    }
  }

  @Test
  void whenTheLeaderChangesThenItIsStillKnownWhatIsInDoubt() throws Exception {
    try (Members members = new Members(config(), directory, 3).startAll()) {
      CoordinatorSession writer = members.session();
      long stuck = commit(writer, STUCK_ROW);
      Members.await("it is in doubt", () -> status(members).inDoubtCommits() == 1);

      Peer next = members.followers().get(0);
      members.client().change(new MemberChange(MemberChange.Kind.LEAD, next)).get();
      Members.await("the next one serves", () -> members.node(next).isServing());

      OracleClient newcomer = members.client();
      assertThat(newcomer.begin().get()).isGreaterThan(stuck);
      assertThat(newcomer.inDoubt().contains(stuck)).isTrue();
      newcomer.applied(stuck).get();
      assertThat(newcomer.inDoubt().contains(stuck)).isFalse();
    }
  }

  private static OracleStatus status(Members members) {
    return members.node(members.leader()).status().orElseThrow();
  }

  private static long commit(CoordinatorSession session, long row) throws Exception {
    return ((Decision.Committed) decide(session, session.begin().get(), row)).commitTimestamp();
  }

  private static Decision decide(CoordinatorSession session, long start, long row)
      throws Exception {
    long[] rows = {row};
    return session
        .commit(
            new CommitRequest(
                UUID.randomUUID(), IsolationLevel.SERIALIZABLE, start, rows, rows, rows))
        .get();
  }
}
