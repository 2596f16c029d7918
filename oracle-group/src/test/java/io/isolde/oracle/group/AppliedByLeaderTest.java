// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.oracle.CommitRequest;
import io.isolde.oracle.Decision;
import io.isolde.oracle.IsolationLevel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A coordinator asks the leader to apply its commit, too. */
class AppliedByLeaderTest {
  private static final long[] NOTHING_READ = {};
  private static final byte[] WRITES = {7};

  @TempDir Path directory;

  /** What leaders were asked to apply, by commit timestamp. */
  private final Map<Long, CompletableFuture<Boolean>> asked = new ConcurrentHashMap<>();

  private CompletableFuture<Boolean> apply(long commitTimestamp, byte[] writeSet) {
    assertThat(writeSet).isEqualTo(WRITES);
    return asked.computeIfAbsent(commitTimestamp, unseen -> new CompletableFuture<>());
  }

  private Members members(int count) throws Exception {
    Members members = new Members(Members.quick(), directory, count).startAll();
    members.initialMembers().forEach(peer -> members.node(peer).applyWith(this::apply));
    return members;
  }

  private static CompletableFuture<Decided> commit(CoordinatorSession session, long row)
      throws Exception {
    return session.commit(
        TransactionsTest.update(UUID.randomUUID(), session.begin().get(), row), WRITES, true);
  }

  private long theOnlyOneAsked() {
    Members.await("the leader is asked to apply it", () -> asked.size() == 1);
    return asked.keySet().iterator().next();
  }

  @Test
  void whenTheLeaderHasAppliedItThenItIsVisibleWithTheAnswer() throws Exception {
    try (Members members = members(1)) {
      CoordinatorSession session = members.session();
      CompletableFuture<Decided> answer = commit(session, 1);
      long commit = theOnlyOneAsked();
      assertThat(members.client().begin().get()).isLessThan(commit);

      asked.get(commit).complete(true);

      Stable stable = answer.get().applied().orElseThrow();
      assertThat(stable.timestamp()).isGreaterThanOrEqualTo(commit);
      assertThat(members.client().begin().get()).isGreaterThanOrEqualTo(commit);
      session.applied(commit, stable).get();
      assertThat(session.newestStable()).isGreaterThanOrEqualTo(commit);
    }
  }

  @Test
  void whenThatLeaderDiesThenTheCoordinatorTellsTheNextOne() throws Exception {
    try (Members members = members(3)) {
      CoordinatorSession session = members.session();
      OracleClient other = members.client();
      CompletableFuture<Decided> answer = commit(session, 1);
      long commit = theOnlyOneAsked();
      asked.get(commit).complete(true);
      session.applied(commit, answer.get().applied().orElseThrow()).get();

      members.kill(members.leader());

      assertThat(other.begin().get()).isGreaterThanOrEqualTo(commit);
      assertThat(other.awaitLogged(commit).get()).isGreaterThanOrEqualTo(commit);
      assertThat(other.inDoubt().isEmpty()).as("nobody took it for orphaned").isTrue();
      members.awaitEnds();
    }
  }

  @Test
  void whenTheLeaderCanNotApplyItThenThatIsLeftToTheCoordinator() throws Exception {
    try (Members members = members(1)) {
      CoordinatorSession session = members.session();
      CompletableFuture<Decided> refused = commit(session, 1);
      asked.get(theOnlyOneAsked()).complete(false);
      assertLeftToTheCoordinator(session, refused);

      members.node(members.leader()).applyWith((commitTimestamp, writeSet) -> failed());
      assertLeftToTheCoordinator(session, commit(session, 2));

      members
          .node(members.leader())
          .applyWith(
              (commitTimestamp, writeSet) -> {
                throw new IllegalStateException("not here");
              });
      assertLeftToTheCoordinator(session, commit(session, 3));
    }
  }

  private static CompletableFuture<Boolean> failed() {
    return CompletableFuture.failedFuture(new IllegalStateException("not now"));
  }

  private static void assertLeftToTheCoordinator(
      CoordinatorSession session, CompletableFuture<Decided> answer) throws Exception {
    assertThat(answer.get().applied()).isEmpty();
    long commit = ((Decision.Committed) answer.get().decision()).commitTimestamp();
    assertThat(session.begin().get()).isLessThan(commit);
    session.applied(commit).get();
    assertThat(session.begin().get()).isGreaterThanOrEqualTo(commit);
  }

  /** It may be that only the leader does not reach the replicas, or not so fast. */
  @Test
  void whenTheLeaderIsSlowThenTheDecisionIsToldAllTheSameAndTheNextIsLeftToo() throws Exception {
    try (Members members = members(1)) {
      CoordinatorSession session = members.session();
      CompletableFuture<Decided> answer = commit(session, 1);
      long commit = theOnlyOneAsked();

      assertLeftToTheCoordinator(session, answer);
      assertLeftToTheCoordinator(session, commit(session, 2));
      assertThat(asked).as("the leader rests").hasSize(1);
      asked.get(commit).complete(true); // The coordinator has done it; the same once more.
      assertThat(session.begin().get()).isGreaterThanOrEqualTo(commit);
    }
  }

  @Test
  void whenTheLeaderTakesItsTimeThenNobodyLooksForAnotherOneYet() {
    assertThat(CommitApplier.MAX_MILLIS)
        .isLessThan(OracleClientConfig.defaults().suspicionMillis());
  }

  /** The leader must not do the work of all coordinators. */
  @Test
  void whenManyComeAtOnceThenMostAreLeftToTheCoordinator() throws Exception {
    try (Members members = members(1)) {
      CoordinatorSession session = members.session();
      List<CompletableFuture<Decided>> answers = new ArrayList<>();
      for (int row = 0; row < 10 * ResponseSender.MAX_APPLYING; row++) {
        answers.add(commit(session, row));
      }
      for (CompletableFuture<Decided> answer : answers) {
        assertThat(answer.get().applied()).isEmpty();
      }
      assertThat(asked).hasSizeBetween(1, ResponseSender.MAX_APPLYING);
    }
  }

  @Test
  void whenOneAfterTheOtherComesThenTheLeaderAppliesAll() throws Exception {
    try (Members members = members(1)) {
      members
          .node(members.leader())
          .applyWith((commitTimestamp, writes) -> CompletableFuture.completedFuture(true));
      CoordinatorSession session = members.session();
      for (int row = 0; row < 3 * ResponseSender.MAX_APPLYING; row++) {
        Decided decided = commit(session, row).get();
        long commit = ((Decision.Committed) decided.decision()).commitTimestamp();
        session.applied(commit, decided.applied().orElseThrow()).get();
        assertThat(session.begin().get()).isGreaterThanOrEqualTo(commit);
      }
    }
  }

  /** Else a replica could get the later of two versions first, and would drop the earlier one. */
  @Test
  void whenItReplacesWhatIsNotAppliedThenItIsLeftToTheCoordinator() throws Exception {
    try (Members members = members(1)) {
      CoordinatorSession session = members.session();
      long start = session.begin().get();
      Decided first = session.commit(blindly(start), WRITES, false).get();

      Decided second = session.commit(blindly(start), WRITES, true).get();

      assertThat(second.applied()).isEmpty();
      assertThat(asked).isEmpty();
      long firstCommit = ((Decision.Committed) first.decision()).commitTimestamp();
      assertThat(((Decision.Committed) second.decision()).applyAfter())
          .isGreaterThanOrEqualTo(firstCommit);
    }
  }

  private static CommitRequest blindly(long start) {
    return new CommitRequest(
        UUID.randomUUID(),
        IsolationLevel.SERIALIZABLE,
        start,
        NOTHING_READ,
        new long[] {5},
        new long[] {5});
  }

  @Test
  void whenAnEarlierCommitIsNotAppliedThenItIsVisibleWhenThatIs() throws Exception {
    try (Members members = members(1)) {
      CoordinatorSession session = members.session();
      long first =
          ((Decision.Committed)
                  session
                      .commit(TransactionsTest.update(UUID.randomUUID(), session.begin().get(), 1))
                      .get())
              .commitTimestamp();
      CompletableFuture<Decided> answer = commit(session, 2);
      long second = theOnlyOneAsked();
      asked.get(second).complete(true);

      Stable stable = answer.get().applied().orElseThrow();
      CompletableFuture<Void> visible = session.applied(second, stable);

      assertThat(stable.timestamp()).isLessThan(first);
      assertThat(visible).isNotDone();
      session.applied(first).get();
      visible.get();
      assertThat(session.newestStable()).isGreaterThanOrEqualTo(second);
    }
  }

  @Test
  void whenItIsAbortedThenNothingIsApplied() throws Exception {
    try (Members members = members(1)) {
      CoordinatorSession session = members.session();
      long start = session.begin().get();
      assertLeftToTheCoordinator(
          session,
          session.commit(TransactionsTest.update(UUID.randomUUID(), start, 1), WRITES, false));

      Decided late =
          session.commit(TransactionsTest.update(UUID.randomUUID(), start, 1), WRITES, true).get();

      assertThat(late.decision()).isInstanceOf(Decision.Aborted.class);
      assertThat(late.applied()).isEmpty();
      assertThat(asked).isEmpty();
    }
  }
}
