// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.ratis;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.raft.RaftSettings;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The leader dies, and the follower whose turn is first misses an entry. */
class ShortLogTest {
  private static final RaftSettings PATIENT =
      RaftSettings.defaults().withElections(10_000, 20_000, 0.03);

  @TempDir Path directory;

  @Test
  void whenTheFirstInTurnHasTheShorterLogThenTheNextLeads() throws Exception {
    try (TestCluster cluster = new TestCluster(directory, 3, PATIENT)) {
      int old = cluster.awaitLeader();
      int first = old == 0 ? 1 : 0;
      int second = 3 - old - first;
      cluster.propose(old, "all have it");
      cluster.awaitApplied(List.of("all have it"));
      cluster.deafen(first);
      cluster.propose(old, "the first misses it");
      long term = cluster.replica(old).term();
      cluster.kill(old);
      TestCluster.await(() -> cluster.replica(second).term() > term);
      cluster.letHear(first);
      assertThat(cluster.awaitLeaderOtherThan(old)).isEqualTo(second);
      assertThat(cluster.replica(second).term()).as("nobody lost an election").isEqualTo(term + 1);
      assertThat(cluster.propose(second, "after")).isEqualTo("3");
    }
  }
}
