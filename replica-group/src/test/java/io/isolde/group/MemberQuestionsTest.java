// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.raft.GroupFailure;
import io.isolde.raft.Peer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MemberQuestionsTest {
  @TempDir private Path folder;

  @Test
  void whenAMemberIsAskedWhatItKnowsThenItAnswersWhetherItLeadsOrNot() throws Exception {
    try (GroupNodes nodes = new GroupNodes(folder)) {
      nodes.write(0, "k", "v");
      GroupClient client = nodes.servers.get(nodes.leader()).client();
      assertThat(client.members(nodes.target()))
          .extracting(Peer::id)
          .containsOnly("n0", "n1", "n2");
      for (Peer member : client.members(nodes.target())) {
        GroupNodes.await(() -> readAt(client, member).exceptionally(late -> "").join().equals("v"));
      }
      int other = (nodes.leader() + 1) % 3;
      nodes.crash(other);
      assertThat(readAt(client, nodes.peers.get(other)))
          .failsWithin(60, TimeUnit.SECONDS)
          .withThrowableOfType(ExecutionException.class)
          .withCauseInstanceOf(GroupFailure.class);
    }
  }

  private static CompletableFuture<String> readAt(GroupClient client, Peer member) {
    byte[] request = "k".getBytes(StandardCharsets.UTF_8);
    return client
        .readMember(GroupNodes.GROUP, member, request)
        .thenApply(bytes -> new String(bytes, StandardCharsets.UTF_8));
  }

  @Test
  void whenAnOperatorChoosesAMemberElsewhereThenOnlyThatOneIsToStay() throws Exception {
    try (GroupNodes nodes = new GroupNodes(folder)) {
      for (int chosen : new int[] {1, 2}) {
        var unused =
            nodes
                .servers
                .get(0)
                .client()
                .leadAndStay(nodes.target(), nodes.peers.get(chosen).address().getHostString())
                .get(60, TimeUnit.SECONDS);
        GroupNodes.await(() -> nodes.replica(chosen).isLeader());
        assertThat(nodes.replica(chosen).isToStay()).isTrue();
        assertThat(nodes.replica(chosen).isChangingMembers()).isFalse();
      }
      assertThat(nodes.replica(0).isToStay()).isFalse();
    }
  }
}
