// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A follower that a compaction slows down, say, is always a little behind. */
class FollowerBehindTest {
  /** A few less than the file of a log has room for. */
  private static final int EARLIER = 50;

  @TempDir private Path folder;

  @Test
  void whenALeaderSavesItsStateThenAFollowerThatIsALittleBehindStillFindsItsLog() throws Exception {
    try (GroupNodes nodes = new GroupNodes(folder)) {
      int leader = nodes.leader();
      int behind = (leader + 1) % 3;
      for (int i = 0; i < EARLIER; i++) {
        write(nodes, leader, i);
      }
      long last = nodes.replica(leader).appliedIndex();
      GroupNodes.await(() -> nodes.replica(behind).appliedIndex() >= last);
      nodes.crash(behind);
      int more = EARLIER;
      while (nodes.replica(leader).markedIndex() <= last) {
        write(nodes, leader, more++);
      }
      for (int i = 0; i < EARLIER / 5; i++) { // Ratis drops files between two entries.
        write(nodes, leader, more++);
      }
      long now = nodes.replica(leader).appliedIndex();
      nodes.start(behind);
      GroupNodes.await(() -> nodes.replica(behind).appliedIndex() >= now);
      assertThat(nodes.storages.get(behind).copies.get()).isZero();
      assertThat(nodes.storages.get(behind).get("k" + (more - 1))).isNotNull();
    }
  }

  private static void write(GroupNodes nodes, int through, int number) throws Exception {
    nodes.write(through, "k" + number, "v".repeat(1000));
  }
}
