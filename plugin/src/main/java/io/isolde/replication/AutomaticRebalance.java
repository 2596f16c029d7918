// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import io.isolde.config.NodeClock;
import io.isolde.error.IsoldeException;
import io.isolde.group.CalmRing;
import io.isolde.group.Layout;
import io.isolde.peers.NewNames;
import io.isolde.peers.Ring;
import io.isolde.raft.Daemons;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Moves replicas of strong keyspaces when nodes have joined or left, or are leaving, without a
 * command. The first node that is up does it, a keyspace and a replica at a time.
 */
public final class AutomaticRebalance {
  private static final Logger logger = LoggerFactory.getLogger(AutomaticRebalance.class);
  private static final long LOOK_MILLIS = 1_000;

  private final StrongKeyspaces keyspaces;
  private final ReplicaMoves moves;
  private final CalmRing calm;
  private final ScheduledExecutorService thread =
      Executors.newSingleThreadScheduledExecutor(Daemons.named("isolde-rebalance"));

  private AutomaticRebalance(StrongKeyspaces keyspaces, NewNames oneAtATime, long calmMillis) {
    this.keyspaces = keyspaces;
    this.moves = new ReplicaMoves(keyspaces, oneAtATime);
    this.calm = new CalmRing(calmMillis);
  }

  /**
   * Starts looking at the ring.
   *
   * @param oneAtATime keeps two nodes from moving replicas at once
   * @param calmMillis how long the ring must have been the same before replicas move
   */
  public static AutomaticRebalance start(
      StrongKeyspaces keyspaces, NewNames oneAtATime, long calmMillis) {
    AutomaticRebalance started = new AutomaticRebalance(keyspaces, oneAtATime, calmMillis);
    var unused =
        started.thread.scheduleWithFixedDelay(
            started::look, LOOK_MILLIS, LOOK_MILLIS, TimeUnit.MILLISECONDS);
    return started;
  }

  private void look() {
    try {
      if (!keyspaces.all().isEmpty() && Ring.isFirstLiving()) {
        lookAt(KeyspaceStatements.ring().stream().map(Layout.Place::member).distinct().toList());
      }
    } catch (RuntimeException e) { // It would cancel the task.
      logger.warn("Replicas of strong keyspaces could not be moved; trying again", e);
      calm.failed(NodeClock.nowMillis());
    }
  }

  private void lookAt(List<Layout.Member> nodes) {
    Set<String> leaving = Ring.leaving();
    List<Layout.Member> staying =
        nodes.stream().filter(node -> !leaving.contains(ReplicaMoves.address(node))).toList();
    CalmRing.Seen seen =
        new CalmRing.Seen(
            nodes.stream().map(Layout.Member::id).collect(Collectors.toSet()),
            leaving,
            staying.stream().allMatch(MoveSteps::isUp));
    if (!calm.isDue(NodeClock.nowMillis(), seen)) {
      return;
    }
    for (StrongKeyspace keyspace :
        keyspaces.all().stream().sorted(Comparator.comparing(StrongKeyspace::name)).toList()) {
      if (!move(keyspace, nodes, leaving)) {
        calm.failed(NodeClock.nowMillis());
        return;
      }
    }
    calm.done();
  }

  private boolean move(StrongKeyspace keyspace, List<Layout.Member> nodes, Set<String> leaving) {
    try {
      int due = ReplicaMoves.due(keyspace, nodes, leaving).size();
      if (due > 0) {
        logger.info("The ring has changed: {} replicas of {} move", due, keyspace.name());
        int moved = moves.rebalance(keyspace.name(), leaving, 0);
        logger.info("{} replicas of {} have moved", moved, keyspace.name());
      }
      return true;
    } catch (IsoldeException e) {
      logger.warn("Replicas of {} did not move; trying again later", keyspace.name(), e);
      return false;
    }
  }

  /** Begins no more moves; the leader of a group ends one that is under way. */
  public void close() {
    thread.shutdownNow();
  }
}
