// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import io.isolde.group.GroupClient;
import io.isolde.group.Layout;
import io.isolde.group.ReplicaGroup;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.cassandra.concurrent.ScheduledExecutors;

/** How the groups of a keyspace truncate a table: the first one decides, the others follow. */
final class GroupTruncations {
  private static final int[] NO_PARTITION = {};

  private final StrongKeyspace keyspace;

  GroupTruncations(StrongKeyspace keyspace) {
    this.keyspace = keyspace;
  }

  /** The group whose log decides. */
  GroupClient.Target first() {
    return keyspace.targets().get(0);
  }

  /** The groups that follow. */
  List<GroupClient.Target> others() {
    return keyspace.targets().subList(1, keyspace.targets().size());
  }

  /** Completes when the group's leader has applied it. Does not throw. */
  private CompletableFuture<Long> ask(GroupClient.Target group, Payload.Truncation truncation) {
    byte[] payload = Payload.encode(truncation);
    return CompletableFuture.completedFuture(group)
        .thenCompose(to -> keyspace.client().write(to, NO_PARTITION, payload, truncation));
  }

  /** Asks groups, and waits; returns those that may not have done it, with the reasons. */
  Map<GroupClient.Target, Throwable> askAll(
      Collection<GroupClient.Target> groups, Payload.Truncation truncation) {
    Map<GroupClient.Target, CompletableFuture<Long>> asked = new LinkedHashMap<>();
    groups.forEach(group -> asked.put(group, ask(group, truncation)));
    Map<GroupClient.Target, Throwable> failed = new LinkedHashMap<>();
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
    if (!keyspace.target(group).equals(first())) {
      return truncation -> {};
    }
    return new TruncationFinish(
            new TruncationFinish.Groups() {
              @Override
              public boolean isFirstLedHere() {
                return host.replica(first().group()).filter(ReplicaGroup::isLeader).isPresent();
              }

              @Override
              public CompletableFuture<?> truncate(Payload.Truncation truncation) {
                return CompletableFuture.allOf(
                    others().stream()
                        .map(other -> ask(other, truncation))
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
