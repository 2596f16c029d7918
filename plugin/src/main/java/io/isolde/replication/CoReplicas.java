// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import io.isolde.group.MemberLoad;
import io.isolde.group.ReplicaGroup;
import io.isolde.raft.Peer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Asks the nodes with which this one shares replica groups what they are busy with. Who does not
 * answer in time is left out.
 */
final class CoReplicas {
  static final long ASK_MILLIS = 300;

  private final StrongKeyspaces keyspaces;

  CoReplicas(StrongKeyspaces keyspaces) {
    this.keyspaces = keyspaces;
  }

  /** The other members of a group. */
  List<MemberLoad> of(StrongKeyspace keyspace, ReplicaGroup group) {
    List<CompletableFuture<MemberLoad>> asked = new ArrayList<>();
    for (Peer member : group.members()) {
      if (!member.id().equals(keyspaces.selfId())) {
        asked.add(keyspace.client().load(group, member));
      }
    }
    return answers(asked);
  }

  /** The other members of all groups of this node, each asked once. */
  List<MemberLoad> all() {
    Map<String, CompletableFuture<MemberLoad>> asked = new HashMap<>();
    for (StrongKeyspace keyspace : keyspaces.all()) {
      for (ReplicaGroup group : keyspaces.replicas(keyspace)) {
        for (Peer member : group.members()) {
          if (!member.id().equals(keyspaces.selfId())) {
            asked.computeIfAbsent(member.id(), id -> keyspace.client().load(group, member));
          }
        }
      }
    }
    return answers(asked.values());
  }

  private static List<MemberLoad> answers(Collection<CompletableFuture<MemberLoad>> asked) {
    await(asked);
    return answered(asked);
  }

  /**
   * What members of several groups answer, in the order in which they were asked.
   *
   * @param asked waited for all together, so that silent ones do not take their time for each group
   */
  static Map<UUID, List<MemberLoad>> answers(Map<UUID, List<CompletableFuture<MemberLoad>>> asked) {
    await(asked.values().stream().flatMap(List::stream).toList());
    Map<UUID, List<MemberLoad>> answers = new HashMap<>();
    asked.forEach((group, members) -> answers.put(group, answered(members)));
    return answers;
  }

  private static void await(Collection<CompletableFuture<MemberLoad>> asked) {
    try {
      CompletableFuture.allOf(asked.toArray(CompletableFuture[]::new))
          .get(ASK_MILLIS, TimeUnit.MILLISECONDS);
    } catch (ExecutionException | TimeoutException e) {
      // Those that did not answer are left out.
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static List<MemberLoad> answered(Collection<CompletableFuture<MemberLoad>> asked) {
    return asked.stream()
        .filter(answer -> answer.isDone() && !answer.isCompletedExceptionally())
        .map(CompletableFuture::join)
        .toList();
  }
}
