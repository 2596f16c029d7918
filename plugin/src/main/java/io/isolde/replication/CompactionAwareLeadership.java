// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import io.isolde.config.StrongSettings;
import io.isolde.group.CompactionPermit;
import io.isolde.group.NodeLoad;
import io.isolde.group.ReplicaGroup;
import java.util.Optional;
import org.apache.cassandra.db.Keyspace;
import org.apache.cassandra.schema.Schema;

/**
 * What this node does so that leaders of replica groups are not slowed down: compactions in turns,
 * and hand-overs before them and before stalls. Nothing of that, if {@code leadership_policy} is
 * off. And whatever that is, leaders go where their keyspaces want them.
 */
public final class CompactionAwareLeadership {
  private final LeadershipEvents events = new LeadershipEvents();
  private final StrongKeyspaces keyspaces;
  private final Optional<CompactionPermits> compactions;
  private final Optional<StallWatch> stalls;
  private final PreferredLeaders preferred;

  CompactionAwareLeadership(StrongSettings settings, StrongKeyspaces keyspaces) {
    this.keyspaces = keyspaces;
    Optional<StepAside> stepAside =
        settings.isLeadershipCompactionAware()
            ? Optional.of(new StepAside(settings.leadership(), keyspaces, events))
            : Optional.empty();
    compactions = stepAside.map(others -> new CompactionPermits(settings, keyspaces, others));
    stalls = stepAside.map(StallWatch::new);
    preferred = new PreferredLeaders(keyspaces, settings.leadership().thresholdBytes(), events);
  }

  void start() {
    compactions.ifPresent(CompactionPermits::start);
    stalls.ifPresent(StallWatch::start);
    preferred.start();
  }

  /** What was decided about who leads. */
  public LeadershipEvents events() {
    return events;
  }

  /** Whether this node compacts heavily, or is about to, as far as that is Isolde's to say. */
  public CompactionPermit.State compactionPermit() {
    return compactions.map(CompactionPermits::permit).orElse(CompactionPermit.State.IDLE);
  }

  /** How many compactions of a keyspace this node has before it, as the strategies estimate. */
  public int compactionsPending(String keyspace) {
    Keyspace open = Schema.instance.getKeyspaceInstance(keyspace);
    return open == null
        ? 0
        : open.getColumnFamilyStores().stream()
            .mapToInt(t -> t.getCompactionStrategyManager().getEstimatedRemainingTasks())
            .sum();
  }

  /** What this node is busy with that leaders should not be. */
  NodeLoad load() {
    long busyBytes =
        compactions.map(CompactionPermits::busyBytes).orElse(0L)
            + stalls.map(StallWatch::busyBytes).orElse(0L);
    long sinceMillis = compactions.map(CompactionPermits::waitingSinceMillis).orElse(0L);
    return new NodeLoad(busyBytes, compactionPermit(), sinceMillis, isLeader());
  }

  /** Whether this node leads any group. */
  boolean isLeader() {
    return keyspaces.all().stream()
        .flatMap(keyspace -> keyspaces.replicas(keyspace).stream())
        .anyMatch(ReplicaGroup::isLeader);
  }

  void close() {
    compactions.ifPresent(CompactionPermits::close);
    stalls.ifPresent(StallWatch::close);
    preferred.close();
  }
}
