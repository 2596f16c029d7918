// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import static io.isolde.group.Rings.node;
import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.group.Rebalancing.Change;
import io.isolde.group.Rebalancing.Move;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class RebalancingTest {
  private static List<Layout.Member> nodes(int from, int to) {
    List<Layout.Member> nodes = new ArrayList<>();
    for (int number = from; number <= to; number++) {
      nodes.add(node(number));
    }
    return nodes;
  }

  private static Layout layout(int nodes, int replicas, int splits, Random random) {
    List<Layout.Member> members = nodes(1, nodes);
    return Layout.of(Rings.ring(members, 4, random), Rings.inOneRack(members, replicas), splits);
  }

  private static Layout after(Layout layout, List<? extends Change> changes) {
    Layout now = layout;
    for (Change change : changes) {
      Layout next = change.applyTo(now);
      assertThat(next).as("%s", change).isNotEqualTo(now);
      assertThat(change.applyTo(next)).as("%s again", change).isEqualTo(next);
      now = next;
    }
    return now;
  }

  /** The changes where groups keep their sizes. */
  private static List<Move> moves(Layout layout, Placement placement) {
    List<Change> changes = Rebalancing.of(layout, placement);
    assertThat(changes).allMatch(Move.class::isInstance);
    return changes.stream().map(Move.class::cast).toList();
  }

  @Test
  void whenANodeIsAddedThenItGetsItsShareAndNothingElseMoves() {
    Layout layout = layout(3, 3, 4, new Random(1));
    List<Move> moves = moves(layout, Rings.inOneRack(nodes(1, 4), 3));
    assertThat(moves).hasSize(3).allMatch(move -> move.to().equals(node(4)));
    assertThat(after(layout, moves).ranges()).isEqualTo(layout.ranges());
  }

  @Test
  void whenANodeMustGoThenItHasNothingLeft() {
    Layout layout = layout(4, 3, 1, new Random(2));
    List<Move> moves = moves(layout, Rings.inOneRack(nodes(2, 4), 3));
    assertThat(moves).isNotEmpty();
    assertThat(Rings.replicasOf(after(layout, moves), node(1))).isZero();
  }

  @ParameterizedTest
  @ValueSource(longs = {11, 12, 13, 14, 15, 16, 17, 18})
  void whenNodesComeAndGoThenAllHaveAboutEquallyManyAndASecondTimeNothingMoves(long seed) {
    Random random = new Random(seed);
    int before = 3 + random.nextInt(5);
    Layout layout = layout(before, 3, 1 + random.nextInt(4), random);
    List<Layout.Member> left = nodes(1 + random.nextInt(2), before + 1 + random.nextInt(4));
    Layout moved = after(layout, Rebalancing.of(layout, Rings.inOneRack(left, 3)));
    long most = left.stream().mapToLong(node -> Rings.replicasOf(moved, node)).max().orElseThrow();
    long least = left.stream().mapToLong(node -> Rings.replicasOf(moved, node)).min().orElseThrow();
    assertThat(most - least).as("seed %d", seed).isLessThanOrEqualTo(1);
    for (Layout.Group group : moved.groups()) {
      assertThat(group.members()).hasSize(3).isSubsetOf(left);
      assertThat(new HashSet<>(group.members())).hasSize(3);
    }
    assertThat(Rebalancing.of(moved, Rings.inOneRack(left, 3))).isEmpty();
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void whenGroupsAreToHaveMoreOrFewerMembersThenTheyHaveAndNoMoreChangesThanNeeded(long seed) {
    Random random = new Random(seed);
    Map<Layout.Member, Location> nodes = Rings.anywhere(random);
    int before = 1 + random.nextInt(Math.min(5, nodes.size()));
    int after = 1 + random.nextInt(Math.min(5, nodes.size()));
    Placement small = Placement.of(nodes, ReplicaCounts.of(before));
    Layout made = Layout.of(Rings.ring(nodes.keySet(), 4, random), small, 2);
    Layout layout = after(made, Rebalancing.of(made, small));
    Placement placement = Placement.of(nodes, ReplicaCounts.of(after));
    List<Change> changes = Rebalancing.of(layout, placement);
    Layout resized = after(layout, changes);
    assertThat(changes.stream().filter(change -> !(change instanceof Move)))
        .as("seed %d: %d to %d", seed, before, after)
        .hasSize(layout.groups().size() * Math.abs(after - before));
    for (Layout.Group group : resized.groups()) {
      assertThat(new HashSet<>(group.members())).hasSize(after).isSubsetOf(nodes.keySet());
      Rings.assertEvenOverRacks(group, nodes);
    }
    assertThat(resized.ranges()).isEqualTo(layout.ranges());
    assertThat(Rebalancing.of(resized, placement)).isEmpty();
  }

  static LongStream seeds() {
    return LongStream.rangeClosed(1, 200);
  }

  /** Also one that was made before anybody looked at racks, or on other nodes. */
  @ParameterizedTest
  @MethodSource("seeds")
  void whenALayoutIsAnyLayoutThenItsGroupsAreSpreadAfterwardsAndASecondTimeNothingMoves(long seed) {
    Random random = new Random(seed);
    Map<Layout.Member, Location> nodes = Rings.anywhere(random);
    int replicas = 1 + random.nextInt(Math.min(5, nodes.size()));
    int before = replicas + random.nextInt(4);
    Layout layout = layout(before, replicas, 1 + random.nextInt(3), random);
    Placement placement = Placement.of(nodes, ReplicaCounts.of(replicas));
    Layout moved = after(layout, Rebalancing.of(layout, placement));
    for (Layout.Group group : moved.groups()) {
      assertThat(new HashSet<>(group.members())).hasSize(replicas).isSubsetOf(nodes.keySet());
      Map<String, Long> counts = Rings.byDatacenter(group, nodes);
      nodes
          .values()
          .forEach(
              at ->
                  assertThat(counts.getOrDefault(at.datacenter(), 0L))
                      .isEqualTo(placement.replicasIn(at.datacenter())));
      Rings.assertEvenOverRacks(group, nodes);
    }
    assertThat(Rebalancing.of(moved, placement)).isEmpty();
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void whenANodeJoinsARackThenOnlyNodesOfThatRackGiveReplicasToIt(long seed) {
    Random random = new Random(seed);
    Map<Layout.Member, Location> nodes = new HashMap<>(Rings.racks("dc", 1, 3, 3));
    Placement placement = Placement.of(nodes, ReplicaCounts.of(3));
    Layout made = Layout.of(Rings.ring(nodes.keySet(), 4, random), placement, 2);
    Layout layout = after(made, Rebalancing.of(made, placement));
    Layout.Member joined = node(99);
    nodes.put(joined, new Location("dc", "r1"));
    Placement larger = Placement.of(nodes, ReplicaCounts.of(3));
    List<Move> moves = moves(layout, larger);
    long share = layout.groups().size() / 4; // Four nodes of that rack have one of each group.
    assertThat(moves)
        .hasSizeBetween((int) share, (int) share + 1)
        .allMatch(move -> move.to().equals(joined))
        .allMatch(move -> nodes.get(move.from()).rack().equals("r1"));
    Layout moved = after(layout, moves);
    moved.groups().forEach(group -> Rings.assertEvenOverRacks(group, nodes));
    List<Long> counts =
        nodes.keySet().stream()
            .filter(node -> nodes.get(node).rack().equals("r1"))
            .map(node -> Rings.replicasOf(moved, node))
            .toList();
    assertThat(Collections.max(counts) - Collections.min(counts)).isLessThanOrEqualTo(1);
  }

  @Test
  void whenGroupsIgnoreRacksThenEachMovesAsFewReplicasAsNeeded() {
    Map<Layout.Member, Location> nodes = Rings.racks("dc", 1, 3, 2); // 1, 4 and 2, 5 and 3, 6
    List<Layout.Group> groups =
        List.of(
            new Layout.Group(0, List.of(node(1), node(4), node(2))),
            new Layout.Group(1, List.of(node(3), node(5), node(1))),
            new Layout.Group(2, List.of(node(6), node(5), node(4))));
    List<Layout.Range> ranges =
        List.of(new Layout.Range(0, 0), new Layout.Range(1, 1), new Layout.Range(2, 2));
    Placement placement = Placement.of(nodes, ReplicaCounts.of(3));
    assertThat(moves(new Layout(groups, ranges), placement))
        .singleElement()
        .satisfies(
            move -> {
              assertThat(move.group()).isZero();
              assertThat(nodes.get(move.to()).rack()).isEqualTo("r2");
              assertThat(nodes.get(move.from()).rack()).isEqualTo("r0");
            });
  }

  @Test
  void whenADatacenterMustGoThenTheOtherHasItsReplicas() {
    Map<Layout.Member, Location> nodes = new HashMap<>(Rings.racks("east", 1, 3, 1));
    nodes.putAll(Rings.racks("west", 4, 1, 1));
    ReplicaCounts wanted = new ReplicaCounts(3, Map.of("east", 2, "west", 1), Optional.of("west"));
    Layout layout =
        Layout.of(Rings.ring(nodes.keySet(), 4, new Random(1)), Placement.of(nodes, wanted), 1);
    nodes.remove(node(4));
    Placement left = Placement.withThoseLeft(nodes, wanted);
    List<Move> moves = moves(layout, left);
    assertThat(moves).hasSameSizeAs(layout.groups()).allMatch(move -> move.from().equals(node(4)));
    Layout without = after(layout, moves);
    nodes.put(node(4), new Location("west", "r0"));
    Layout again = after(without, Rebalancing.of(without, Placement.withThoseLeft(nodes, wanted)));
    for (Layout.Group group : again.groups()) {
      assertThat(Rings.byDatacenter(group, nodes))
          .containsEntry("east", 2L)
          .containsEntry("west", 1L);
    }
  }
}
