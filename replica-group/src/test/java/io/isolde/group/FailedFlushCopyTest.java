// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A flush of the leader has failed, so that a copy of its disk lacks rows that were answered. */
class FailedFlushCopyTest {
  private static final int MANY = 300;

  @TempDir private Path folder;

  @Test
  void whenALeadersFlushHasFailedThenNobodyGoesOnAfterACopyOfIt() throws Exception {
    try (GroupNodes nodes = new GroupNodes(folder)) {
      int leader = nodes.leader();
      int away = (leader + 1) % 3;
      int other = (leader + 2) % 3;
      nodes.crash(away);
      for (int i = 0; i < MANY; i++) {
        nodes.write(leader, "k" + i, "v".repeat(1000));
      }
      GroupNodes.await(() -> nodes.replica(leader).markedIndex() > 100);
      nodes.write(leader, "left out", "v");
      nodes.storages.get(leader).failToFlush();
      nodes.write(leader, "after", "v");
      long answered = nodes.replica(leader).appliedIndex();
      nodes.start(away);
      GroupNodes.await(
          () ->
              nodes.replica(away).appliedIndex() >= answered
                  || nodes.storages.get(leader).failedFlushes.get() > 0);
      var unused =
          nodes
              .servers
              .get(leader)
              .client()
              .lead(nodes.target(), nodes.peers.get(other).address().getHostString())
              .get(90, TimeUnit.SECONDS);
      GroupNodes.await(() -> nodes.replica(away).appliedIndex() >= answered);
      assertThat(nodes.storages.get(away).get("left out")).isEqualTo("v");
      assertThat(nodes.storages.get(away).get("after")).isEqualTo("v");
    }
  }
}
