// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A replica can't apply what comes next, for instance because a flush has failed. */
class StuckReplicaTest {
  @TempDir private Path folder;

  @Test
  void whenTheLeaderCantApplyThenAnotherLeadsAndThisOneSaysWhyUntilItCan() throws Exception {
    try (GroupNodes nodes = new GroupNodes(folder)) {
      nodes.write(0, "k", "before");
      int stuck = nodes.leader();
      int other = (stuck + 1) % GroupNodes.NODES;
      nodes.storages.get(stuck).breakDown("A flush has failed.");
      nodes.write(other, "k", "after"); // through another leader, within the time-out
      assertThat(nodes.leader()).isNotEqualTo(stuck);
      assertThat(nodes.read(other, "k")).isEqualTo("after");
      assertThat(nodes.replica(stuck).problem()).hasValue("A flush has failed.");
      assertThat(nodes.replica(stuck).isLeader()).isFalse();
      nodes.storages.get(stuck).breakDown(null);
      GroupNodes.await(() -> "after".equals(nodes.storages.get(stuck).get("k")));
      nodes.lead(stuck);
    }
  }

  @Test
  void whenAFollowerCantApplyThenItDoesNotTakeOver() throws Exception {
    try (GroupNodes nodes = new GroupNodes(folder)) {
      nodes.write(0, "k", "before");
      int leader = nodes.leader();
      int stuck = (leader + 1) % GroupNodes.NODES;
      int other = (leader + 2) % GroupNodes.NODES;
      nodes.storages.get(stuck).breakDown("A flush has failed.");
      nodes.write(other, "k", "after");
      GroupStateMachine machine = nodes.replica(stuck).machine;
      GroupNodes.await(() -> !machine.canApply());
      nodes.crash(leader);
      nodes.write(other, "k", "later");
      assertThat(nodes.leader()).isEqualTo(other);
    }
  }

  /** Or an operator could not move it away, nor stop the node. */
  @Test
  void whenAReplicaThatCantApplyIsStoppedThenItStopsAndCanStartAgain() throws Exception {
    try (GroupNodes nodes = new GroupNodes(folder)) {
      nodes.write(0, "k", "before");
      int stuck = (nodes.leader() + 1) % GroupNodes.NODES;
      MemoryStorage storage = nodes.storages.get(stuck);
      storage.breakDown("A flush has failed.");
      nodes.write((stuck + 1) % GroupNodes.NODES, "k", "after");
      GroupServer server = nodes.servers.get(stuck);
      GroupNodes.await(() -> server.group(GroupNodes.GROUP).orElseThrow().lagEntries() > 0);
      CompletableFuture<Void> stopped =
          CompletableFuture.runAsync(
              () -> {
                try {
                  server.stop(GroupNodes.GROUP);
                } catch (IOException e) {
                  throw new UncheckedIOException(e);
                }
              });
      GroupNodes.await(stopped::isDone);
      assertThat(stopped).isCompleted();
      storage.breakDown(null);
      server.openAgain(GroupNodes.GROUP, storage);
      GroupNodes.await(() -> "after".equals(storage.get("k")));
    }
  }
}
