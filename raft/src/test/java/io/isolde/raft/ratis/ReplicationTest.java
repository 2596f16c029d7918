// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.ratis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.isolde.raft.GroupFailure;
import io.isolde.raft.RaftSettings;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What three healthy nodes do. */
class ReplicationTest {
  @TempDir Path directory;

  @Test
  void whenTheLeaderCommitsThenAllApplyInOrder() throws Exception {
    try (TestCluster cluster = new TestCluster(directory, 3, RaftSettings.defaults())) {
      int leader = cluster.awaitLeader();
      List<String> expected = new ArrayList<>();
      for (int i = 1; i <= 30; i++) {
        assertThat(cluster.propose(leader, "x" + i)).isEqualTo(String.valueOf(i));
        expected.add("x" + i);
      }
      cluster.awaitApplied(expected);
      cluster.replica(leader).barrier().get(5, TimeUnit.SECONDS);
      int follower = (leader + 1) % 3;
      TestCluster.await(() -> cluster.replica(follower).leader().isPresent());
      assertThat(cluster.replica(follower).leader()).contains(cluster.peers.get(leader));
      assertThatThrownBy(() -> cluster.propose(follower, "no"))
          .isInstanceOfSatisfying(
              GroupFailure.class,
              failure -> {
                assertThat(failure.reason()).isEqualTo(GroupFailure.Reason.NOT_LEADER);
                assertThat(failure.leader()).contains(cluster.peers.get(leader));
              });
      assertThatThrownBy(() -> cluster.replica(follower).barrier().get(5, TimeUnit.SECONDS))
          .hasCauseInstanceOf(GroupFailure.class);
      cluster.awaitApplied(expected);
    }
  }

  @Test
  void whenAllRestartThenNothingIsLost() throws Exception {
    try (TestCluster cluster = new TestCluster(directory, 3, RaftSettings.defaults())) {
      cluster.propose(cluster.awaitLeader(), "before");
      cluster.awaitApplied(List.of("before"));
      for (int i = 0; i < 3; i++) {
        cluster.stop(i);
      }
      for (int i = 0; i < 3; i++) {
        cluster.start(i, cluster.peers);
      }
      assertThat(cluster.propose(cluster.awaitLeader(), "after")).isEqualTo("2");
      cluster.awaitApplied(List.of("before", "after"));
    }
  }
}
