// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import com.google.common.collect.Sets;
import io.isolde.error.IsoldeException;
import io.isolde.group.CalmRing;
import io.isolde.peers.NewNames;
import io.isolde.peers.Ring;
import io.isolde.raft.Daemons;
import java.util.Comparator;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.apache.cassandra.utils.NoSpamLogger;
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
      // Also on other nodes than the first, so that each knows the ring when its turn comes.
      if (!keyspaces.all().isEmpty() && calm.isDue(nowMillis(), seen()) && Ring.isFirstLiving()) {
        moveAll();
      }
    } catch (RuntimeException | Error e) { // It would cancel the task.
      NoSpamLogger.log(
          logger,
          NoSpamLogger.Level.WARN,
          1,
          TimeUnit.MINUTES,
          "Replicas of strong keyspaces could not be moved; trying again",
          e);
      calm.failed(nowMillis());
    }
  }

  /** By ids, since a node may take the place and the address of another. */
  private static CalmRing.Seen seen() {
    Set<String> ids =
        KeyspaceStatements.ring().stream()
            .map(place -> place.member().id())
            .collect(Collectors.toSet());
    Set<String> leaving = Ring.leaving();
    return new CalmRing.Seen(
        ids, leaving, Ring.living().containsAll(Sets.difference(Ring.members(), leaving)));
  }

  private void moveAll() {
    boolean isDone = true;
    for (StrongKeyspace keyspace :
        keyspaces.all().stream().sorted(Comparator.comparing(StrongKeyspace::name)).toList()) {
      isDone &= move(keyspace.name());
    }
    if (isDone) {
      calm.done();
    } else {
      calm.failed(nowMillis());
    }
  }

  /** If another node does it, that is as good; and if it dies, the ring changes. */
  private boolean move(String keyspace) {
    try {
      Optional<Integer> moved = moves.ifAlone(keyspace, Ring::leaving);
      if (moved.orElse(0) > 0) {
        logger.info("The ring has changed: {} replicas of {} have moved", moved.get(), keyspace);
      }
      return true;
    } catch (IsoldeException e) {
      boolean isDropped = keyspaces.find(keyspace).isEmpty();
      if (!isDropped) {
        logger.warn("Trying again later: {}", e.getMessage());
      }
      return isDropped;
    }
  }

  /** No clock that is set makes it earlier or later. */
  private static long nowMillis() {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime());
  }

  /** Begins no more moves; the leader of a group ends one that is under way. */
  public void close() {
    thread.shutdownNow();
  }
}
