// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Predicate;

/**
 * Which replicas have to come, go or move, so that groups have as many as are wanted, where they
 * are wanted. Only given nodes have some then, and all about equally many. First those of nodes
 * that must have none. Then each group gets as many as it is to have. Then those move of which a
 * group has too many in a datacenter or in a rack. Then from the fullest node of a datacenter to
 * the emptiest, as long as that makes them more equal and leaves groups as well spread. Pure; the
 * same layout and nodes give the same changes.
 */
public final class Rebalancing {
  private final Placement placement;
  private final Map<Layout.Member, Integer> replicasOf =
      new TreeMap<>(Comparator.comparing(Layout.Member::id));
  private final List<Change> changes = new ArrayList<>();
  private Layout layout;

  /** What happens to one replica of a group. */
  public sealed interface Change {
    /** The number of the group. */
    int group();

    /** The layout after it; the same if the layout has it already. */
    Layout applyTo(Layout layout);
  }

  /** A group's replica goes from one node to another. */
  public record Move(int group, Layout.Member from, Layout.Member to) implements Change {
    @Override
    public Layout applyTo(Layout layout) {
      Layout.Group before = layout.groups().get(group);
      return !before.hasMember(from.id()) || before.hasMember(to.id())
          ? layout
          : layout.withReplaced(group, from, to);
    }
  }

  /** A group gets one more replica. */
  public record Arrival(int group, Layout.Member to) implements Change {
    @Override
    public Layout applyTo(Layout layout) {
      return layout.groups().get(group).hasMember(to.id()) ? layout : layout.withAdded(group, to);
    }
  }

  /** A group has one replica less. */
  public record Departure(int group, Layout.Member from) implements Change {
    @Override
    public Layout applyTo(Layout layout) {
      return layout.withRemoved(group, from);
    }
  }

  private Rebalancing(Layout layout, Placement placement) {
    this.layout = layout;
    this.placement = placement;
    placement.nodes().forEach(node -> replicasOf.put(node, 0));
    for (Layout.Group group : layout.groups()) {
      for (Layout.Member member : group.members()) {
        replicasOf.computeIfPresent(member, (node, count) -> count + 1);
      }
    }
  }

  /** The changes, one after the other. */
  public static List<Change> of(Layout layout, Placement placement) {
    Rebalancing rebalancing = new Rebalancing(layout, placement);
    for (int group = 0; group < layout.groups().size(); group++) {
      rebalancing.shrink(group);
      rebalancing.empty(group);
      rebalancing.grow(group);
    }
    for (int group = 0; group < layout.groups().size(); group++) {
      rebalancing.spread(group);
    }
    rebalancing.level();
    return List.copyOf(rebalancing.changes);
  }

  private List<Layout.Member> members(int group) {
    return layout.groups().get(group).members();
  }

  /** First go those that must have none, then those of which a datacenter or a rack has most. */
  private void shrink(int group) {
    while (members(group).size() > placement.replicas()) {
      Layout.Member from =
          members(group).stream()
              .filter(node -> !replicasOf.containsKey(node))
              .findFirst()
              .or(() -> fullest(group, node -> isOver(group, datacenter(node))))
              .or(() -> fullest(group, node -> true))
              .orElseThrow();
      change(new Departure(group, from));
      replicasOf.computeIfPresent(from, (node, count) -> count - 1);
    }
  }

  private void empty(int group) {
    for (Layout.Member member : members(group)) {
      if (!replicasOf.containsKey(member)) {
        move(group, member, next(group));
      }
    }
  }

  private void grow(int group) {
    while (members(group).size() < placement.replicas()) {
      Layout.Member to = next(group);
      change(new Arrival(group, to));
      replicasOf.merge(to, 1, Integer::sum);
    }
  }

  /** Where one more replica of a group belongs. A placement has as many nodes as replicas. */
  private Layout.Member next(int group) {
    return emptiestFirst().stream()
        .filter(node -> placement.replicasIn(datacenter(node)) > 0)
        .filter(node -> !isMember(group, node))
        .min(
            Comparator.comparing((Layout.Member node) -> !isShort(group, datacenter(node)))
                .thenComparing(node -> inRack(group, node)))
        .orElseThrow();
  }

  /**
   * Each move brings a datacenter nearer to its number, or lessens the sum of the squares of what
   * its racks have, so this ends.
   */
  private void spread(int group) {
    Optional<Move> next = spreading(group);
    while (next.isPresent()) {
      move(group, next.get().from(), next.get().to());
      next = spreading(group);
    }
  }

  private Optional<Move> spreading(int group) {
    return betweenDatacenters(group).or(() -> betweenRacks(group));
  }

  private Optional<Move> betweenDatacenters(int group) {
    Optional<Layout.Member> from = fullest(group, node -> isOver(group, datacenter(node)));
    Optional<Layout.Member> to = emptiest(group, node -> isShort(group, datacenter(node)));
    return from.flatMap(one -> to.map(other -> new Move(group, one, other)));
  }

  private Optional<Move> betweenRacks(int group) {
    for (Layout.Member member : members(group)) {
      String datacenter = datacenter(member);
      Layout.Member from =
          fullest(group, node -> datacenter(node).equals(datacenter)).orElseThrow();
      Optional<Layout.Member> to =
          emptiest(group, node -> datacenter(node).equals(datacenter))
              .filter(node -> inRack(group, from) - inRack(group, node) >= 2);
      if (to.isPresent()) {
        return to.map(node -> new Move(group, from, node));
      }
    }
    return Optional.empty();
  }

  /** Of members of a group one of the rack with most of them, which has most replicas itself. */
  private Optional<Layout.Member> fullest(int group, Predicate<Layout.Member> which) {
    return emptiestFirst().stream()
        .filter(node -> isMember(group, node))
        .filter(which)
        .max(
            Comparator.comparing((Layout.Member node) -> inRack(group, node))
                .thenComparing(replicasOf::get));
  }

  /** Of others one of the rack with fewest members, which has fewest replicas itself. */
  private Optional<Layout.Member> emptiest(int group, Predicate<Layout.Member> which) {
    return emptiestFirst().stream()
        .filter(node -> !isMember(group, node))
        .filter(which)
        .min(Comparator.comparing(node -> inRack(group, node)));
  }

  /** Each move lessens the sum of the squares of the counts, so this ends. */
  private void level() {
    Optional<Move> next = levelling();
    while (next.isPresent()) {
      move(next.get().group(), next.get().from(), next.get().to());
      next = levelling();
    }
  }

  private Optional<Move> levelling() {
    List<Layout.Member> nodes = emptiestFirst();
    for (int last = nodes.size() - 1; last > 0; last--) {
      Layout.Member from = nodes.get(last);
      for (Layout.Member to : nodes.subList(0, last)) {
        if (replicasOf.get(from) - replicasOf.get(to) < 2) {
          break;
        }
        Optional<Integer> group = movable(from, to);
        if (group.isPresent()) {
          return Optional.of(new Move(group.get(), from, to));
        }
      }
    }
    return Optional.empty();
  }

  private Optional<Integer> movable(Layout.Member from, Layout.Member to) {
    if (!datacenter(from).equals(datacenter(to))) {
      return Optional.empty();
    }
    boolean isSameRack = placement.locationOf(from).equals(placement.locationOf(to));
    return layout.groups().stream()
        .map(Layout.Group::number)
        .filter(group -> isMember(group, from) && !isMember(group, to))
        .filter(group -> isSameRack || inRack(group, from) > inRack(group, to))
        .findFirst();
  }

  private List<Layout.Member> emptiestFirst() {
    List<Layout.Member> nodes = new ArrayList<>(replicasOf.keySet());
    nodes.sort(Comparator.comparing(replicasOf::get));
    return nodes;
  }

  private String datacenter(Layout.Member node) {
    return placement.locationOf(node).datacenter();
  }

  /** By its id: a node may have come back with another address. */
  private boolean isMember(int group, Layout.Member node) {
    return members(group).stream().anyMatch(member -> member.id().equals(node.id()));
  }

  private boolean isOver(int group, String datacenter) {
    return in(group, datacenter) > placement.replicasIn(datacenter);
  }

  private boolean isShort(int group, String datacenter) {
    return in(group, datacenter) < placement.replicasIn(datacenter);
  }

  /** How many members a group has in a datacenter. */
  private long in(int group, String datacenter) {
    return locations(group).stream().filter(at -> at.datacenter().equals(datacenter)).count();
  }

  /** How many members a group has in the rack of a node. */
  private long inRack(int group, Layout.Member node) {
    return locations(group).stream().filter(placement.locationOf(node)::equals).count();
  }

  /** Of those members that may stay. */
  private List<Location> locations(int group) {
    return members(group).stream()
        .filter(replicasOf::containsKey)
        .map(placement::locationOf)
        .toList();
  }

  private void move(int group, Layout.Member from, Layout.Member to) {
    change(new Move(group, from, to));
    replicasOf.computeIfPresent(from, (node, count) -> count - 1);
    replicasOf.merge(to, 1, Integer::sum);
  }

  private void change(Change change) {
    Layout next = change.applyTo(layout);
    assert !next.equals(layout) : change; // Or it would never end.
    changes.add(change);
    layout = next;
  }
}
