// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.ratis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.isolde.raft.RaftSettings;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.client.impl.ClientProtoUtils;
import org.apache.ratis.proto.RaftProtos.RequestVoteReplyProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteRequestProto;
import org.apache.ratis.protocol.RaftGroupMemberId;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.DivisionInfo;
import org.apache.ratis.server.protocol.TermIndex;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whoever may have renewed a leader's lease votes for no other until that lease is over. */
class VoteTest {
  /** The leader's heartbeats are a second apart, and its lease is longer. */
  private static final RaftSettings LONG_LEASE =
      RaftSettings.defaults().withElections(2_000, 4_000, 0.9);

  private static final long AWAIT_MILLIS = 3_000;

  @TempDir Path directory;

  @Test
  void whenTheLeaderIsHeardThenNobodyAsksForVotesOrGivesOne() throws Exception {
    try (TestCluster cluster = new TestCluster(directory, 3, LONG_LEASE)) {
      int leader = cluster.awaitLeader();
      cluster.propose(leader, "something");
      cluster.awaitApplied(List.of("something"));
      int candidate = (leader + 1) % 3;
      int voter = (leader + 2) % 3;
      long term = cluster.replica(leader).term();
      RequestVoteRequestProto request = vote(candidate, voter, term + 1);
      RaftRpcService rpc = cluster.members.get(candidate).node.rpc();
      assertThatThrownBy(() -> rpc.requestVote(request))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("The leader is alive");
      assertThatThrownBy(
              () ->
                  RaftCall.send(
                          rpc.control(RaftPeerId.valueOf("n" + voter)),
                          RaftRequests.GUARDED_VOTE,
                          request,
                          RequestVoteReplyProto.parser())
                      .await(AWAIT_MILLIS))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("lease");
      assertThat(cluster.replica(voter).term()).isEqualTo(term);
      assertThat(cluster.replica(leader).isLeader()).isTrue();
    }
  }

  @Test
  void whenTheLeaderHasGrantedAnElectionThenItsLeaseDoesNotMatter() throws Exception {
    try (TestCluster cluster = new TestCluster(directory, 3, LONG_LEASE)) {
      int leader = cluster.awaitLeader();
      cluster.propose(leader, "something");
      cluster.awaitApplied(List.of("something"));
      int candidate = (leader + 1) % 3;
      int voter = (leader + 2) % 3;
      long next = cluster.replica(leader).term() + 1;
      cluster.member(candidate).handOver().grant(next);
      RequestVoteReplyProto reply =
          cluster.members.get(candidate).node.rpc().requestVote(vote(candidate, voter, next));
      assertThat(reply.getServerReply().getSuccess()).isTrue();
    }
  }

  /**
   * With a short log it would stay a candidate until its time-out, and the other could not stand.
   */
  @Test
  void whenACandidateHasNotGotBeyondPreVotesThenItLetsAnotherStand() throws Exception {
    try (TestCluster cluster = new TestCluster(directory, 5, RaftSettings.defaults())) {
      int leader = cluster.awaitLeader();
      cluster.propose(leader, "something");
      cluster.awaitApplied(List.of("something"));
      int one = (leader + 1) % 5;
      int other = (leader + 2) % 5;
      CountDownLatch until = new CountDownLatch(1);
      // Two of five get no majority; and nobody refuses, which would end the pre-vote at once.
      for (int silent : List.of(leader, (leader + 3) % 5, (leader + 4) % 5)) {
        cluster.hang(silent, until);
      }
      try { // Whichever asks for pre-votes first keeps the other from it.
        TestCluster.await(
            () ->
                wouldVoteAsCandidate(cluster, one, other, leader)
                    || wouldVoteAsCandidate(cluster, other, one, leader));
      } finally {
        until.countDown();
      }
    }
  }

  private static boolean wouldVoteAsCandidate(
      TestCluster cluster, int candidate, int asker, int leader) {
    DivisionInfo info = cluster.member(candidate).division().getInfo();
    if (!info.isCandidate()) {
      return false;
    }
    long term = info.getCurrentTerm();
    EarlyQuestion question =
        new EarlyQuestion(
            TestCluster.GROUP, "n" + leader, false, term, TermIndex.valueOf(term, 1_000_000));
    boolean answer =
        cluster
            .members
            .get(asker)
            .node
            .rpc()
            .ask(RaftPeerId.valueOf("n" + candidate), question)
            .completeOnTimeout(false, AWAIT_MILLIS, TimeUnit.MILLISECONDS)
            .join();
    return answer && info.isCandidate() && info.getCurrentTerm() == term;
  }

  private static RequestVoteRequestProto vote(int candidate, int voter, long term) {
    return RequestVoteRequestProto.newBuilder()
        .setServerRequest(
            ClientProtoUtils.toRaftRpcRequestProtoBuilder(
                RaftGroupMemberId.valueOf(RaftPeerId.valueOf("n" + candidate), TestCluster.GROUP),
                RaftPeerId.valueOf("n" + voter)))
        .setCandidateTerm(term)
        .setCandidateLastEntry(TermIndex.valueOf(term, 1_000_000).toProto())
        .build();
  }
}
