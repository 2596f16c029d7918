// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.toList;

import io.isolde.group.GroupClient;
import io.isolde.group.LeaderSpread;
import io.isolde.group.ReplicaStatus;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.apache.cassandra.gms.FailureDetector;

/** Lets the nodes lead about equally many groups of a keyspace, where it wants its leaders. */
final class LeaderMoves {
  private final StrongKeyspaces keyspaces;
  private final StrongKeyspace keyspace;
  private final Set<String> excluded;
  private final List<LeaderSpread.Led> led = new ArrayList<>();
  private final Map<String, String> hosts = new HashMap<>();
  private boolean isAll = true;

  /**
   * Leaders of a keyspace as it is now.
   *
   * @param excluded addresses of nodes that must not lead
   */
  LeaderMoves(StrongKeyspaces keyspaces, StrongKeyspace keyspace, Set<String> excluded) {
    this.keyspaces = keyspaces;
    this.keyspace = keyspace;
    this.excluded = excluded;
  }

  /**
   * What was done.
   *
   * @param moved how many groups have got another leader
   * @param isAll whether each member that may lead was able to
   */
  record Spread(int moved, boolean isAll) {}

  /**
   * Hands groups over, one after the other, to members that can take over now. A group of which
   * nobody says that it leads keeps its leader.
   *
   * @throws IOException if another node may be moving replicas or leaders by now
   */
  Spread spread(MoveSteps steps) throws IOException {
    Map<Integer, List<ReplicaStatuses.Member>> groups =
        ReplicaStatuses.of(keyspaces, keyspace).stream()
            .collect(groupingBy(ReplicaStatuses.Member::groupNumber, TreeMap::new, toList()));
    groups.forEach(this::look);
    int moved = 0;
    for (LeaderSpread.Transfer transfer : LeaderSpread.of(led)) {
      GroupClient.Target target = keyspace.targets().get(transfer.group());
      boolean isMoved = steps.lead(keyspace.client(), target, hosts.get(transfer.to()));
      moved += isMoved ? 1 : 0;
      isAll &= isMoved;
    }
    return new Spread(moved, isAll);
  }

  private void look(int group, List<ReplicaStatuses.Member> members) {
    List<ReplicaStatuses.Member> leaders =
        members.stream().filter(member -> hasRole(member, ReplicaStatus.Role.LEADER)).toList();
    if (leaders.size() != 1) {
      isAll = false;
      return;
    }
    List<ReplicaStatuses.Member> wanted = wanted(members);
    List<ReplicaStatuses.Member> candidates = wanted.stream().filter(LeaderMoves::canLead).toList();
    isAll &= candidates.size() == wanted.size();
    candidates.forEach(member -> hosts.put(member.peer().id(), host(member)));
    led.add(
        new LeaderSpread.Led(
            group,
            leaders.get(0).peer().id(),
            candidates.stream().map(member -> member.peer().id()).toList()));
  }

  /** In the datacenter where the keyspace wants its leaders, if one of them is up there. */
  private List<ReplicaStatuses.Member> wanted(List<ReplicaStatuses.Member> members) {
    List<ReplicaStatuses.Member> up =
        members.stream()
            .filter(member -> !excluded.contains(host(member)) && isUp(member))
            .toList();
    Optional<String> datacenter = keyspace.options().replicas().leaders();
    List<ReplicaStatuses.Member> there =
        up.stream()
            .filter(
                member -> datacenter.equals(Optional.of(NodeLocations.datacenter(host(member)))))
            .toList();
    return there.isEmpty() ? up : there;
  }

  private static boolean canLead(ReplicaStatuses.Member member) {
    return member.status().isPresent()
        && member.status().get().canLead(member.lagEntries().orElseThrow());
  }

  private static boolean hasRole(ReplicaStatuses.Member member, ReplicaStatus.Role role) {
    return member.status().map(ReplicaStatus::role).equals(Optional.of(role));
  }

  private static String host(ReplicaStatuses.Member member) {
    return member.peer().address().getHostString();
  }

  private static boolean isUp(ReplicaStatuses.Member member) {
    return FailureDetector.instance.isAlive(NodeLocations.endpoint(host(member)));
  }
}
