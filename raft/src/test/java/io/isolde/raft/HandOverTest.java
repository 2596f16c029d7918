// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
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
        long start = System.nanoTime();
        var unused = cluster.replica(leader).transferLeadership("n" + next, 2000);
        TestCluster.await(() -> cluster.replica(next).isLeader());
        long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
        cluster.propose(next, "y" + round);
        expected.add("y" + round);
        System.out.println(
            "MEASURED hand-over "
                + millis
                + " ms, with the next commit "
                + TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start)
                + " ms");
        leader = next;
      }
      cluster.awaitApplied(expected);
      assertThat(cluster.replica(leader).isLeader()).isTrue();
    }
  }
}
