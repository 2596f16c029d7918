// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import io.isolde.config.NodeClock;
import io.isolde.group.HandOverPolicy.Reason;
import io.isolde.group.Layout;
import io.isolde.group.LeaderPreference;
import io.isolde.group.MemberLoad;
import io.isolde.group.ReplicaGroup;
import io.isolde.raft.Daemons;
import io.isolde.raft.Peer;
import io.isolde.replication.LeadershipEvents.Cause;
import io.isolde.replication.LeadershipEvents.Work;
import io.isolde.replication.StepAside.HandedOver;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.apache.cassandra.locator.InetAddressAndPort;
import org.apache.cassandra.service.ClientWarn;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Hands groups that this node leads to members in the datacenter where their keyspace wants
 * leaders, one after the other. In a round, members are asked all at once. Asks nobody as long as
 * all of them are led there.
 */
final class PreferredLeaders {
  private static final Logger logger = LoggerFactory.getLogger(PreferredLeaders.class);

  /** In a round, no hand-over starts later than this after the first. */
  private static final long MAX_ROUND_NANOS = TimeUnit.SECONDS.toNanos(5);

  private final StrongKeyspaces keyspaces;
  private final LeadershipEvents events;
  private final LeaderPreference preference;
  private final ScheduledExecutorService thread =
      Executors.newSingleThreadScheduledExecutor(Daemons.named("isolde-preferred-leaders"));

  PreferredLeaders(StrongKeyspaces keyspaces, long thresholdBytes, LeadershipEvents events) {
    this.keyspaces = keyspaces;
    this.events = events;
    this.preference = new LeaderPreference(thresholdBytes);
  }

  void start() {
    long millis = LeaderPreference.LOOK_MILLIS;
    var unused = thread.scheduleWithFixedDelay(this::look, millis, millis, TimeUnit.MILLISECONDS);
  }

  /** A group that this node leads, and its keyspace wants leaders elsewhere. */
  private record Led(StrongKeyspaces.Shown shown, ReplicaGroup replica, List<Peer> wanted) {}

  private void look() {
    try {
      List<StrongKeyspaces.Shown> all = keyspaces.show();
      preference.startRound(all.stream().map(one -> one.target().group()).toList());
      Map<UUID, List<CompletableFuture<MemberLoad>>> asked = new HashMap<>();
      List<Led> led = new ArrayList<>();
      for (StrongKeyspaces.Shown shown : all) {
        StrongKeyspace keyspace = keyspaces.find(shown.keyspace()).orElse(null);
        ReplicaGroup replica = shown.replica().filter(ReplicaGroup::isLeader).orElse(null);
        if (keyspace != null && replica != null && isWantedElsewhere(keyspace)) {
          List<Peer> wanted = wanted(keyspace, shown.group(), replica);
          led.add(new Led(shown, replica, wanted));
          asked.put(
              replica.id(),
              wanted.stream().map(peer -> keyspace.client().load(replica, peer)).toList());
        }
      }
      if (!led.isEmpty()) {
        look(led, CoReplicas.answers(asked));
      }
    } catch (RuntimeException e) { // It would cancel the task.
      logger.error("Groups may be led elsewhere than where leaders are wanted; trying again", e);
    }
  }

  private static boolean isWantedElsewhere(StrongKeyspace keyspace) {
    Optional<String> wanted = keyspace.options().replicas().leaders();
    return wanted.isPresent() && !wanted.get().equals(NodeLocations.ownDatacenter());
  }

  /** The members that rather lead than others; none while an operator wants this node to lead. */
  static List<Peer> wanted(StrongKeyspace keyspace, Layout.Group group, ReplicaGroup replica) {
    return replica.isToStay()
        ? List.of()
        : NodeLocations.whereLeadersAreWanted(
            keyspace.options().replicas().leaders(), group, replica.members());
  }

  /** First looks at all, since what the members have answered becomes old while one moves. */
  private void look(List<Led> groups, Map<UUID, List<MemberLoad>> answers) {
    long nowMillis = NodeClock.nowMillis();
    Map<UUID, String> chosen = new HashMap<>();
    for (Led led : groups) {
      ReplicaGroup replica = led.replica();
      preference
          .look(nowMillis, replica.id(), replica.appliedIndex(), answers.get(replica.id()))
          .ifPresent(to -> chosen.put(replica.id(), to));
    }
    long startNanos = System.nanoTime();
    groups.stream()
        .filter(led -> chosen.containsKey(led.replica().id()))
        .filter(led -> !led.replica().isChangingMembers())
        // Those that fail each time must not use up the time of the others.
        .sorted(Comparator.comparingLong(led -> preference.triedMillis(led.replica().id())))
        .takeWhile(led -> System.nanoTime() - startNanos < MAX_ROUND_NANOS)
        .forEach(led -> handOver(led, chosen.get(led.replica().id())));
  }

  private void handOver(Led led, String to) {
    long startNanos = System.nanoTime();
    HandedOver result = StepAside.handOver(led.replica(), to);
    long nowMillis = NodeClock.nowMillis();
    preference.tried(nowMillis, led.replica().id(), result == HandedOver.REFUSED);
    events.add(
        nowMillis,
        led.shown(),
        new Work(Cause.DATACENTER, null, 0),
        Reason.HAND_OVER,
        address(led, to),
        result != HandedOver.DONE,
        (System.nanoTime() - startNanos) / 1_000);
  }

  private static String address(Led led, String id) {
    return led.wanted().stream()
        .filter(peer -> peer.id().equals(id))
        .map(peer -> NodeLocations.endpoint(peer.address().getHostString()))
        .map(InetAddressAndPort::getHostAddressAndPort)
        .findFirst()
        .orElse(id);
  }

  /**
   * Warns the client if a node is elsewhere than where a keyspace wants leaders.
   *
   * @param address of the node
   * @return whether it is
   */
  static boolean warnIfElsewhere(StrongKeyspace keyspace, String address) {
    Optional<String> wanted = keyspace.options().replicas().leaders();
    if (wanted.isEmpty() || NodeLocations.datacenter(address).equals(wanted.get())) {
      return false;
    }
    ClientWarn.instance.warn(
        ("%s is not in datacenter '%s', where %s wants its leaders. Groups that it leads now go back"
                + " there after 10 minutes.")
            .formatted(address, wanted.get(), keyspace.name()));
    return true;
  }

  void close() {
    thread.shutdown();
  }
}
