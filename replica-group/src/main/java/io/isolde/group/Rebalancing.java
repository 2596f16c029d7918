// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Which replicas have to move so that only given nodes have some, and all about equally many: first
 * those of nodes that must have none, then from the fullest node to the emptiest, as long as that
 * makes them more equal. Pure; the same layout and nodes give the same moves.
 */
public final class Rebalancing {
  private static final Comparator<Layout.Member> BY_ID = Comparator.comparing(Layout.Member::id);

  private final Map<Layout.Member, Integer> replicasOf = new TreeMap<>(BY_ID);
  private final List<Move> moves = new ArrayList<>();
  private Layout layout;

  /** A group's replica goes from one node to another. */
  public record Move(int group, Layout.Member from, Layout.Member to) {}

  private Rebalancing(Layout layout, Collection<Layout.Member> nodes) {
    this.layout = layout;
    nodes.forEach(node -> replicasOf.put(node, 0));
    for (Layout.Group group : layout.groups()) {
      for (Layout.Member member : group.members()) {
        replicasOf.computeIfPresent(member, (node, count) -> count + 1);
      }
    }
  }

  /**
   * The moves, one after the other.
   *
   * @param nodes that may have replicas
   * @throws IllegalArgumentException if there are fewer than a group has members
   */
  public static List<Move> of(Layout layout, Collection<Layout.Member> nodes) {
    Rebalancing rebalancing = new Rebalancing(layout, nodes);
    rebalancing.empty();
    rebalancing.level();
    return List.copyOf(rebalancing.moves);
  }

  private void empty() {
    for (int number = 0; number < layout.groups().size(); number++) {
      for (Layout.Member member : layout.groups().get(number).members()) {
        if (!replicasOf.containsKey(member)) {
          int group = number;
          Layout.Member to =
              emptiestFirst().stream()
                  .filter(node -> !isMember(group, node))
                  .findFirst()
                  .orElseThrow(() -> tooFew(group));
          move(group, member, to);
        }
      }
    }
  }

  private IllegalArgumentException tooFew(int group) {
    int members = layout.groups().get(group).members().size();
    return new IllegalArgumentException(
        "There must be as many nodes as replicas, not %d for %d."
            .formatted(replicasOf.size(), members));
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
    return layout.groups().stream()
        .map(Layout.Group::number)
        .filter(group -> isMember(group, from) && !isMember(group, to))
        .findFirst();
  }

  private List<Layout.Member> emptiestFirst() {
    List<Layout.Member> nodes = new ArrayList<>(replicasOf.keySet());
    nodes.sort(Comparator.comparing((Layout.Member node) -> replicasOf.get(node)));
    return nodes;
  }

  private boolean isMember(int group, Layout.Member node) {
    return layout.groups().get(group).members().contains(node);
  }

  private void move(int group, Layout.Member from, Layout.Member to) {
    moves.add(new Move(group, from, to));
    layout = layout.withReplaced(group, from, to);
    replicasOf.computeIfPresent(from, (node, count) -> count - 1);
    replicasOf.merge(to, 1, Integer::sum);
  }
}
