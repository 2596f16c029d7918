// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.oracle.CommitRequest;
import io.isolde.oracle.Decision;
import io.isolde.oracle.IsolationLevel;
import io.isolde.oracle.PendingCommit;
import io.isolde.oracle.replica.Answer;
import io.isolde.oracle.replica.Command;
import io.isolde.raft.GroupFailure;
import io.isolde.raft.Peer;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FencingTest {
  private static final long LEASE_MILLIS = 3_000;

  /** For a machine that is busy with other things. */
  private static final long MARGIN_MILLIS = 15_000;

  private static final int MAX_ATTEMPTS = 20;

  @TempDir Path directory;

  @Test
  void whenACoordinatorIsSilentThenItIsFencedAndItsPendingCommitIsLeftToOthers() throws Exception {
    OracleGroupConfig config = Members.quick().withLeaseMillis(LEASE_MILLIS);
    try (Members members = new Members(config, directory, 3).startAll()) {
      OracleClient silent = members.client();
      long session = open(silent, UUID.randomUUID());
      UUID pending = UUID.randomUUID();
      UUID late = UUID.randomUUID();
      long start = silent.begin().get();
      Answer decided = silent.execute(commit(session, 0, pending, start, 1)).get();
      long timestamp =
          ((Decision.Committed) ((Answer.Decided) decided).decision()).commitTimestamp();

      long before = System.nanoTime();
      Members.await("it is fenced", () -> !orphans(members).isEmpty());
      assertThat((System.nanoTime() - before) / 1_000_000).isLessThan(LEASE_MILLIS + MARGIN_MILLIS);

      assertThat(silent.execute(commit(session, 1, late, start, 2)).get())
          .isInstanceOf(Answer.Fenced.class);
      assertThat(silent.outcome(late).get()).isEmpty();
      assertThat(silent.renew(session, start, List.of()).get().isOpen()).isFalse();
      Peer next = members.followers().get(0);
      silent.change(new MemberChange(MemberChange.Kind.LEAD, next)).get();
      Members.await("the next one serves", () -> members.node(next).isServing());
      assertThat(members.node(next).orphans())
          .extracting(PendingCommit::transactionId)
          .containsExactly(pending);
      assertThat(silent.begin().get()).isGreaterThanOrEqualTo(timestamp);
      assertThat(silent.inDoubt().contains(timestamp)).isTrue();

      silent.applied(timestamp).get();

      silent.begin().get();
      assertThat(silent.inDoubt().contains(timestamp)).isFalse();
      assertThat(members.node(next).orphans()).isEmpty();
    }
  }

  @Test
  void whenAnotherProcessComesWithTheSameIdThenTheSessionOfTheFirstEnds() throws Exception {
    try (Members members = new Members(Members.quick(), directory, 1).startAll()) {
      OracleClient client = members.client();
      UUID coordinator = UUID.randomUUID();
      long first = open(client, coordinator);
      long start = client.begin().get();
      assertThat(client.renew(first, start, List.of()).get().isOpen()).isTrue();

      long second = open(client, coordinator);

      assertThat(client.renew(first, start, List.of()).get().isOpen()).isFalse();
      assertThat(client.renew(second, client.begin().get(), List.of()).get().isOpen()).isTrue();
      assertThat(client.execute(commit(first, 0, UUID.randomUUID(), start, 1)).get())
          .isInstanceOf(Answer.Fenced.class);
      assertThat(client.status().get().sessions()).hasSize(1);
    }
  }

  @Test
  void whenASessionIsFencedThenItsCommitFailsAndANewSessionIsOpened() throws Exception {
    try (Members members = new Members(Members.quick(), directory, 1).startAll()) {
      UUID coordinator = UUID.randomUUID();
      CoordinatorSession session = members.session(coordinator);
      UUID late = UUID.randomUUID();
      long start = session.begin().get();

      // Between the two the coordinator may have opened another session, and then it commits.
      for (int attempt = 1; !isFenced(members, session, coordinator, late, start); attempt++) {
        assertThat(attempt).isLessThan(MAX_ATTEMPTS);
        late = UUID.randomUUID();
      }
      assertThat(members.client().outcome(late).get()).isEmpty();
      Members.await("it has a session again", session::isOpen);
      assertThat(session.commit(TransactionsTest.update(late, start, 1)).get())
          .isInstanceOf(Decision.Committed.class);
    }
  }

  /** Ends the session of a coordinator; whether a commit of it fails for that. */
  private static boolean isFenced(
      Members members, CoordinatorSession session, UUID coordinator, UUID id, long start)
      throws Exception {
    open(members.client(), coordinator);
    try {
      assertThat(session.commit(TransactionsTest.update(id, start, id.hashCode())).get())
          .isInstanceOf(Decision.Committed.class);
      return false;
    } catch (ExecutionException e) {
      assertThat(((GroupFailure) e.getCause()).reason()).isEqualTo(GroupFailure.Reason.FENCED);
      return true;
    }
  }

  private static List<PendingCommit> orphans(Members members) {
    return members.node(members.leader()).orphans();
  }

  static long open(OracleClient client, UUID coordinator) throws Exception {
    return ((Answer.SessionOpened)
            client.execute(new Command.OpenSession(coordinator, Generations.ofNow())).get())
        .session();
  }

  static Command commit(long session, int sequence, UUID id, long start, long row) {
    return new Command.Commit(session, sequence, TransactionsTest.update(id, start, row));
  }

  /** A commit that takes some room in the log. */
  static Command large(long session, int sequence, long start, int rows) {
    long[] ids = new long[rows];
    for (int i = 0; i < rows; i++) {
      ids[i] = ((long) sequence << 32) + i;
    }
    return new Command.Commit(
        session,
        sequence,
        new CommitRequest(
            UUID.randomUUID(), IsolationLevel.SERIALIZABLE, start, ids, new long[0], ids));
  }
}
