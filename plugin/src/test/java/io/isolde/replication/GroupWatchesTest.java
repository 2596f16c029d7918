// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.oracle.group.Changes;
import io.isolde.raft.GroupFailure;
import io.isolde.raft.Peer;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class GroupWatchesTest {
  private static final Changes.Notification LOST = new Changes.Notification(List.of(), 9, true);
  private static final Changes.Notification LOST_TOO = new Changes.Notification(List.of(), 8, true);
  private static final Changes.Notification KNOWN = new Changes.Notification(List.of(7L), 7, false);

  private static final long AFTER = 3;
  private static final Changes.Notification COPIES =
      new Changes.Notification(List.of(), AFTER, false);
  private static final Changes.Notification QUIET =
      new Changes.Notification(List.of(), AFTER + 1, false);

  private final List<String> asked = new ArrayList<>();

  private Changes.Notification ask(
      Map<String, CompletableFuture<Changes.Notification>> members, String... order) {
    List<Peer> peers = new ArrayList<>();
    for (String name : order) {
      peers.add(new Peer(name, InetSocketAddress.createUnresolved(name, 1)));
    }
    return GroupWatches.firstThatKnows(
            LOST,
            AFTER,
            peers,
            peer -> {
              asked.add(peer.id());
              return members.get(peer.id());
            })
        .getNow(null);
  }

  @Test
  void whenALeaderHasForgottenThenTheFirstMemberThatKnowsAnswersAndNoFurtherOneIsAsked() {
    var members =
        Map.of(
            "leader", CompletableFuture.completedFuture(LOST_TOO),
            "hangs", GroupFailure.<Changes.Notification>future(GroupFailure.Reason.UNKNOWN, "."),
            "knows", CompletableFuture.completedFuture(KNOWN));
    assertThat(ask(members, "leader", "hangs", "knows", "further")).isEqualTo(KNOWN);
    assertThat(asked).containsExactly("leader", "hangs", "knows");
  }

  @Test
  void whenAMemberHasComeNoFurtherThenItDoesNotKnowWhetherThereWasAnything() {
    var members =
        Map.of(
            "copies", CompletableFuture.completedFuture(COPIES),
            "knows", CompletableFuture.completedFuture(QUIET));
    assertThat(ask(members, "copies", "knows")).isEqualTo(QUIET);
    assertThat(ask(members, "copies")).isEqualTo(LOST);
  }

  @Test
  void whenNoMemberKnowsThenWhatTheLeaderSaidStands() {
    var members =
        Map.of(
            "leader", CompletableFuture.completedFuture(LOST_TOO),
            "hangs", GroupFailure.<Changes.Notification>future(GroupFailure.Reason.UNKNOWN, "."));
    assertThat(ask(members, "leader", "hangs")).isEqualTo(LOST);
    assertThat(ask(Map.of())).isEqualTo(LOST);
  }
}
