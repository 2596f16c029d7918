// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.isolde.oracle.Decision;
import io.isolde.oracle.Refusal;
import io.isolde.raft.GroupFailure;
import io.isolde.raft.GroupFailure.Reason;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OverloadTest {
  @TempDir Path directory;

  @Test
  void whenTooManyRequestsWaitThenTheyAreRefusedAndNothingIsLost() throws Exception {
    OracleGroupConfig config = Members.quick().withMaxQueued(2);
    try (Members members = new Members(config, directory, 1).startAll()) {
      CoordinatorSession session = members.session();
      long start = session.begin().get();
      List<UUID> ids = new ArrayList<>();
      List<CompletableFuture<Decision>> commits = new ArrayList<>();
      for (int i = 0; i < 2_000; i++) {
        ids.add(UUID.randomUUID());
        commits.add(session.commit(TransactionsTest.update(ids.get(i), start, i)));
      }

      int refused = 0;
      for (int i = 0; i < commits.size(); i++) {
        try {
          assertThat(commits.get(i).get()).isInstanceOf(Decision.Committed.class);
        } catch (ExecutionException e) {
          assertThat(e.getCause()).isInstanceOf(GroupFailure.class);
          assertThat(((GroupFailure) e.getCause()).reason()).isEqualTo(Reason.OVERLOADED);
          if (refused++ < 10) {
            assertThat(members.client().outcome(ids.get(i)).get()).isEmpty();
          }
        }
      }

      assertThat(refused).isPositive();
      assertThat(session.commit(TransactionsTest.update(UUID.randomUUID(), start, 9_999)).get())
          .isInstanceOf(Decision.Committed.class);
      assertThat(members.client().status().get().overloads()).isGreaterThanOrEqualTo(refused);
    }
  }

  @Test
  void whenTooManyCommitsArePendingThenMoreAreRefusedUntilSomeAreApplied() throws Exception {
    OracleGroupConfig config = Members.quick();
    config = config.withBounds(config.bounds().withMaxPendingCommits(2));
    try (Members members = new Members(config, directory, 1).startAll()) {
      CoordinatorSession session = members.session();
      long start = session.begin().get();
      Decision.Committed first = (Decision.Committed) commit(session, start, 1);
      Decision.Committed second = (Decision.Committed) commit(session, start, 2);

      assertThat(commit(session, start, 3))
          .isEqualTo(new Decision.Refused(Refusal.TOO_MANY_PENDING));

      session.applied(first.commitTimestamp()).get();
      session.applied(second.commitTimestamp()).get();
      assertThat(commit(session, start, 3)).isInstanceOf(Decision.Committed.class);
    }
  }

  /** They stay in the memory of all members for as long as a replica is slow. */
  @Test
  void whenWritesThatAreNotAppliedTakeTooMuchMemoryThenMoreAreRefusedUntilSomeAreApplied()
      throws Exception {
    OracleGroupConfig config = Members.quick().withMaxPendingWriteBytes(1_000);
    try (Members members = new Members(config, directory, 1).startAll()) {
      CoordinatorSession session = members.session();
      long start = session.begin().get();
      Decision.Committed first = large(session, start, 1).get();
      assertThatThrownBy(() -> large(session, start, 2).get())
          .cause()
          .isInstanceOfSatisfying(
              GroupFailure.class, e -> assertThat(e.reason()).isEqualTo(Reason.OVERLOADED));
      assertThat(commit(session, start, 3)).isInstanceOf(Decision.Committed.class);

      // The leader may know it before, but the log has the writes until it does, too.
      members.client().logApplied(first.commitTimestamp()).get();
      assertThat(large(session, start, 2).get()).isInstanceOf(Decision.Committed.class);
    }
  }

  /** Each takes a number that the oracle never hears of, and it takes none that is far ahead. */
  @Test
  void whenMoreCommitsAreRefusedThanTheOracleRemembersThenTheCoordinatorGoesOn() throws Exception {
    OracleGroupConfig config = Members.quick().withMaxPendingWriteBytes(1_000);
    try (Members members = new Members(config, directory, 1).startAll()) {
      CoordinatorSession session = members.session();
      long start = session.begin().get();
      Decision.Committed unused = large(session, start, 1).get();
      for (int i = 0; i < Sequences.WINDOW + 1; i++) {
        assertThat(large(session, start, 2)).failsWithin(Duration.ofSeconds(10));
      }

      assertThatThrownBy(() -> commit(session, start, 3))
          .cause()
          .isInstanceOfSatisfying(
              GroupFailure.class, e -> assertThat(e.reason()).isEqualTo(Reason.REFUSED));
      Members.await("it has another session", session::isOpen);
      assertThat(commit(session, start, 3)).isInstanceOf(Decision.Committed.class);
    }
  }

  private static CompletableFuture<Decision.Committed> large(
      CoordinatorSession session, long start, long row) {
    return session
        .commit(TransactionsTest.update(UUID.randomUUID(), start, row), new byte[600], false)
        .thenApply(decided -> (Decision.Committed) decided.decision());
  }

  private static Decision commit(CoordinatorSession session, long start, long row)
      throws Exception {
    return session.commit(TransactionsTest.update(UUID.randomUUID(), start, row)).get();
  }
}
