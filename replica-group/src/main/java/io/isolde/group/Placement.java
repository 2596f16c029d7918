// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * On which nodes the replicas of a range are to be. Each datacenter has its number of them, and
 * they are spread evenly over its racks. As long as there are enough racks, that is what
 * NetworkTopologyStrategy does. With fewer racks than replicas it is more even, since a group lives
 * as long as a majority of its members: of five on three racks, any rack may be lost.
 *
 * <p>Pure; the same nodes and the same ring give the same replicas.
 */
public final class Placement {
  private static final Comparator<Layout.Member> BY_ID = Comparator.comparing(Layout.Member::id);

  private final Map<Layout.Member, Location> nodes = new TreeMap<>(BY_ID);

  /** Of each datacenter that has some. */
  private final Map<String, Integer> replicas;

  private final Map<String, RackQuota> quotas = new HashMap<>();

  /**
   * How many replicas a rack has: as many as the level says, if it has so many nodes. Some racks
   * have one more, those that come first on the ring.
   */
  private record RackQuota(int level, int extra) {
    static RackQuota of(Collection<Integer> nodesOfRacks, int replicas) {
      int level = 0;
      while (upTo(level + 1, nodesOfRacks) <= replicas
          && upTo(level + 1, nodesOfRacks) > upTo(level, nodesOfRacks)) {
        level++;
      }
      return new RackQuota(level, replicas - upTo(level, nodesOfRacks));
    }

    private static int upTo(int level, Collection<Integer> nodesOfRacks) {
      return nodesOfRacks.stream().mapToInt(nodes -> Math.min(nodes, level)).sum();
    }
  }

  private Placement(Map<Layout.Member, Location> nodes, Map<String, Integer> replicas) {
    this.nodes.putAll(nodes);
    this.replicas = Collections.unmodifiableMap(replicas);
    replicas.forEach(
        (datacenter, count) -> {
          Map<String, Integer> racks = new TreeMap<>();
          nodes.values().stream()
              .filter(at -> at.datacenter().equals(datacenter))
              .forEach(at -> racks.merge(at.rack(), 1, Integer::sum));
          quotas.put(datacenter, RackQuota.of(racks.values(), count));
        });
  }

  /**
   * As it is wanted.
   *
   * @param nodes that can have replicas
   * @throws IllegalArgumentException if a datacenter does not exist or has too few nodes, or if
   *     there are no replicas where leaders are wanted
   */
  public static Placement of(Map<Layout.Member, Location> nodes, ReplicaCounts wanted) {
    Map<String, Integer> sizes = sizes(nodes);
    wanted.leaders().ifPresent(datacenter -> requireKnown(datacenter, sizes));
    new TreeMap<>(wanted.byDatacenter())
        .forEach(
            (datacenter, count) -> {
              requireKnown(datacenter, sizes);
              if (sizes.get(datacenter) < count) {
                throw new IllegalArgumentException(
                    "Datacenter '%s' has %d nodes, too few for %d replicas."
                        .formatted(datacenter, sizes.get(datacenter), count));
              }
            });
    Placement placement = withThoseLeft(nodes, wanted);
    wanted
        .leaders()
        .filter(datacenter -> placement.replicasIn(datacenter) == 0)
        .ifPresent(
            datacenter -> {
              throw new IllegalArgumentException(
                  "Leaders are wanted in datacenter '%s', which has no replicas; %s have some."
                      .formatted(datacenter, placement.replicas.keySet()));
            });
    return placement;
  }

  private static void requireKnown(String datacenter, Map<String, Integer> sizes) {
    if (!sizes.containsKey(datacenter)) {
      throw new IllegalArgumentException(
          "There is no datacenter '%s'; there are %s.".formatted(datacenter, sizes.keySet()));
    }
  }

  /**
   * As it is wanted, but that others of the wanted datacenters have the replicas of one that has
   * too few nodes.
   *
   * @throws IllegalArgumentException if there are fewer nodes than replicas
   */
  public static Placement withThoseLeft(Map<Layout.Member, Location> nodes, ReplicaCounts wanted) {
    Map<String, Integer> sizes = sizes(nodes);
    if (!wanted.byDatacenter().isEmpty()) {
      sizes.keySet().retainAll(wanted.byDatacenter().keySet());
    }
    Map<String, Integer> replicas = new TreeMap<>();
    wanted
        .byDatacenter()
        .forEach(
            (datacenter, count) ->
                replicas.put(datacenter, Math.min(count, sizes.getOrDefault(datacenter, 0))));
    int placed = replicas.values().stream().mapToInt(Integer::intValue).sum();
    for (int left = wanted.all() - placed; left > 0; left--) {
      String next =
          sizes.keySet().stream()
              .filter(datacenter -> replicas.getOrDefault(datacenter, 0) < sizes.get(datacenter))
              .min(nextDatacenter(sizes, replicas, wanted.leaders()))
              .orElseThrow(() -> tooFew(sizes, wanted.all()));
      replicas.merge(next, 1, Integer::sum);
    }
    replicas.values().removeIf(count -> count == 0);
    return new Placement(nodes, replicas);
  }

  /** Of two that have as many the one with the leaders comes first, then the larger one. */
  private static Comparator<String> nextDatacenter(
      Map<String, Integer> sizes, Map<String, Integer> replicas, Optional<String> leaders) {
    return Comparator.comparing((String datacenter) -> replicas.getOrDefault(datacenter, 0))
        .thenComparing(datacenter -> leaders.filter(datacenter::equals).isEmpty())
        .thenComparing(datacenter -> -sizes.get(datacenter))
        .thenComparing(Comparator.naturalOrder());
  }

  private static IllegalArgumentException tooFew(Map<String, Integer> sizes, int replicas) {
    int nodes = sizes.values().stream().mapToInt(Integer::intValue).sum();
    return new IllegalArgumentException(
        "There must be as many nodes as replicas, not %d for %d.".formatted(nodes, replicas));
  }

  private static Map<String, Integer> sizes(Map<Layout.Member, Location> nodes) {
    Map<String, Integer> sizes = new TreeMap<>();
    nodes.values().forEach(at -> sizes.merge(at.datacenter(), 1, Integer::sum));
    return sizes;
  }

  /** The nodes that can have replicas. */
  Set<Layout.Member> nodes() {
    return Collections.unmodifiableSet(nodes.keySet());
  }

  /** Where one of the nodes is. */
  Location locationOf(Layout.Member node) {
    return nodes.get(node);
  }

  /** How many replicas each range has. */
  public int replicas() {
    return replicas.values().stream().mapToInt(Integer::intValue).sum();
  }

  /** How many replicas of each range a datacenter has. */
  int replicasIn(String datacenter) {
    return replicas.getOrDefault(datacenter, 0);
  }

  /**
   * The replicas of a range.
   *
   * @param ring sorted, of these nodes
   * @param from the place of the range's end; the first node from there on that can be one is first
   */
  List<Layout.Member> replicas(List<Layout.Place> ring, int from) {
    int count = replicas();
    List<Layout.Member> chosen = new ArrayList<>(count);
    Map<Location, Integer> inRack = new HashMap<>();
    Map<String, Integer> extras = new HashMap<>();
    for (int i = 0; i < ring.size() && chosen.size() < count; i++) {
      Layout.Member node = ring.get((from + i) % ring.size()).member();
      Location at = nodes.get(node);
      RackQuota quota = quotas.get(at.datacenter());
      if (quota == null || chosen.contains(node)) {
        continue;
      }
      int before = inRack.getOrDefault(at, 0);
      boolean isExtra = before == quota.level();
      if (before < quota.level()
          || (isExtra && extras.getOrDefault(at.datacenter(), 0) < quota.extra())) {
        chosen.add(node);
        inRack.put(at, before + 1);
        extras.merge(at.datacenter(), isExtra ? 1 : 0, Integer::sum);
      }
    }
    return chosen;
  }
}
