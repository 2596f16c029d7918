// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import io.isolde.group.Layout;
import io.isolde.group.Placement;
import io.isolde.group.Rebalancing;
import io.isolde.group.ReconciliationPlan;
import io.isolde.group.ReplicaCounts;
import io.isolde.peers.NewNames;
import io.isolde.peers.WorkLease;
import io.isolde.raft.Peer;
import java.io.IOException;
import java.net.UnknownHostException;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.cassandra.cql3.statements.schema.AlterKeyspaceStatement;
import org.apache.cassandra.locator.InetAddressAndPort;
import org.apache.cassandra.schema.ReplicationParams;
import org.apache.cassandra.service.ClientState;

/**
 * Moves replicas of strong keyspaces between nodes, while they are used. For each replica, the new
 * node opens an empty replica. As soon as that has caught up, the leader takes it in as a member in
 * the place of the old one. Then the layout in the schema says so. The old node deletes its log
 * when the leader tells it that it is out. Whatever is interrupted is finished when it is asked for
 * again.
 */
public final class ReplicaMoves {
  /** What one node does at a time: of two layouts, the schema would lose one. No table's name. */
  private static final String WORK = "-rebalance";

  /** Far below the time-outs of clients: what nobody waits for any more must not happen. */
  private static final long MAX_ALTER_WAIT_MILLIS = 2_000;

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
   * many. Then the nodes also lead about equally many, as far as groups can be handed over now.
   *
   * @param without addresses of nodes that must have none
   * @throws IsoldeException if too few nodes are left, if another is down, if a replica does not
   *     move in time, or if the keyspace is dropped meanwhile; UNAVAILABLE if another node moves
   *     replicas of this keyspace, or too few nodes answer, and nothing was moved
   */
  public Moved rebalance(String name, Collection<String> without) {
    Set<String> excluded = without.stream().map(ReplicaMoves::plain).collect(Collectors.toSet());
    check(keyspaces.named(name).layout(), ring(), excluded);
    return ifAlone(name, () -> excluded).orElseThrow(() -> notAlone(name));
  }

  private static IsoldeException notAlone(String name) {
    return IsoldeException.of(
        ErrorCode.UNAVAILABLE,
        ("No replica of %s was moved. Another node moves its replicas just now, or no more than"
                + " half of the nodes of the ring answer; try again later.")
            .formatted(name),
        "keyspace",
        name);
  }

  /**
   * Has the schema say how many replicas a strong keyspace is to have, and where; permitted
   * already. No replica moves: {@link #rebalance} does that.
   *
   * @return whether that is something else than before
   * @throws IsoldeException if something else is asked for, or there are no such nodes; UNAVAILABLE
   *     as {@link #rebalance}
   */
  public boolean alter(AlterKeyspaceStatement alter, ClientState client) {
    String name = alter.keyspace();
    StrongKeyspace keyspace = keyspaces.named(name);
    Map<String, String> wanted = keyspace.options().altered(KeyspaceStatements.replication(alter));
    ReplicaCounts counts = KeyspaceOptions.parse(wanted).replicas();
    if (counts.equals(keyspace.options().replicas())) {
      return false;
    }
    ReplicationParams.fromMap(wanted).validate(name, client); // Guardrails, too.
    try {
      Placement placement = Placement.of(NodeLocations.of(ring()), counts);
      Layout layout = keyspace.layout();
      for (Rebalancing.Change change : Rebalancing.of(layout, placement)) {
        layout = change.applyTo(layout);
      }
      GroupMemory.requireRoom(name, layout);
    } catch (IllegalArgumentException e) {
      throw IsoldeException.of(
          ErrorCode.UNSUPPORTED_KEYSPACE, "The keyspace can't be altered: " + e.getMessage());
    }
    var unused =
        ifAlone(
                name,
                MAX_ALTER_WAIT_MILLIS,
                (known, steps) -> {
                  steps.want(again(known), wanted);
                  return new Moved(0, 0, true);
                })
            .orElseThrow(() -> notAlone(name));
    return true;
  }

  /**
   * What has moved.
   *
   * @param leaders how many groups have got another leader, beside those whose leader had to go
   * @param isAll whether leaders are spread over all members that may lead, and not only over those
   *     that could just then
   */
  public record Moved(int replicas, int leaders, boolean isAll) {}

  /** Part of a move, for as long as this node is alone. */
  private interface Part {
    Moved move(StrongKeyspace keyspace, MoveSteps steps) throws IOException;
  }

  /**
   * As {@link #rebalance}, if no other node does it meanwhile.
   *
   * @param excluded addresses of nodes that must have none at the moment
   * @return empty if this node was not alone
   */
  Optional<Moved> ifAlone(String name, Supplier<Set<String>> excluded) {
    return ifAlone(
        name,
        (keyspace, steps) -> {
          reconcile(keyspace, steps, excluded.get());
          int replicas = move(keyspace, steps, excluded);
          return spread(keyspace, steps, excluded, replicas);
        });
  }

  /** As {@link #ifAlone}, and only leaders move. */
  Optional<Moved> spreadIfAlone(String name, Supplier<Set<String>> excluded) {
    return ifAlone(
        name,
        (keyspace, steps) -> {
          check(keyspace.layout(), ring(), excluded.get());
          return spread(keyspace, steps, excluded, 0);
        });
  }

  private Moved spread(
      StrongKeyspace before, MoveSteps steps, Supplier<Set<String>> excluded, int replicas)
      throws IOException {
    StrongKeyspace keyspace = again(before);
    LeaderMoves.Spread spread = new LeaderMoves(keyspaces, keyspace, excluded.get()).spread(steps);
    return new Moved(replicas, spread.moved(), spread.isAll());
  }

  private Optional<Moved> ifAlone(String name, Part part) {
    return ifAlone(name, WorkLease.MAX_WAIT_MILLIS, part);
  }

  private Optional<Moved> ifAlone(String name, long maxWaitMillis, Part part) {
    StrongKeyspace keyspace = keyspaces.named(name);
    Optional<WorkLease> granted = oneAtATime.lease(name, WORK, maxWaitMillis);
    if (granted.isEmpty()) {
      return Optional.empty();
    }
    try (WorkLease lease = granted.get()) {
      return Optional.of(part.move(keyspace, new MoveSteps(keyspaces.host(keyspace), lease)));
    } catch (IOException e) {
      IsoldeException failed =
          IsoldeException.of(
              ErrorCode.CHANGE_FAILED,
              "%s: %s Ask again to finish what was begun.".formatted(name, e.getMessage()),
              "keyspace",
              name);
      failed.addSuppressed(e);
      throw failed;
    }
  }

  private static List<Layout.Member> ring() {
    return KeyspaceStatements.ring().stream().map(Layout.Place::member).distinct().toList();
  }

  private void reconcile(StrongKeyspace before, MoveSteps steps, Set<String> excluded)
      throws IOException {
    StrongKeyspace keyspace = again(before);
    List<Layout.Member> all = ring();
    check(keyspace.layout(), all, excluded);
    for (Layout.Group group : keyspace.layout().groups()) {
      reconcile(keyspace, steps, group, all, excluded);
    }
  }

  /** One after the other: copying costs those who serve. The ring may change meanwhile. */
  private int move(StrongKeyspace before, MoveSteps steps, Supplier<Set<String>> excluded)
      throws IOException {
    Set<Rebalancing.Change> done = new HashSet<>();
    while (true) {
      StrongKeyspace keyspace = again(before);
      List<Rebalancing.Change> due = due(keyspace, excluded.get());
      if (due.isEmpty()) {
        return done.size();
      }
      Rebalancing.Change next = due.get(0);
      if (!done.add(next)) {
        throw new IOException("A replica has moved, and the schema does not say so.");
      }
      if (next instanceof Rebalancing.Departure departure) {
        steps.await(() -> missing(keyspace, departure));
      }
      steps.carryOut(keyspace, next);
      steps.note(keyspace, next);
    }
  }

  /** If one goes and those that stay have yet to catch up, nobody could write until they have. */
  private Optional<String> missing(StrongKeyspace keyspace, Rebalancing.Departure departure) {
    return ReplicaStatuses.of(keyspaces, keyspace).stream()
        .filter(member -> member.groupNumber() == departure.group())
        .filter(member -> !member.peer().id().equals(departure.from().id()))
        .filter(member -> !member.follows())
        .map(member -> member.peer().address().getHostString())
        .findFirst()
        .map(
            address ->
                "Group %d can't do without %s now: %s does not answer, or has not caught up."
                    .formatted(departure.group(), departure.from().address(), address));
  }

  /** The changes that put replicas where they are wanted. */
  private static List<Rebalancing.Change> due(StrongKeyspace keyspace, Set<String> excluded) {
    List<Layout.Member> nodes =
        ring().stream().filter(node -> !excluded.contains(address(node))).toList();
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
            keyspace.options().replicas().all(),
            old -> shallGo(old, excluded));
    for (ReconciliationPlan.Step step : todo) {
      if (step instanceof ReconciliationPlan.Step.Dismissal dismissal) {
        steps.dismiss(keyspace, group, dismissal.member());
      } else if (step instanceof ReconciliationPlan.Step.Note note) {
        steps.note(again(keyspace), new Rebalancing.Move(group.number(), note.old(), note.next()));
      } else if (step instanceof ReconciliationPlan.Step.NoteArrival note) {
        steps.note(again(keyspace), new Rebalancing.Arrival(group.number(), note.next()));
      } else if (step instanceof ReconciliationPlan.Step.NoteDeparture note) {
        steps.note(again(keyspace), new Rebalancing.Departure(group.number(), note.old()));
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

  private static String address(Layout.Member node) {
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
