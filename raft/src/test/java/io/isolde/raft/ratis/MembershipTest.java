// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.ratis;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.raft.Peer;
import io.isolde.raft.RaftSettings;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Members come and go. */
class MembershipTest {
  @TempDir Path directory;

  @Test
  void whenAMemberIsAddedAndAnotherRemovedThenTheGroupGoesOn() throws Exception {
    try (TestCluster cluster = new TestCluster(directory, 3, RaftSettings.defaults())) {
      int leader = cluster.awaitLeader();
      cluster.propose(leader, "one");
      List<Peer> before = List.copyOf(cluster.peers);
      cluster.startStranger();
      cluster.replica(leader).setMembers(before, cluster.peers).get(15, TimeUnit.SECONDS);
      cluster.propose(leader, "two");
      cluster.awaitApplied(List.of("one", "two"));
      int removed = (leader + 1) % 3;
      List<Peer> left =
          cluster.peers.stream().filter(peer -> !peer.id().equals("n" + removed)).toList();
      cluster.replica(leader).setMembers(cluster.peers, left).get(15, TimeUnit.SECONDS);
      cluster.stop(removed);
      cluster.propose(leader, "three");
      cluster.awaitApplied(List.of("one", "two", "three"));
      assertThat(cluster.replica(leader).members()).containsExactlyInAnyOrderElementsOf(left);
    }
  }
}
