// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How long followers do not have what the leader has answered. */
class FollowerProbeTest {
  private static final int LATE_MILLIS = 300;

  @TempDir Path folder;

  private record Seen(String follower, double least, double most) {}

  @Test
  void whenAFollowerAppliesLateThenTheLeaderMeasuresIt() throws Exception {
    try (GroupNodes nodes = new GroupNodes(folder)) {
      nodes.write(0, "k", "before");
      int leader = nodes.leader();
      int late = (leader + 1) % GroupNodes.NODES;
      List<Seen> seen = new CopyOnWriteArrayList<>();
      nodes
          .servers
          .get(leader)
          .measureFollowers(
              1, (group, follower, least, most) -> seen.add(new Seen(follower.id(), least, most)));
      long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(90);
      while (seen.stream().map(Seen::follower).distinct().count() < 2) {
        assertThat(System.nanoTime()).as("both were asked in time").isLessThan(deadline);
        nodes.write(leader, "k", "the first questions connect, and measure nothing");
      }
      seen.clear();
      nodes.storages.get(late).applyLate(LATE_MILLIS);
      for (int i = 0; i < 3; i++) {
        nodes.write(leader, "k", "v" + i);
      }
      GroupNodes.await(() -> seen.stream().filter(one -> isOf(one, late)).count() >= 3);
      assertThat(seen).allSatisfy(one -> assertThat(one.least()).isBetween(0.0, one.most()));
      assertThat(seen)
          .anyMatch(one -> isOf(one, late) && one.most() > LATE_MILLIS * 1e3 / 2)
          .anyMatch(one -> !isOf(one, late));
    }
  }

  private static boolean isOf(Seen one, int node) {
    return one.follower().equals("n" + node);
  }
}
