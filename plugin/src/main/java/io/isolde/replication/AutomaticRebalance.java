// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import static java.util.stream.Collectors.toMap;
import static java.util.stream.Collectors.toSet;

import com.google.common.collect.Sets;
import io.isolde.error.IsoldeException;
import io.isolde.group.CalmRing;
import io.isolde.group.Layout;
import io.isolde.peers.NewNames;
import io.isolde.peers.Ring;
import io.isolde.raft.Daemons;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.apache.cassandra.gms.Gossiper;
import org.apache.cassandra.locator.InetAddressAndPort;
import org.apache.cassandra.utils.NoSpamLogger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Moves replicas of strong keyspaces when nodes have joined or left, or are leaving, without a
 * command, and spreads their leaders; the latter also when nodes were down. The first node that is
 * up does it, a keyspace and a replica at a time.
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
            started::moveIfDue, LOOK_MILLIS, LOOK_MILLIS, TimeUnit.MILLISECONDS);
    return started;
  }

  private void moveIfDue() {
    try {
      // Also on other nodes than the first, so that each knows the ring when its turn comes.
      if (!keyspaces.all().isEmpty()) {
        CalmRing.Due due = calm.due(nowMillis(), look());
        if (due != CalmRing.Due.NOTHING && Ring.isFirstLiving()) {
          moveAll();
        }
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
  private CalmRing.Seen look() {
    Set<String> ids = new HashSet<>();
    Set<String> starts = new HashSet<>();
    for (Layout.Place place : KeyspaceStatements.ring()) {
      ids.add(place.member().id());
      starts.add(place.member().id() + " " + generation(place.member()));
    }
    Set<String> leaving = Ring.leaving();
    return new CalmRing.Seen(
        ids,
        leaving,
        starts,
        wishes(),
        Ring.living().containsAll(Sets.difference(Ring.members(), leaving)));
  }

  private Map<String, String> wishes() {
    return keyspaces.all().stream()
        .collect(toMap(StrongKeyspace::name, one -> one.options().replicas().toString()));
  }

  /** Which start of the node this node has heard of last; 0 if of none. */
  private static int generation(Layout.Member node) {
    InetAddressAndPort address = ReplicatedLogStrategy.address(node);
    return Gossiper.instance.getEndpointStateForEndpoint(address) == null
        ? 0
        : Gossiper.instance.getCurrentGenerationNumber(address);
  }

  private void moveAll() {
    for (String keyspace : new TreeSet<>(names())) {
      calm.moved(keyspace, move(keyspace, calm.due(keyspace)));
    }
    calm.ended(nowMillis(), names());
  }

  private Set<String> names() {
    return keyspaces.all().stream().map(StrongKeyspace::name).collect(toSet());
  }

  /** Returns what is left to do. */
  private CalmRing.Due move(String keyspace, CalmRing.Due due) {
    if (due == CalmRing.Due.NOTHING) {
      return due;
    }
    try {
      Optional<ReplicaMoves.Moved> moved =
          due == CalmRing.Due.REPLICAS
              ? moves.ifAlone(keyspace, Ring::leaving)
              : moves.spreadIfAlone(keyspace, Ring::leaving);
      moved.ifPresent(some -> log(keyspace, some));
      return moved.map(AutomaticRebalance::leftAfter).orElse(due);
    } catch (IsoldeException e) {
      if (keyspaces.find(keyspace).isPresent()) {
        logger.warn("Trying again later: {}", e.getMessage());
      }
      return due;
    }
  }

  private static CalmRing.Due leftAfter(ReplicaMoves.Moved moved) {
    return moved.isAll() ? CalmRing.Due.NOTHING : CalmRing.Due.LEADERS;
  }

  private static void log(String keyspace, ReplicaMoves.Moved moved) {
    if (moved.replicas() + moved.leaders() > 0) {
      logger.info(
          "Nodes have come or gone: {} replicas of {} have moved, and {} of its groups have another"
              + " leader",
          moved.replicas(),
          keyspace,
          moved.leaders());
    }
    if (!moved.isAll()) {
      logger.info(
          "The leaders of {} are not spread over all nodes that may lead: a member does not answer,"
              + " lags or compacts. isolde.group_replicas shows which; trying again later",
          keyspace);
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
