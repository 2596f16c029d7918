// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.isolde.raft.Peer;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A replica goes from one node to another, with what may come between. */
class MoveTest {
  private static final int WRITES = 300;

  @TempDir Path folder;

  @Test
  void whenTheLeaderIsReplacedUnderLoadThenTheNewMemberHasAllAndNothingFails() throws Exception {
    try (GroupNodes nodes = new GroupNodes(folder)) {
      for (int i = 0; i < WRITES; i++) {
        nodes.write(0, "old" + i, "x".repeat(300));
      }
      int to = nodes.addOutsider();
      int from = nodes.leader();
      int through = (from + 1) % GroupNodes.NODES;
      AtomicBoolean isOver = new AtomicBoolean();
      AtomicReference<Exception> failure = new AtomicReference<>();
      Thread writer = new Thread(() -> writeUntil(nodes, through, isOver, failure));
      writer.start();
      move(nodes, through, from, to);
      isOver.set(true);
      writer.join();
      assertThat(failure.get()).isNull();
      assertThat(nodes.replica(through).members())
          .contains(nodes.peers.get(to))
          .doesNotContain(nodes.peers.get(from));
      nodes.membership(from).leaveIfOut(nodes.target());
      assertThat(nodes.servers.get(from).group(GroupNodes.GROUP)).isEmpty();
      nodes.write(from, "k", "after");
      GroupNodes.await(() -> "after".equals(nodes.storages.get(to).get("k")));
      for (int i = 0; i < WRITES; i++) {
        assertThat(nodes.storages.get(to).get("old" + i)).isNotNull();
      }
    }
  }

  private static void writeUntil(
      GroupNodes nodes, int through, AtomicBoolean isOver, AtomicReference<Exception> failure) {
    try {
      for (int i = 0; !isOver.get(); i++) {
        nodes.write(through, "k", "v" + i);
      }
    } catch (Exception e) {
      failure.set(e);
    }
  }

  private static void join(GroupNodes nodes, int through, int to) throws Exception {
    var unused =
        nodes
            .membership(through)
            .askToJoin(GroupNodes.GROUP, UUID.randomUUID(), nodes.peers.get(to))
            .get(30, TimeUnit.SECONDS);
  }

  private static void replace(GroupNodes nodes, int through, int from, Optional<Peer> next)
      throws Exception {
    var unused =
        nodes
            .membership(through)
            .replace(nodes.target(), nodes.peers.get(from).id(), next)
            .get(90, TimeUnit.SECONDS);
  }

  private static void move(GroupNodes nodes, int through, int from, int to) throws Exception {
    join(nodes, through, to);
    replace(nodes, through, from, Optional.of(nodes.peers.get(to)));
  }

  @Test
  void whenOneMoreMemberComesAndAnotherGoesUnderLoadThenNothingFails() throws Exception {
    try (GroupNodes nodes = new GroupNodes(folder)) {
      nodes.write(0, "old", "before");
      int to = nodes.addOutsider();
      int through = (nodes.leader() + 1) % GroupNodes.NODES;
      AtomicBoolean isOver = new AtomicBoolean();
      AtomicReference<Exception> failure = new AtomicReference<>();
      Thread writer = new Thread(() -> writeUntil(nodes, through, isOver, failure));
      writer.start();
      join(nodes, through, to);
      for (int i = 0; i < 2; i++) { // The second time it does nothing.
        var unused =
            nodes
                .membership(through)
                .takeIn(nodes.target(), nodes.peers.get(to))
                .get(90, TimeUnit.SECONDS);
      }
      assertThat(nodes.replica(through).members())
          .containsExactlyInAnyOrderElementsOf(nodes.peers.subList(0, GroupNodes.NODES + 1));
      assertThat(nodes.storages.get(to).get("old")).isEqualTo("before");
      int leader = nodes.leader();
      replace(nodes, through, leader, Optional.empty());
      isOver.set(true);
      writer.join();
      assertThat(failure.get()).isNull();
      assertThat(nodes.replica(through).members())
          .hasSize(GroupNodes.NODES)
          .doesNotContain(nodes.peers.get(leader));
    }
  }

  @Test
  void whenTheNewMemberStopsBeforeItIsTakenInThenItGoesOnWhenItIsBack() throws Exception {
    try (GroupNodes nodes = new GroupNodes(folder)) {
      nodes.write(0, "k", "before");
      int to = nodes.addOutsider();
      int from = (nodes.leader() + 1) % GroupNodes.NODES;
      join(nodes, 0, to);
      nodes.crash(to);
      nodes.startOutsider(to);
      assertThat(nodes.servers.get(to).group(GroupNodes.GROUP)).isPresent();
      replace(nodes, nodes.leader(), from, Optional.of(nodes.peers.get(to)));
      move(nodes, nodes.leader(), from, to); // Once more does no harm.
      nodes.write(0, "k", "after");
      GroupNodes.await(() -> "after".equals(nodes.storages.get(to).get("k")));
      nodes.servers.get(to).joined(GroupNodes.GROUP);
      assertThat(nodes.notes(to).isJoining(GroupNodes.GROUP)).isFalse();
      nodes.crash(to);
      nodes.startOutsider(to);
      GroupNodes.await(() -> "after".equals(nodes.storages.get(to).get("k")));
    }
  }

  @Test
  void whenWhoShallGoIsNoMemberThenItIsRefused() throws Exception {
    try (GroupNodes nodes = new GroupNodes(folder)) {
      nodes.write(0, "k", "before");
      Optional<Peer> stranger = Optional.of(new Peer("stranger", nodes.peers.get(0).address()));
      assertThatThrownBy(
              () ->
                  nodes
                      .membership(0)
                      .replace(nodes.target(), "nobody", stranger)
                      .get(30, TimeUnit.SECONDS))
          .hasMessageContaining("nobody is no member");
    }
  }

  @Test
  void whenALayoutForgetsAMemberThenItStays() throws Exception {
    try (GroupNodes nodes = new GroupNodes(folder)) {
      nodes.write(0, "k", "before");
      nodes.membership(0).leaveIfOut(nodes.target());
      join(nodes, 1, 0); // It is one already.
      assertThat(nodes.replica(0).members()).containsExactlyInAnyOrderElementsOf(nodes.peers);
      GroupNodes.await(() -> "before".equals(nodes.storages.get(0).get("k")));
    }
  }

  @Test
  void whenNobodySaysThatAMemberIsOutThenItStays() throws Exception {
    try (GroupNodes nodes = new GroupNodes(folder, 15_000)) {
      nodes.write(0, "k", "before");
      nodes.crash(1);
      nodes.crash(2);
      assertThatThrownBy(() -> nodes.membership(0).leaveIfOut(nodes.target()))
          .isInstanceOf(IOException.class);
      assertThat(nodes.servers.get(0).group(GroupNodes.GROUP)).isPresent();
    }
  }

  @Test
  void whenAllHaveMovedThenWhoeverHasTheOldLayoutFindsThem() throws Exception {
    try (GroupNodes nodes = new GroupNodes(folder)) {
      nodes.write(0, "k", "before");
      for (int from = 0; from < GroupNodes.NODES; from++) {
        move(nodes, from, from, nodes.addOutsider());
        nodes.membership(from).leaveIfOut(nodes.target());
        assertThat(nodes.servers.get(from).group(GroupNodes.GROUP)).isEmpty();
      }
      for (int through = 0; through < nodes.peers.size(); through++) {
        nodes.write(through, "k", "through " + through);
        assertThat(nodes.read(through, "k")).isEqualTo("through " + through);
      }
      for (int number = 0; number < GroupNodes.NODES; number++) {
        nodes.crash(number);
        nodes.start(number); // as an initial member, by the old layout
        assertThat(nodes.servers.get(number).group(GroupNodes.GROUP)).isEmpty();
      }
      assertThat(nodes.read(0, "k")).isEqualTo("through " + (nodes.peers.size() - 1));
    }
  }

  @Test
  void whenOneWasAwayWhileAllWereReplacedThenItLearnsThatItIsOut() throws Exception {
    try (GroupNodes nodes = new GroupNodes(folder)) {
      nodes.write(0, "k", "before");
      int away = (nodes.leader() + 1) % GroupNodes.NODES;
      nodes.crash(away);
      List<Peer> now = new ArrayList<>();
      for (int from = 0; from < GroupNodes.NODES; from++) {
        int to = nodes.addOutsider();
        move(nodes, to, from, to);
        now.add(nodes.peers.get(to));
      }
      for (int gone = 0; gone < GroupNodes.NODES; gone++) {
        if (gone != away) {
          nodes.crash(gone); // for ever: it was decommissioned
        }
      }
      nodes.startOutsider(away);
      assertThat(nodes.servers.get(away).group(GroupNodes.GROUP)).isPresent();
      nodes.membership(away).leaveIfOut(new GroupClient.Target(GroupNodes.GROUP, now));
      assertThat(nodes.servers.get(away).group(GroupNodes.GROUP)).isEmpty();
      nodes.write(away, "k", "after");
    }
  }

  @Test
  void whenALayoutNamesWhoIsOnlyJoiningThenItIsNotYetAMember() throws Exception {
    try (GroupNodes nodes = new GroupNodes(folder)) {
      nodes.write(0, "k", "before");
      int to = nodes.addOutsider();
      join(nodes, 0, to);
      nodes.servers.get(to).joined(GroupNodes.GROUP); // by a layout from long ago
      assertThat(nodes.notes(to).isJoining(GroupNodes.GROUP)).isTrue();
      nodes.membership(to).leaveIfOut(nodes.target()); // Somebody may be taking it in.
      assertThat(nodes.servers.get(to).group(GroupNodes.GROUP)).isPresent();
    }
  }

  @Test
  void whenAReplicaComesBackThenWhatItHadIsGoneFirst() throws Exception {
    try (GroupNodes nodes = new GroupNodes(folder)) {
      nodes.write(0, "k", "before");
      int other = nodes.addOutsider();
      int from = (nodes.leader() + 1) % GroupNodes.NODES;
      GroupNodes.await(() -> "before".equals(nodes.storages.get(from).get("k")));
      move(nodes, other, from, other);
      nodes.storages.get(from).apply(MemoryStorage.payload("deleted", "still there"), null, 2);
      move(nodes, other, other, from); // It has not noticed that it was out.
      assertThat(nodes.storages.get(from).get("deleted")).isNull();
      nodes.write(other, "k", "after");
      GroupNodes.await(() -> "after".equals(nodes.storages.get(from).get("k")));
    }
  }

  @Test
  void whenAMemberIsOneTooManyThenItGoesAndTheLastOneDoesNot() throws Exception {
    try (GroupNodes nodes = new GroupNodes(folder)) {
      nodes.write(0, "k", "before");
      int stays = nodes.leader();
      List<Integer> others =
          List.of((stays + 1) % GroupNodes.NODES, (stays + 2) % GroupNodes.NODES);
      for (int other : others) {
        replace(nodes, stays, other, Optional.empty());
      }
      assertThat(nodes.replica(stays).members()).containsExactly(nodes.peers.get(stays));
      assertThatThrownBy(() -> replace(nodes, stays, stays, Optional.empty()))
          .hasMessageContaining("is the only member");
      nodes.write(stays, "k", "after");
    }
  }
}
