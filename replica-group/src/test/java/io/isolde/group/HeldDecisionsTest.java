// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.isolde.raft.GroupFailure;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The storage is emptied while a leader decides, and whoever asked for the decision is gone: what
 * it makes of the data from before must not be there afterwards.
 */
class HeldDecisionsTest {
  private static final int[] ALL = {};

  @TempDir private Path folder;

  private static void write(GroupNodes nodes, byte[] payload) {
    var unused =
        nodes
            .servers
            .get(nodes.leader())
            .client()
            .write(nodes.target(), ALL, payload, null)
            .orTimeout(90, TimeUnit.SECONDS)
            .join();
  }

  private static String decide(GroupNodes nodes, long number, Runnable meanwhile) {
    int leader = nodes.leader();
    List<String> seen = new ArrayList<>();
    ReplicaGroup.Decision<String> decision =
        new TestDecision() {
          @Override
          public ReplicaGroup.Outcome<String> decide() {
            seen.add(String.valueOf(nodes.storages.get(leader).get("k")));
            if (seen.size() == 1) {
              meanwhile.run();
            }
            byte[] payload = MemoryStorage.payload("k", "after " + seen.get(seen.size() - 1));
            return new ReplicaGroup.Outcome<>("done", payload, null);
          }
        };
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(90);
    return nodes.replica(leader).decide(new RequestId(9, number, 1), false, 1, deadline, decision);
  }

  @Test
  void whenAllIsEmptiedBetweenADecisionAndItsWriteThenItIsMadeAgain() throws Exception {
    try (GroupNodes nodes = new GroupNodes(folder)) {
      nodes.write(0, "k", "before");
      assertThat(decide(nodes, 1, () -> write(nodes, MemoryStorage.emptying()))).isEqualTo("done");
      assertThat(nodes.read(0, "k")).isEqualTo("after null");
    }
  }

  /** Also by another leader, and by one that has only the log. */
  @Test
  void whenTheLogHoldsDecisionsThenNoneIsAppliedBeforeAllIsEmptied() throws Exception {
    try (GroupNodes nodes = new GroupNodes(folder)) {
      nodes.write(0, "k", "before");
      assertThatThrownBy(() -> decide(nodes, 1, () -> write(nodes, MemoryStorage.holding())))
          .isInstanceOfSatisfying(
              GroupFailure.class,
              failure -> assertThat(failure.reason()).isEqualTo(GroupFailure.Reason.NOT_LEADER));
      int next = (nodes.leader() + 1) % GroupNodes.NODES;
      nodes.lead(next);
      assertThatThrownBy(() -> decide(nodes, 2, () -> {})).isInstanceOf(GroupFailure.class);
      nodes.write(next, "other", "blind");
      assertThat(nodes.read(next, "k")).isEqualTo("before");
      write(nodes, MemoryStorage.emptying());
      assertThat(decide(nodes, 3, () -> {})).isEqualTo("done");
      assertThat(nodes.read(next, "k")).isEqualTo("after null");
      for (MemoryStorage storage : nodes.storages) {
        GroupNodes.await(() -> "after null".equals(storage.get("k")));
        assertThat(storage.applied.values()).doesNotContain("k=after before");
      }
    }
  }

  @Test
  void whenAnEntryTakesLongThenNobodyIsHeldUpWhoAsksHowFarTheReplicaIs() throws Exception {
    try (GroupNodes nodes = new GroupNodes(folder)) {
      nodes.write(0, "k", "before");
      int slow = (nodes.leader() + 1) % GroupNodes.NODES;
      nodes.storages.get(slow).breakDown("It takes a while.");
      nodes.write(nodes.leader(), "k", "after");
      ReplicaGroup replica = nodes.replica(slow);
      GroupNodes.await(() -> replica.lagEntries() > 0);
      AtomicReference<CompletableFuture<Checkpoint>> answer = new AtomicReference<>();
      CompletableFuture<Void> asked =
          CompletableFuture.runAsync(() -> answer.set(replica.flushed()));
      GroupNodes.await(asked::isDone);
      assertThat(answer.get()).isNotDone();
      nodes.storages.get(slow).breakDown(null);
      assertThat(answer.get().get(90, TimeUnit.SECONDS).at().index()).isPositive();
    }
  }
}
