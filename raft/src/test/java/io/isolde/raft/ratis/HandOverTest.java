// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.ratis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.isolde.raft.GroupFailure;
import io.isolde.raft.RaftSettings;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.proto.RaftProtos.RaftRpcRequestProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionRequestProto;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.util.ProtoUtils;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Planned changes of the leader. */
class HandOverTest {
  private static final int LONG_MILLIS = 60_000;
  private static final int HAND_OVER_MILLIS = 1_000;

  @TempDir Path directory;

  @Test
  void whenLeadershipIsHandedOverThenTheOtherLeadsAndNothingIsLost() throws Exception {
    try (TestCluster cluster = new TestCluster(directory, 3, RaftSettings.defaults())) {
      List<String> expected = new ArrayList<>();
      int leader = cluster.awaitLeader();
      for (int round = 0; round < 6; round++) {
        cluster.propose(leader, "x" + round);
        expected.add("x" + round);
        int next = (leader + 1) % 3;
        var unused = cluster.replica(leader).transferLeadership("n" + next, 2000);
        TestCluster.await(() -> cluster.replica(next).isLeader());
        cluster.propose(next, "y" + round);
        expected.add("y" + round);
        leader = next;
      }
      cluster.awaitApplied(expected);
      assertThat(cluster.replica(leader).isLeader()).isTrue();
    }
  }

  /** After a network failure TCP repeats what a leader of before has sent only now and then. */
  @Test
  void whenANodeLeadsAgainThenItDoesNotSendOnConnectionsThatGaveNoAnswer() throws Exception {
    RaftSettings settings = RaftSettings.defaults().withRequestTimeout(LONG_MILLIS);
    try (TestCluster cluster = new TestCluster(directory, 3, settings)) {
      int leader = cluster.awaitLeader();
      int transferTarget = (leader + 1) % 3;
      int silent = (leader + 2) % 3;
      cluster.stop(silent);
      try (SilentPeer peer = new SilentPeer(cluster.peers.get(silent).address())) {
        cluster.propose(leader, "sent to the silent one too");
        TestCluster.await(() -> peer.unanswered() >= 2); // Entries and heartbeats.
        handOver(cluster, leader, transferTarget);
        TestCluster.await(() -> peer.unanswered() >= 4);
        Thread.sleep(2 * settings.heartbeatMillis());
        int before = peer.connections();
        handOver(cluster, transferTarget, leader);
        TestCluster.await(() -> peer.connections() >= before + 2);
      }
    }
  }

  /** Ratis would refuse everything from then on, or hang in the hand-over. */
  @Test
  void whenTheTargetIsDeadThenTheHandOverFailsAtOnceAndTheLeaderGoesOn() throws Exception {
    try (TestCluster cluster = new TestCluster(directory, 3, RaftSettings.defaults())) {
      int leader = cluster.awaitLeader();
      cluster.propose(leader, "before");
      int dead = (leader + 1) % 3;
      TestCluster.await(() -> cluster.members.get(dead).machine.applied().size() == 1);
      cluster.kill(dead);
      // At first it is not known to be dead.
      for (int i = 0; i < 3; i++) {
        assertThatThrownBy(() -> handOverAndAwait(cluster, leader, dead))
            .hasCauseInstanceOf(GroupFailure.class);
        cluster.propose(leader, "after " + i);
      }
      Thread.sleep(RaftSettings.defaults().electionTimeoutMinMillis());
      assertThat(cluster.replica(leader).transferLeadership("n" + dead, LONG_MILLIS))
          .isCompletedExceptionally();
      handOver(cluster, leader, (leader + 2) % 3);
    }
  }

  private static void handOverAndAwait(TestCluster cluster, int from, int to) throws Exception {
    cluster.replica(from).transferLeadership("n" + to, HAND_OVER_MILLIS).get(10, TimeUnit.SECONDS);
  }

  @Test
  void whenTheTargetCantBeAskedToStandThenThatIsANoAndNoFailure() throws Exception {
    try (TestCluster cluster = new TestCluster(directory, 3, RaftSettings.defaults())) {
      int leader = cluster.awaitLeader();
      int dead = (leader + 1) % 3;
      cluster.stop(dead);
      StartLeaderElectionRequestProto request =
          StartLeaderElectionRequestProto.newBuilder()
              .setServerRequest(
                  RaftRpcRequestProto.newBuilder()
                      .setReplyId(ByteString.copyFromUtf8("n" + dead))
                      .setRaftGroupId(ProtoUtils.toRaftGroupIdProtoBuilder(TestCluster.GROUP)))
              .build();
      assertThat(
              cluster
                  .members
                  .get(leader)
                  .node
                  .rpc()
                  .startLeaderElection(request)
                  .getServerReply()
                  .getSuccess())
          .isFalse();
    }
  }

  private static void handOver(TestCluster cluster, int from, int to) {
    var unused = cluster.replica(from).transferLeadership("n" + to, 2000);
    TestCluster.await(() -> cluster.replica(to).isLeader());
  }

  /** It reads under its lease again, for which another must wait that would lead. */
  @Test
  void whenTheHeirHearsOfItOnlyAfterItHasFailedThenTheLeaderStays() throws Exception {
    CountDownLatch wakesUp = new CountDownLatch(1);
    try (TestCluster cluster = new TestCluster(directory, 3, RaftSettings.defaults())) {
      int leader = cluster.awaitLeader();
      cluster.propose(leader, "before");
      cluster.awaitApplied(List.of("before"));
      long term = cluster.replica(leader).term();
      int transferTarget = (leader + 1) % 3;
      cluster.hang(transferTarget, wakesUp);
      var handedOver = cluster.replica(leader).transferLeadership("n" + transferTarget, 300);
      assertThatThrownBy(() -> handedOver.get(10, TimeUnit.SECONDS))
          .hasCauseInstanceOf(GroupFailure.class);
      wakesUp.countDown();
      cluster.propose(leader, "after");
      cluster.awaitApplied(List.of("before", "after"));
      Thread.sleep(500); // What had come meanwhile is handled by now.
      assertThat(cluster.replica(leader).term()).isEqualTo(term);
      cluster.replica(leader).barrier().get(10, TimeUnit.SECONDS);
    } finally {
      wakesUp.countDown();
    }
  }

  @Test
  void whenAnHeirHadLeaveToStandAndDidNotThenTheLeaderStepsDownAndAnotherIsElected()
      throws Exception {
    CountDownLatch wakesUp = new CountDownLatch(1);
    try (TestCluster cluster = new TestCluster(directory, 3, RaftSettings.defaults())) {
      int old = cluster.awaitLeader();
      cluster.propose(old, "before");
      cluster.awaitApplied(List.of("before"));
      RatisReplica leader = cluster.replica(old);
      long term = leader.term();
      int transferTarget = (old + 1) % 3;
      cluster.hang(transferTarget, wakesUp);
      var handedOver = leader.transferLeadership("n" + transferTarget, 300);
      assertThat(leader.member().handOver().take("n" + transferTarget, term)).isTrue();
      assertThatThrownBy(() -> handedOver.get(10, TimeUnit.SECONDS))
          .hasCauseInstanceOf(GroupFailure.class);
      TestCluster.await(() -> !(leader.isLeader() && leader.term() == term));
      int next = cluster.awaitLeader();
      assertThat(cluster.replica(next).term()).isGreaterThan(term);
      wakesUp.countDown();
      cluster.propose(next, "after");
      cluster.awaitApplied(List.of("before", "after"));
    } finally {
      wakesUp.countDown();
    }
  }

  @Test
  void whenAnHeirHasLeaveToStandThenTheLeaderReadsNoMoreInThatTerm() throws Exception {
    try (TestCluster cluster = new TestCluster(directory, 3, RaftSettings.defaults())) {
      RatisReplica leader = cluster.replica(cluster.awaitLeader());
      HandOver handOver = leader.member().handOver();
      assertThat(handOver.offer("n7", leader.term())).isTrue();
      assertThat(handOver.offer("n8", leader.term())).as("two at once").isFalse();
      TestCluster.awaitSure(leader);
      assertThat(handOver.take("n8", leader.term())).as("by another").isFalse();
      assertThat(handOver.take("n7", leader.term() + 1)).as("in another term").isFalse();
      TestCluster.awaitSure(leader);
      assertThat(handOver.take("n7", leader.term())).isTrue();
      assertThat(leader.leadsForSure()).isFalse();
      handOver.end();
      assertThatThrownBy(() -> leader.barrier().get(10, TimeUnit.SECONDS))
          .hasCauseInstanceOf(GroupFailure.class)
          .hasMessageContaining("handing over");
      assertThat(handOver.take("n7", leader.term())).as("when it has ended").isFalse();
    }
  }
}
