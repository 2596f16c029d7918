// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import io.isolde.group.Layout;
import io.isolde.group.Placement;
import io.isolde.group.Rebalancing;
import io.isolde.group.ReconciliationPlan;
import io.isolde.peers.NewNames;
import io.isolde.peers.WorkLease;
import io.isolde.raft.Peer;
import java.io.IOException;
import java.net.UnknownHostException;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.cassandra.locator.InetAddressAndPort;

/**
 * Moves replicas of strong keyspaces between nodes, while they are used. For each replica, the new
 * node opens an empty replica. As soon as that has caught up, the leader takes it in as a member in
 * the place of the old one. Then the layout in the schema says so. The old node deletes its log
 * when the leader tells it that it is out. Whatever is interrupted is finished when it is asked for
 * again.
 */
public final class ReplicaMoves {
  /** What one node does at a time: with two layouts, one would be lost in the schema. */
  private static final String WORK = "REBALANCE";

  private final StrongKeyspaces keyspaces;
  private final NewNames oneAtATime;

  /**
   * Moves replicas of these keyspaces.
   *
   * @param oneAtATime keeps two nodes from doing it at once
   */
  public ReplicaMoves(StrongKeyspaces keyspaces, NewNames oneAtATime) {
    this.keyspaces = keyspaces;
    this.oneAtATime = oneAtATime;
  }

  /**
   * Moves replicas until they are where the keyspace wants them, and the nodes have about equally
   * many.
   *
   * @param without addresses of nodes that must have none
   * @param maxWaitMillis for another node that moves replicas of this keyspace
   * @return how many were moved
   * @throws IsoldeException if too few nodes are left, if another is down, if a replica does not
   *     move in time, or if the keyspace is dropped meanwhile; UNAVAILABLE if another node moves
   *     replicas of this keyspace
   */
  public int rebalance(String name, Collection<String> without, long maxWaitMillis) {
    List<Layout.Member> all =
        KeyspaceStatements.ring().stream().map(Layout.Place::member).distinct().toList();
    StrongKeyspace keyspace = keyspaces.named(name);
    Set<String> excluded = without.stream().map(ReplicaMoves::plain).collect(Collectors.toSet());
    check(keyspace.layout(), all, excluded);
    try (WorkLease lease = oneAtATime.lease(name, WORK, maxWaitMillis)) {
      return rebalance(again(keyspace), all, excluded, lease);
    }
  }

  private int rebalance(
      StrongKeyspace keyspace, List<Layout.Member> all, Set<String> excluded, WorkLease lease) {
    MoveSteps steps = new MoveSteps(keyspaces.host(keyspace), lease);
    try {
      for (Layout.Group group : keyspace.layout().groups()) {
        reconcile(keyspace, steps, group, all, excluded);
      }
      return move(again(keyspace), steps, all, excluded);
    } catch (IOException e) {
      IsoldeException failed =
          IsoldeException.of(
              ErrorCode.CHANGE_FAILED,
              "%s: %s Ask again to finish what was begun."
                  .formatted(keyspace.name(), e.getMessage()),
              "keyspace",
              keyspace.name());
      failed.addSuppressed(e);
      throw failed;
    }
  }

  private int move(
      StrongKeyspace keyspace, MoveSteps steps, List<Layout.Member> all, Set<String> excluded)
      throws IOException {
    List<Rebalancing.Move> moves = due(keyspace, all, excluded);
    for (Rebalancing.Move move : moves) { // One after the other: copying costs those who serve.
      StrongKeyspace now = again(keyspace);
      steps.move(now, move);
      steps.note(now, move);
    }
    return moves.size();
  }

  /** The moves that put replicas where they are wanted. */
  static List<Rebalancing.Move> due(
      StrongKeyspace keyspace, List<Layout.Member> all, Set<String> excluded) {
    List<Layout.Member> nodes =
        all.stream().filter(node -> !excluded.contains(address(node))).toList();
    try {
      return Rebalancing.of(
          keyspace.layout(),
          Placement.withThoseLeft(NodeLocations.of(nodes), keyspace.options().replicas()));
    } catch (IllegalArgumentException e) {
      throw IsoldeException.invalid(
          "The replicas of %s can't be moved: %s".formatted(keyspace.name(), e.getMessage()));
    }
  }

  /** The keyspace as it is now. */
  private StrongKeyspace again(StrongKeyspace before) {
    return keyspaces
        .find(before.name())
        .filter(now -> now.options().incarnation().equals(before.options().incarnation()))
        .orElseThrow(() -> IsoldeException.invalid(before.name() + " was dropped meanwhile."));
  }

  /** See {@link ReconciliationPlan}. */
  private void reconcile(
      StrongKeyspace keyspace,
      MoveSteps steps,
      Layout.Group group,
      List<Layout.Member> nodes,
      Set<String> excluded)
      throws IOException {
    List<Peer> members;
    try {
      members = steps.members(keyspace.target(group), nodes);
    } catch (IOException e) {
      throw new IOException("Group %d: %s".formatted(group.number(), e.getMessage()), e);
    }
    List<ReconciliationPlan.Step> todo =
        ReconciliationPlan.of(
            group.members(),
            members.stream().map(peer -> member(peer, nodes)).toList(),
            old -> shallGo(old, excluded));
    for (ReconciliationPlan.Step step : todo) {
      if (step instanceof ReconciliationPlan.Step.Dismissal dismissal) {
        steps.dismiss(keyspace, group, dismissal.member());
      } else if (step instanceof ReconciliationPlan.Step.Note note) {
        steps.note(again(keyspace), new Rebalancing.Move(group.number(), note.old(), note.next()));
      }
    }
  }

  private static boolean shallGo(Layout.Member member, Set<String> excluded) {
    return excluded.contains(address(member)) || !MoveSteps.isUp(member);
  }

  /** Also one that is not in the ring any more. */
  private static Layout.Member member(Peer peer, List<Layout.Member> nodes) {
    return nodes.stream()
        .filter(node -> node.id().equals(peer.id()))
        .findFirst()
        .orElseGet(
            () ->
                new Layout.Member(
                    peer.id(),
                    InetAddressAndPort.getByAddress(peer.address().getAddress())
                        .getHostAddressAndPort()));
  }

  /** Nobody wants copies made just because a node is being restarted, or for a typing error. */
  private static void check(Layout layout, List<Layout.Member> nodes, Collection<String> excluded) {
    for (Layout.Member node : nodes) {
      if (!excluded.contains(address(node)) && !MoveSteps.isUp(node)) {
        throw IsoldeException.invalid(
            "%1$s is down. Start it first, or say WITHOUT '%1$s' if its replicas shall move away."
                .formatted(address(node)));
      }
    }
    Stream<Layout.Member> members = layout.groups().stream().flatMap(g -> g.members().stream());
    Set<String> known =
        Stream.concat(nodes.stream(), members)
            .map(ReplicaMoves::address)
            .collect(Collectors.toSet());
    for (String address : excluded) {
      if (!known.contains(address)) {
        throw IsoldeException.invalid(address + " is not the address of a node.");
      }
    }
  }

  static String address(Layout.Member node) {
    return ReplicatedLogStrategy.address(node).getHostAddress(false);
  }

  /** An address as the layout has it, however it was written: IPv6 has many ways. */
  private static String plain(String address) {
    try {
      return InetAddressAndPort.getByName(address).getHostAddress(false);
    } catch (UnknownHostException e) {
      throw IsoldeException.invalid(address + " is not the address of a node.", "address", address);
    }
  }
}
