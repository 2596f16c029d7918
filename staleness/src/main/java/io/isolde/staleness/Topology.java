// SPDX-License-Identifier: Apache-2.0
package io.isolde.staleness;

import java.util.Arrays;
import java.util.List;

/**
 * The nodes of a cluster and which of them hold rows together.
 *
 * @param places of the nodes
 * @param replicaSets the nodes, by their index, that hold the same token range; each set is as
 *     likely as the others, all are of the same size
 */
public record Topology(List<Place> places, List<int[]> replicaSets) {

  public Topology {
    places = List.copyOf(places);
    replicaSets = List.copyOf(replicaSets);
    if (replicaSets.isEmpty()) {
      throw new IllegalArgumentException("There is no replica.");
    }
    int replicas = replicaSets.get(0).length;
    if (replicas == 0 || replicaSets.stream().anyMatch(set -> set.length != replicas)) {
      throw new IllegalArgumentException("All rows must have the same number of replicas.");
    }
  }

  /** N. */
  public int replicas() {
    return replicaSets.get(0).length;
  }

  /** The names of the datacenters, sorted; a datacenter's number is its place here. */
  public List<String> datacenters() {
    return places.stream().map(Place::datacenter).distinct().sorted().toList();
  }

  /**
   * By node, the number of its datacenter as far as levels are concerned. Rows may differ in how
   * many replicas they have in a datacenter (SimpleStrategy). Then local levels can't be met for
   * some of them, and all nodes count as of one datacenter.
   */
  public int[] datacenterOfNode() {
    List<String> names = datacenters();
    int[] named = places.stream().mapToInt(place -> names.indexOf(place.datacenter())).toArray();
    int[] counts = counts(replicaSets.get(0), named, names.size());
    boolean isSame =
        replicaSets.stream()
            .allMatch(set -> Arrays.equals(counts(set, named, names.size()), counts));
    return isSame ? named : new int[places.size()];
  }

  /** How many replicas of a row are in each datacenter, by {@link #datacenterOfNode}. */
  public int[] replicasByDatacenter() {
    return counts(replicaSets.get(0), datacenterOfNode(), datacenters().size());
  }

  private static int[] counts(int[] replicaSet, int[] datacenterOfNode, int datacenters) {
    int[] counts = new int[datacenters];
    Arrays.stream(replicaSet).forEach(node -> counts[datacenterOfNode[node]]++);
    return counts;
  }

  /** Whether a node of the datacenter is a replica of any row. */
  boolean hasReplicasIn(String datacenter) {
    return replicaSets.stream()
        .flatMapToInt(Arrays::stream)
        .anyMatch(node -> places.get(node).datacenter().equals(datacenter));
  }
}
