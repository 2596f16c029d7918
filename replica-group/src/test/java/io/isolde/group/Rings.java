// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;

/**
 * Nodes with their places on a ring, in datacenters and racks, and what groups on them look like.
 */
final class Rings {
  private static final Location SOMEWHERE = new Location("dc", "rack");

  private Rings() {}

  static Layout.Member node(int number) {
    return new Layout.Member("n" + number, "127.0.0." + number + ":7000");
  }

  /** Each node has as many tokens, at random. */
  static List<Layout.Place> ring(
      Collection<Layout.Member> nodes, int tokensPerNode, Random random) {
    List<Layout.Place> ring = new ArrayList<>();
    for (Layout.Member node : nodes) {
      for (int i = 0; i < tokensPerNode; i++) {
        ring.add(new Layout.Place(random.nextLong(), node));
      }
    }
    return ring;
  }

  /** All nodes in one rack. */
  static Placement inOneRack(Collection<Layout.Member> nodes, int replicas) {
    Map<Layout.Member, Location> locations = new HashMap<>();
    nodes.forEach(node -> locations.put(node, SOMEWHERE));
    return Placement.of(locations, ReplicaCounts.of(replicas));
  }

  /** As many nodes in each rack, whose number counts on from those before. */
  static Map<Layout.Member, Location> racks(
      String datacenter, int firstNode, int racks, int nodesPerRack) {
    Map<Layout.Member, Location> nodes = new LinkedHashMap<>();
    for (int i = 0; i < racks * nodesPerRack; i++) {
      nodes.put(node(firstNode + i), new Location(datacenter, "r" + i % racks));
    }
    return nodes;
  }

  /** Up to three datacenters, each with up to four racks of one to four nodes. */
  static Map<Layout.Member, Location> anywhere(Random random) {
    Map<Layout.Member, Location> nodes = new LinkedHashMap<>();
    int datacenters = 1 + random.nextInt(3);
    for (int datacenter = 0; datacenter < datacenters; datacenter++) {
      int racks = 1 + random.nextInt(4);
      for (int rack = 0; rack < racks; rack++) {
        int size = 1 + random.nextInt(4);
        for (int i = 0; i < size; i++) {
          nodes.put(node(1 + nodes.size()), new Location("dc" + datacenter, "r" + rack));
        }
      }
    }
    return nodes;
  }

  /** Members of each rack in which a group has some. */
  static Map<Location, Long> byRack(Layout.Group group, Map<Layout.Member, Location> nodes) {
    return group.members().stream()
        .collect(Collectors.groupingBy(nodes::get, Collectors.counting()));
  }

  /** Members of each datacenter in which a group has some. */
  static Map<String, Long> byDatacenter(Layout.Group group, Map<Layout.Member, Location> nodes) {
    return group.members().stream()
        .collect(
            Collectors.groupingBy(member -> nodes.get(member).datacenter(), Collectors.counting()));
  }

  /** No rack has two more than another one of its datacenter that could have had one of them. */
  static void assertEvenOverRacks(Layout.Group group, Map<Layout.Member, Location> nodes) {
    Map<Location, Long> members = byRack(group, nodes);
    Map<Location, Long> sizes =
        nodes.values().stream().collect(Collectors.groupingBy(at -> at, Collectors.counting()));
    members.forEach(
        (rack, count) ->
            sizes.forEach(
                (other, size) -> {
                  long there = members.getOrDefault(other, 0L);
                  if (rack.datacenter().equals(other.datacenter()) && there < size) {
                    assertThat(count).as("%s of %s", members, sizes).isLessThanOrEqualTo(there + 1);
                  }
                }));
  }

  static long replicasOf(Layout layout, Layout.Member node) {
    return layout.groups().stream().filter(group -> group.members().contains(node)).count();
  }
}
