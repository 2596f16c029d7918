// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Planned changes of the leader. */
class HandOverTest {
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
}
