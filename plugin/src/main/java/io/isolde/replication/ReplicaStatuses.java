// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import io.isolde.group.GroupClient;
import io.isolde.group.Layout;
import io.isolde.group.ReplicaGroup;
import io.isolde.group.ReplicaStatus;
import io.isolde.raft.Peer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;

/** Asks all members of all groups how they are doing, for operators. */
public final class ReplicaStatuses {
  private static final long ASK_MILLIS = 500;

  /** Of a large cluster only the first are asked; each is a message and a row. */
  private static final int MAX_ASKED = 4096;

  private ReplicaStatuses() {}

  /**
   * A member of a group.
   *
   * @param status empty if it did not answer in time, or has no replica
   * @param lagEntries of the log that are committed, as far as any member knows, and that it has
   *     not applied; empty if it did not answer
   */
  public record Member(
      String keyspace,
      int groupNumber,
      Peer peer,
      Optional<ReplicaStatus> status,
      OptionalLong lagEntries) {
    /** Whether it has nearly all that is committed. */
    boolean follows() {
      return status.isPresent() && status.get().follows(lagEntries.orElseThrow());
    }
  }

  private record Asked(
      String keyspace, int groupNumber, Peer peer, CompletableFuture<ReplicaStatus> answer) {
    Optional<ReplicaStatus> status() {
      return answer.isDone() && !answer.isCompletedExceptionally()
          ? Optional.of(answer.join())
          : Optional.empty();
    }

    Member member(long committedIndex) {
      Optional<ReplicaStatus> status = status();
      return new Member(
          keyspace,
          groupNumber,
          peer,
          status,
          status.isPresent()
              ? OptionalLong.of(Math.max(0, committedIndex - status.get().appliedIndex()))
              : OptionalLong.empty());
    }
  }

  /** Waits for half a second at most. */
  public static List<Member> all(StrongKeyspaces keyspaces) {
    return of(keyspaces, keyspaces.all());
  }

  /** Of one keyspace; waits for half a second at most. */
  static List<Member> of(StrongKeyspaces keyspaces, StrongKeyspace keyspace) {
    return of(keyspaces, List.of(keyspace));
  }

  private static List<Member> of(StrongKeyspaces keyspaces, Collection<StrongKeyspace> wanted) {
    List<List<Asked>> groups = new ArrayList<>();
    int asked = 0;
    for (StrongKeyspace keyspace : wanted) {
      for (Layout.Group group : keyspace.layout().groups()) {
        if (asked < MAX_ASKED) {
          groups.add(ask(keyspaces, keyspace, group));
          asked += group.members().size();
        }
      }
    }
    await(groups.stream().flatMap(List::stream).map(Asked::answer));
    return groups.stream().flatMap(ReplicaStatuses::members).toList();
  }

  /** Of its members by the log, if this node is one of them; else by the layout. */
  private static List<Asked> ask(
      StrongKeyspaces keyspaces, StrongKeyspace keyspace, Layout.Group group) {
    GroupClient.Target target = keyspace.target(group);
    List<Peer> members =
        keyspaces.replicas(keyspace).stream()
            .filter(replica -> replica.id().equals(target.group()))
            .findFirst()
            .map(ReplicaGroup::members)
            .orElse(target.members());
    return members.stream()
        .map(peer -> new Asked(keyspace.name(), group.number(), peer, ask(keyspace, target, peer)))
        .toList();
  }

  private static CompletableFuture<ReplicaStatus> ask(
      StrongKeyspace keyspace, GroupClient.Target target, Peer peer) {
    try {
      return keyspace.client().status(target.group(), peer);
    } catch (RuntimeException e) {
      return CompletableFuture.failedFuture(e); // This node has not started yet.
    }
  }

  private static Stream<Member> members(List<Asked> group) {
    long committed =
        group.stream()
            .flatMap(each -> each.status().stream())
            .mapToLong(ReplicaStatus::committedIndex)
            .max()
            .orElse(0);
    return group.stream().map(each -> each.member(committed));
  }

  private static void await(Stream<CompletableFuture<ReplicaStatus>> answers) {
    try {
      CompletableFuture.allOf(answers.toArray(CompletableFuture[]::new))
          .get(ASK_MILLIS, TimeUnit.MILLISECONDS);
    } catch (ExecutionException | TimeoutException e) {
      // Those that did not answer are shown without a status.
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
