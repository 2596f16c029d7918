// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class PlacementTest {
  private static final int SEEDS = 200;

  static LongStream seeds() {
    return LongStream.rangeClosed(1, SEEDS);
  }

  private static ReplicaCounts by(Map<String, Integer> counts) {
    int all = counts.values().stream().mapToInt(Integer::intValue).sum();
    return new ReplicaCounts(all, counts, Optional.empty());
  }

  private static ReplicaCounts led(int all, String leaders) {
    return new ReplicaCounts(all, Map.of(), Optional.of(leaders));
  }

  private static Map<String, Long> sizes(Map<Layout.Member, Location> nodes) {
    return Rings.byDatacenter(new Layout.Group(0, List.copyOf(nodes.keySet())), nodes);
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void whenNodesAreAnywhereThenEveryGroupIsSpreadOverDatacentersAndRacks(long seed) {
    Random random = new Random(seed);
    Map<Layout.Member, Location> nodes = Rings.anywhere(random);
    int replicas = 1 + random.nextInt(nodes.size());
    Layout layout =
        Layout.of(
            Rings.ring(nodes.keySet(), 1 + random.nextInt(16), random),
            Placement.of(nodes, ReplicaCounts.of(replicas)),
            1 + random.nextInt(3));
    Map<String, Long> sizes = sizes(nodes);
    Map<String, Long> first = Rings.byDatacenter(layout.groups().get(0), nodes);
    for (Layout.Group group : layout.groups()) {
      assertThat(new HashSet<>(group.members())).hasSize(replicas);
      Map<String, Long> counts = Rings.byDatacenter(group, nodes);
      assertThat(counts).isEqualTo(first);
      sizes.forEach(
          (datacenter, size) -> {
            if (counts.getOrDefault(datacenter, 0L) < size) {
              assertThat(counts.values())
                  .allMatch(count -> count <= counts.getOrDefault(datacenter, 0L) + 1);
            }
          });
      Rings.assertEvenOverRacks(group, nodes);
    }
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void whenDatacentersHaveNumbersThenEveryGroupHasThem(long seed) {
    Random random = new Random(seed);
    Map<Layout.Member, Location> nodes = Rings.anywhere(random);
    Map<String, Integer> wanted = new HashMap<>();
    sizes(nodes)
        .forEach(
            (datacenter, size) -> {
              if (wanted.isEmpty() || random.nextBoolean()) {
                wanted.put(datacenter, 1 + random.nextInt(size.intValue()));
              }
            });
    Placement placement = Placement.of(nodes, by(wanted));
    Layout layout = Layout.of(Rings.ring(nodes.keySet(), 8, random), placement, 1);
    for (Layout.Group group : layout.groups()) {
      Map<String, Long> counts = Rings.byDatacenter(group, nodes);
      assertThat(counts).hasSameSizeAs(wanted);
      wanted.forEach(
          (datacenter, count) -> assertThat(counts).containsEntry(datacenter, (long) count));
      Rings.assertEvenOverRacks(group, nodes);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {3, 5, 7})
  void whenThereAreThreeRacksThenAMajoritySurvivesAnyOfThem(int replicas) {
    Random random = new Random(replicas);
    for (int i = 0; i < 20; i++) {
      Map<Layout.Member, Location> nodes =
          Rings.racks("dc", 1, 3 + random.nextInt(2), replicas + random.nextInt(3));
      Placement placement = Placement.of(nodes, ReplicaCounts.of(replicas));
      Layout layout = Layout.of(Rings.ring(nodes.keySet(), 4, random), placement, 1);
      for (Layout.Group group : layout.groups()) {
        assertThat(Rings.byRack(group, nodes).values()).allMatch(count -> 2 * count < replicas);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5})
  void whenRacksAreEquallyLargeThenReplicasAndFirstMembersAreSpread(long seed) {
    Map<Layout.Member, Location> nodes = Rings.racks("dc", 1, 3, 2);
    List<Layout.Place> ring = Rings.ring(nodes.keySet(), 64, new Random(seed));
    Placement placement = Placement.of(nodes, ReplicaCounts.of(3));
    Map<Layout.Member, Integer> replicas = new HashMap<>();
    List<Layout.Place> sorted =
        ring.stream().sorted(Comparator.comparing(Layout.Place::token)).toList();
    for (int i = 0; i < sorted.size(); i++) {
      List<Layout.Member> members = placement.replicas(sorted, i);
      assertThat(members.get(0)).isEqualTo(sorted.get(i).member());
      members.forEach(member -> replicas.merge(member, 1, Integer::sum));
    }
    int share = sorted.size() / 2; // One of two nodes of a rack.
    assertThat(replicas.values()).allMatch(count -> Math.abs(count - share) < share / 3);
  }

  @Test
  void whenTheSameIsAskedTwiceThenTheAnswerIsTheSame() {
    Map<Layout.Member, Location> nodes = Rings.anywhere(new Random(7));
    List<Layout.Place> ring = Rings.ring(nodes.keySet(), 8, new Random(8));
    Map<Layout.Member, Location> otherOrder = new LinkedHashMap<>();
    List.copyOf(nodes.keySet()).stream()
        .sorted(Comparator.comparing(Layout.Member::address).reversed())
        .forEach(node -> otherOrder.put(node, nodes.get(node)));
    List<Layout.Place> shuffled = new ArrayList<>(ring);
    Collections.shuffle(shuffled, new Random(9));
    assertThat(Layout.of(shuffled, Placement.of(otherOrder, ReplicaCounts.of(3)), 2))
        .isEqualTo(Layout.of(ring, Placement.of(nodes, ReplicaCounts.of(3)), 2));
  }

  @Test
  void whenReplicasCanNotBeSharedEquallyThenTheDatacenterOfTheLeadersHasMore() {
    Map<Layout.Member, Location> nodes = new LinkedHashMap<>(Rings.racks("east", 1, 1, 4));
    nodes.putAll(Rings.racks("west", 5, 1, 3));
    assertShared(nodes, ReplicaCounts.of(5), 3, 2);
    assertShared(nodes, led(5, "west"), 2, 3);
    assertShared(nodes, led(4, "west"), 2, 2);
    assertShared(nodes, led(1, "west"), 0, 1);
    assertShared(nodes, led(7, "west"), 4, 3);
  }

  private static void assertShared(
      Map<Layout.Member, Location> nodes, ReplicaCounts wanted, int east, int west) {
    Placement placement = Placement.of(nodes, wanted);
    assertThat(placement.replicasIn("east")).isEqualTo(east);
    assertThat(placement.replicasIn("west")).isEqualTo(west);
  }

  @Test
  void whenNodesAreMissingThenOthersOfTheWantedDatacentersHaveTheirReplicas() {
    Map<Layout.Member, Location> nodes = new LinkedHashMap<>(Rings.racks("east", 1, 1, 4));
    nodes.putAll(Rings.racks("west", 5, 1, 1));
    nodes.putAll(Rings.racks("other", 6, 1, 9));
    Placement placement =
        Placement.withThoseLeft(nodes, by(Map.of("east", 2, "west", 2, "gone", 1)));
    assertThat(placement.replicasIn("east")).isEqualTo(4);
    assertThat(placement.replicasIn("west")).isEqualTo(1);
    assertThat(placement.replicasIn("other")).isZero();
    assertThatThrownBy(() -> Placement.withThoseLeft(nodes, by(Map.of("east", 3, "west", 3))))
        .hasMessageContaining("as many nodes as replicas, not 5 for 6");
  }

  @Test
  void whenTheWishCanNotBeFulfilledThenItIsRefusedWithTheReason() {
    Map<Layout.Member, Location> nodes = new LinkedHashMap<>(Rings.racks("east", 1, 1, 2));
    nodes.putAll(Rings.racks("west", 3, 1, 2));
    assertRefused(nodes, ReplicaCounts.of(5), "as many nodes as replicas, not 4 for 5");
    assertRefused(
        nodes, by(Map.of("east", 1, "north", 1)), "no datacenter 'north'; there are [east, west]");
    assertRefused(nodes, by(Map.of("east", 3)), "'east' has 2 nodes, too few for 3 replicas");
    assertRefused(nodes, led(3, "north"), "no datacenter 'north'; there are [east, west]");
    assertRefused(
        nodes,
        new ReplicaCounts(2, Map.of("east", 2), Optional.of("west")),
        "wanted in datacenter 'west', which has no replicas; [east] have some");
    assertThatThrownBy(() -> new ReplicaCounts(3, Map.of("east", 2), Optional.empty()))
        .hasMessageContaining("have 2 replicas together, not 3");
  }

  private static void assertRefused(
      Map<Layout.Member, Location> nodes, ReplicaCounts wanted, String why) {
    assertThatThrownBy(() -> Placement.of(nodes, wanted))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(why);
  }
}
