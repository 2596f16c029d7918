// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.oracle.Decision;
import io.isolde.raft.Peer;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Transactions begin by a method call, without a request, where their node leads the oracle. */
class BegunAtTheLeaderTest {
  @TempDir Path directory;

  @Test
  void whenTheLeaderIsSureThenAStartHasAllThatWasVisible() throws Exception {
    try (Members members = new Members(Members.quick(), directory, 3).startAll()) {
      CoordinatorSession session = members.session();
      OracleNode leader = members.node(members.leader());
      for (int row = 1; row <= 100; row++) {
        long commit = commit(session, UUID.randomUUID(), row);
        session.applied(commit).get();

        Optional<Stable> start = leader.begin(null);

        start.ifPresent(now -> assertThat(now.timestamp()).isGreaterThanOrEqualTo(commit));
      }
      assertThat(sure(leader, null).timestamp()).isGreaterThanOrEqualTo(session.newestStable());
    }
  }

  @Test
  void whenACommitIsNotAppliedThenAStartIsBelowIt() throws Exception {
    try (Members members = new Members(Members.quick(), directory, 1).startAll()) {
      CoordinatorSession session = members.session();
      OracleNode leader = members.node(members.leader());

      long commit = commit(session, UUID.randomUUID(), 1);

      assertThat(sure(leader, null).timestamp()).isLessThan(commit);
      session.applied(commit).get();
      assertThat(sure(leader, null).timestamp()).isGreaterThanOrEqualTo(commit);
    }
  }

  @Test
  void whenTheTransactionIsDecidedThenItDoesNotBeginAgain() throws Exception {
    try (Members members = new Members(Members.quick(), directory, 1).startAll()) {
      CoordinatorSession session = members.session();
      OracleNode leader = members.node(members.leader());
      OracleClient here = members.client();
      here.beginHere(leader::begin);
      UUID id = UUID.randomUUID();
      assertThat(here.begin(id).get()).isPresent();

      long commit = commit(session, id, 1);

      assertThat(sure(leader, id).timestamp()).isEqualTo(Protocol.DECIDED);
      assertThat(here.begin(id).get()).isEmpty();
      session.applied(commit).get();
      assertThat(here.begin(id).get()).isEmpty();
    }
  }

  @Test
  void whenANodeDoesNotLeadThenItsClientAsksTheLeader() throws Exception {
    try (Members members = new Members(Members.quick(), directory, 3).startAll()) {
      CoordinatorSession session = members.session();
      for (Peer follower : members.followers()) {
        long commit = commit(session, UUID.randomUUID(), 1);
        session.applied(commit).get();
        AtomicInteger asked = new AtomicInteger();
        OracleClient client = members.client();
        client.beginHere(
            id -> {
              asked.incrementAndGet();
              return members.node(follower).begin(id);
            });

        assertThat(members.node(follower).begin(null)).isEmpty();
        assertThat(client.begin().get()).isGreaterThanOrEqualTo(commit);
        assertThat(asked).hasValue(1);
      }
    }
  }

  @Test
  void whenTheOthersAreGoneThenTheLeaderIsSureNoLonger() throws Exception {
    try (Members members = new Members(Members.quick(), directory, 3).startAll()) {
      OracleNode leader = members.node(members.leader());
      assertThat(sure(leader, null).timestamp()).isPositive();
      List<Peer> followers = members.followers();

      followers.forEach(members::kill);

      Members.await("it would have to ask", () -> leader.begin(null).isEmpty());
      for (int i = 0; i < 100; i++) {
        assertThat(leader.begin(null)).isEmpty();
        Thread.sleep(5);
      }
      members.awaitEnds();
    }
  }

  /** When nothing goes on, followers seldom answer: who asks for a start makes them. */
  private Stable sure(OracleNode leader, UUID id) {
    Stable[] start = new Stable[1];
    Members.await(
        "the leader is sure",
        () -> {
          leader.member().orElseThrow().replica.barrier().join();
          leader.begin(id).ifPresent(now -> start[0] = now);
          return start[0] != null;
        });
    return start[0];
  }

  private static long commit(CoordinatorSession session, UUID id, long row) throws Exception {
    Decision decision =
        session.commit(TransactionsTest.update(id, session.begin().get(), row)).get();
    return ((Decision.Committed) decision).commitTimestamp();
  }
}
