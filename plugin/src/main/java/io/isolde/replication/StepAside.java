// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import io.isolde.config.NodeClock;
import io.isolde.group.HandOverPolicy;
import io.isolde.group.HandOverPolicy.Reason;
import io.isolde.group.HandOverPolicy.Verdict;
import io.isolde.group.Layout;
import io.isolde.group.ReplicaGroup;
import io.isolde.raft.GroupFailure;
import io.isolde.raft.Peer;
import io.isolde.replication.LeadershipEvents.Work;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Hands the groups that this node leads over to others before work that would slow them down. It
 * does so where the policy wants that, and notes what was decided. Thread-safe: one after the
 * other.
 */
final class StepAside {
  private static final Logger logger = LoggerFactory.getLogger(StepAside.class);
  private static final long HAND_OVER_MILLIS = 3_000;

  private final StrongKeyspaces keyspaces;
  private final CoReplicas coReplicas;
  private final HandOverPolicy policy;
  private final LeadershipEvents events;

  StepAside(HandOverPolicy.Rules rules, StrongKeyspaces keyspaces, LeadershipEvents events) {
    this.keyspaces = keyspaces;
    this.coReplicas = new CoReplicas(keyspaces);
    this.policy = new HandOverPolicy(rules);
    this.events = events;
  }

  /** Before work that concerns all groups of this node. */
  void before(Work work) {
    for (StrongKeyspace keyspace : keyspaces.all()) {
      before(keyspace, work);
    }
  }

  /** Before work that concerns the groups of one keyspace. */
  synchronized void before(StrongKeyspace keyspace, Work work) {
    for (StrongKeyspaces.Shown shown : keyspaces.show()) {
      if (shown.keyspace().equals(keyspace.name())) {
        shown
            .replica()
            .filter(ReplicaGroup::isLeader)
            .ifPresent(replica -> before(keyspace, shown, replica, work));
      }
    }
  }

  private void before(
      StrongKeyspace keyspace, StrongKeyspaces.Shown shown, ReplicaGroup group, Work work) {
    Verdict verdict =
        policy.decide(
            NodeClock.nowMillis(),
            group.id(),
            work.bytes(),
            coReplicas.of(keyspace, group),
            PreferredLeaders.wanted(keyspace, shown.group(), group).stream().map(Peer::id).toList(),
            ThreadLocalRandom.current().nextInt());
    long startNanos = System.nanoTime();
    boolean hasFailed =
        verdict.reason() == Reason.HAND_OVER && handOver(group, verdict.to()) != HandedOver.DONE;
    events.add(
        NodeClock.nowMillis(),
        shown,
        work,
        verdict.reason(),
        verdict.to() == null ? null : address(shown, verdict.to()),
        hasFailed,
        verdict.reason() == Reason.HAND_OVER ? (System.nanoTime() - startNanos) / 1_000 : 0);
  }

  /** One that took the place of another is not in the layout, and goes by its id. */
  static String address(StrongKeyspaces.Shown shown, String id) {
    return shown.group().members().stream()
        .filter(member -> member.id().equals(id))
        .map(Layout.Member::address)
        .findFirst()
        .orElse(id);
  }

  /** What became of a hand-over. */
  enum HandedOver {
    /** The member leads in this node's place. */
    DONE,
    /** Nothing was done: for instance, members are changing. */
    REFUSED,
    /** It was begun, writes waited for it, and the member does not lead as far as is known. */
    FAILED
  }

  static HandedOver handOver(ReplicaGroup group, String to) {
    long startNanos = System.nanoTime();
    try {
      group
          .transferLeadership(to, HAND_OVER_MILLIS)
          .get(2 * HAND_OVER_MILLIS, TimeUnit.MILLISECONDS);
      return HandedOver.DONE;
    } catch (ExecutionException | TimeoutException e) {
      logger.info("{} could not take over group {}: {}", to, group.id(), e.toString());
      long tookMillis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNanos);
      return failed(e.getCause(), tookMillis);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return HandedOver.FAILED;
    }
  }

  /**
   * Ratis refuses what it does not begin and what it gives up, both in the same way. But the former
   * at once.
   *
   * @param cause null if there was no answer
   */
  static HandedOver failed(Throwable cause, long tookMillis) {
    return cause == null
            || GroupFailure.of(cause).reason().isOutcomeUnknown()
            || tookMillis >= HAND_OVER_MILLIS / 2
        ? HandedOver.FAILED
        : HandedOver.REFUSED;
  }
}
