// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A storage was emptied while a member was away, and so was the log that told of it. */
class EmptiedCopyTest {
  private static final int MANY = 300;

  @TempDir private Path folder;

  @Test
  void whenTheLogOfTheEmptyingIsGoneThenACopyTellsOfItAndSoDoesARestart() throws Exception {
    try (GroupNodes nodes = new GroupNodes(folder)) {
      int leader = nodes.leader();
      int away = (leader + 1) % 3;
      nodes.write(leader, "before", "v");
      long answered = nodes.replica(leader).appliedIndex();
      GroupNodes.await(() -> nodes.replica(away).appliedIndex() >= answered);
      var unused = nodes.storages.get(away).flush();
      nodes.crash(away);
      nodes
          .servers
          .get(leader)
          .client()
          .write(nodes.target(), new int[0], MemoryStorage.emptying(), null)
          .get(60, TimeUnit.SECONDS);
      for (int i = 0; i < MANY; i++) {
        nodes.write(leader, "k" + i, "v".repeat(1000));
      }
      GroupNodes.await(() -> nodes.replica(leader).markedIndex() > 100);
      assertThat(nodes.storages.get(away).get("before")).isEqualTo("v");
      long purged = nodes.replica(leader).appliedIndex();
      nodes.start(away);
      assertHasAllOf(nodes, away, purged);
      assertThat(nodes.storages.get(away).copies.get()).isPositive();
      nodes.crash(away);
      nodes.start(away);
      assertHasAllOf(nodes, away, purged);
    }
  }

  private static void assertHasAllOf(GroupNodes nodes, int member, long index) throws Exception {
    GroupNodes.await(() -> nodes.replica(member).appliedIndex() >= index);
    MemoryStorage storage = nodes.storages.get(member);
    assertThat(storage.get("before")).isNull();
    assertThat(storage.get("k0")).isNotNull();
    assertThat(storage.get("k" + (MANY - 1))).isNotNull();
  }
}
