// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.oracle.CommitRequest;
import io.isolde.oracle.Conflict;
import io.isolde.oracle.Decision;
import io.isolde.oracle.Outcome;
import io.isolde.oracle.replica.Answer;
import io.isolde.oracle.replica.Command;
import io.isolde.raft.Peer;
import java.nio.file.Path;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RepeatedRequestTest {
  @TempDir Path directory;

  @Test
  void whenACommitIsSentAgainAlsoToTheNextLeaderThenItHasOneDecision() throws Exception {
    try (Members members = new Members(Members.quick(), directory, 3).startAll()) {
      OracleClient client = members.client();
      Answer opened = client.execute(new Command.OpenSession(UUID.randomUUID(), 1)).get();
      long session = ((Answer.SessionOpened) opened).session();
      long start = client.begin().get();
      // Without an id: only the session's memory can know it.
      CommitRequest request = TransactionsTest.update(null, start, 7);
      Command commit = new Command.Commit(session, 0, request);

      Answer first = client.execute(commit).get();
      Answer second = client.execute(commit).get();
      Peer next = members.followers().get(0);
      client.change(new MemberChange(MemberChange.Kind.LEAD, next)).get();
      Members.await("the next one serves", () -> members.node(next).isServing());
      Answer third = client.execute(commit).get();

      assertThat(((Answer.Decided) first).decision()).isInstanceOf(Decision.Committed.class);
      assertThat(second).isEqualTo(first);
      assertThat(third).isEqualTo(first);
    }
  }

  @Test
  void whenAnAnswerIsLostThenTheOutcomeTellsAndAnAbortIsFinal() throws Exception {
    try (Members members = new Members(Members.quick(), directory, 3).startAll()) {
      CoordinatorSession session = members.session();
      OracleClient another = members.client();
      UUID decided = UUID.randomUUID();
      UUID undecided = UUID.randomUUID();
      long start = session.begin().get();
      Decision.Committed committed =
          (Decision.Committed) session.commit(TransactionsTest.update(decided, start, 1)).get();

      assertThat(another.outcome(decided).get())
          .contains(new Answer.Ended(new Outcome.Committed(committed.commitTimestamp())));
      assertThat(another.execute(new Command.Abort(decided, start)).get())
          .isEqualTo(new Answer.Ended(new Outcome.Committed(committed.commitTimestamp())));
      assertThat(another.outcome(undecided).get()).isEmpty();
      assertThat(another.execute(new Command.Abort(undecided, start)).get())
          .isEqualTo(new Answer.Ended(new Outcome.Aborted(Conflict.REQUESTED)));
      assertThat(session.commit(TransactionsTest.update(undecided, start, 2)).get())
          .isEqualTo(new Decision.Aborted(Conflict.REQUESTED));
    }
  }

  @Test
  void whenATransactionIsDecidedThenItDoesNotBeginAgain() throws Exception {
    try (Members members = new Members(Members.quick(), directory, 1).startAll()) {
      CoordinatorSession session = members.session();
      UUID id = UUID.randomUUID();
      long start = session.begin(id).get().orElseThrow();
      // Asked again before it is decided, it has a start like any other.
      assertThat(session.begin(id).get().orElseThrow()).isGreaterThanOrEqualTo(start);

      assertThat(session.commit(TransactionsTest.update(id, start, 1)).get())
          .isInstanceOf(Decision.Committed.class);

      assertThat(session.begin(id).get()).isEmpty();
      assertThat(session.begin(UUID.randomUUID()).get()).isPresent();
    }
  }
}
