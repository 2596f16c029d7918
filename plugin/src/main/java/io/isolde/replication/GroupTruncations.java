// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import io.isolde.group.GroupClient;
import io.isolde.group.Layout;
import io.isolde.group.ReplicaGroup;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.apache.cassandra.concurrent.ScheduledExecutors;

/** How the groups of a keyspace truncate a table: the first one decides, the others follow. */
final class GroupTruncations {
  /** So that decisions under way are made again. */
  private static final int[] ALL_PARTITIONS = {};

  private final StrongKeyspace keyspace;

  /** What follows what. */
  enum Step {
    /** The group whose log decides. */
    FIRST,
    /** The groups that follow. */
    OTHERS
  }

  GroupTruncations(StrongKeyspace keyspace) {
    this.keyspace = keyspace;
  }

  private List<GroupClient.Target> groups(Step step) {
    List<GroupClient.Target> all = keyspace.now().targets();
    return step == Step.FIRST ? all.subList(0, 1) : all.subList(1, all.size());
  }

  /** Completes when the group's leader has applied it. Does not throw. */
  private CompletableFuture<Long> askOne(GroupClient.Target group, Payload.Truncation truncation) {
    byte[] payload = Payload.encode(truncation);
    return CompletableFuture.completedFuture(group)
        .thenCompose(to -> keyspace.client().write(to, ALL_PARTITIONS, payload, truncation));
  }

  /**
   * Asks groups, and waits.
   *
   * @param which of those whose turn it is
   * @return those that may not have done it, with the reasons
   */
  Map<UUID, Throwable> ask(Step step, Payload.Truncation truncation, Predicate<UUID> which) {
    Map<UUID, CompletableFuture<Long>> asked = new LinkedHashMap<>();
    for (GroupClient.Target group : groups(step)) {
      if (which.test(group.group())) {
        asked.put(group.group(), askOne(group, truncation));
      }
    }
    Map<UUID, Throwable> failed = new LinkedHashMap<>();
    asked.forEach(
        (group, answer) -> {
          try {
            var unused = answer.join();
          } catch (CompletionException e) {
            failed.put(group, e.getCause());
          }
        });
    return failed;
  }

  /** What a replica of this node does when it has truncated a table. */
  Consumer<Payload.Truncation> after(Layout.Group group, GroupHost host) {
    UUID first = groups(Step.FIRST).get(0).group();
    if (!keyspace.target(group).group().equals(first)) {
      return truncation -> {};
    }
    return new TruncationFinish(
            new TruncationFinish.Groups() {
              @Override
              public boolean isFirstLedHere() {
                return host.replica(first).filter(ReplicaGroup::isLeader).isPresent();
              }

              @Override
              public CompletableFuture<?> truncate(Payload.Truncation truncation) {
                return CompletableFuture.allOf(
                    groups(Step.OTHERS).stream()
                        .map(other -> askOne(other, truncation))
                        .toArray(CompletableFuture[]::new));
              }
            },
            GroupTruncations::schedule)
        ::later;
  }

  private static void schedule(long millis, Runnable task) {
    try {
      var unused = ScheduledExecutors.optionalTasks.schedule(task, millis, TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException e) {
      // The node stops.
    }
  }
}
