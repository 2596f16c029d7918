// SPDX-License-Identifier: Apache-2.0
package io.isolde.apply;

import java.util.Collection;
import java.util.List;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.locator.ReplicaPlan;
import org.apache.cassandra.tracing.Tracing;

/**
 * Whether the oracle's leader is asked to apply a commit, or its coordinator does it. A coordinator
 * elsewhere has to tell the leader that a commit is applied, which takes a round trip more, unless
 * the leader hears of it as a replica, with the writes: then nobody need do another's work.
 */
public final class WhoApplies {
  private final StrongTables strong;
  private final OutboundQueues queues;

  /**
   * @param strong the tables of strong keyspaces
   * @param queues to the other replicas
   */
  public WhoApplies(StrongTables strong, OutboundQueues queues) {
    this.strong = strong;
    this.queues = queues;
  }

  /**
   * Decides.
   *
   * @param plans one for each of the updates, as of {@link MutationApplier#check}
   * @param bytes of all of them together, about
   */
  public boolean isLeaderAsked(
      Collection<PartitionUpdate> updates, List<ReplicaPlan.ForWrite> plans, int bytes) {
    assert plans.size() == updates.size() : "one plan for each update";
    return bytes <= OutboundQueues.MAX_ITEM_BYTES
        && queues.isLeaderElsewhere()
        && !Tracing.isTracing()
        && !isReportedWithWrites(updates, plans);
  }

  /** Whether the leader hears with its part of the commit that all of it is applied. */
  private boolean isReportedWithWrites(
      Collection<PartitionUpdate> updates, List<ReplicaPlan.ForWrite> plans) {
    return !ApplyThreads.mayWait(updates)
        && updates.stream().noneMatch(this::isAppliedOtherwise)
        && plans.stream().allMatch(queues::isQuorumWithLeader);
  }

  private boolean isAppliedOtherwise(PartitionUpdate update) {
    return strong.isStrong(update.metadata().keyspace) || QuorumWrite.hasTriggers(update);
  }
}
