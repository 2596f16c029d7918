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

  /** By node, the number of its datacenter. */
  public int[] datacenterOfNode() {
    List<String> names = datacenters();
    return places.stream().mapToInt(place -> names.indexOf(place.datacenter())).toArray();
  }

  /** How many replicas of a row are in each datacenter. */
  public int[] replicasByDatacenter() {
    int[] datacenterOfNode = datacenterOfNode();
    int[] counts = new int[datacenters().size()];
    Arrays.stream(replicaSets.get(0)).forEach(node -> counts[datacenterOfNode[node]]++);
    return counts;
  }
}
