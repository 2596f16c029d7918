// SPDX-License-Identifier: Apache-2.0
package io.isolde.staleness;

import java.util.Arrays;
import java.util.Optional;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * A cluster of places, with its own replica sets, whose coordinators may be replicas themselves.
 * Writer and reader are at coordinators of their own.
 */
public final class ClusterDelays implements DelayModel {
  private final Topology topology;
  private final MeasuredLegs measured;
  private final CoordinatorChoice choice;
  private final Optional<String> datacenter;
  private final int[] datacenterOfNode;

  /** Nodes that may coordinate: of datacenters with replicas, or of the wanted one of these. */
  private final int[] coordinators;

  /** By replica set, who coordinates requests for its rows. */
  private final int[][] coordinatorsOfSet;

  /** By coordinator and replica. */
  private final Legs[][] legs;

  /** Coordinators in all datacenters that have replicas. */
  public ClusterDelays(Topology topology, MeasuredLegs measured, CoordinatorChoice choice) {
    this(topology, measured, choice, Optional.empty());
  }

  /**
   * Coordinators in one datacenter only, where writers and readers are. Not each row needs a
   * replica there.
   *
   * @throws IllegalArgumentException if no row has
   */
  public ClusterDelays(
      Topology topology, MeasuredLegs measured, CoordinatorChoice choice, String datacenter) {
    this(topology, measured, choice, Optional.of(datacenter));
  }

  private ClusterDelays(
      Topology topology,
      MeasuredLegs measured,
      CoordinatorChoice choice,
      Optional<String> datacenter) {
    this.topology = topology;
    this.datacenter = datacenter;
    this.measured = measured;
    this.choice = choice;
    this.datacenterOfNode = topology.datacenterOfNode();
    int nodes = topology.places().size();
    this.coordinators = IntStream.range(0, nodes).filter(this::mayCoordinate).toArray();
    if (coordinators.length == 0) {
      throw new IllegalArgumentException(
          "No node in datacenter %s has a replica; those that have one are in %s."
              .formatted(
                  datacenter.orElse("?"),
                  topology.datacenters().stream()
                      .filter(topology::hasReplicasIn)
                      .collect(Collectors.joining(", "))));
    }
    this.coordinatorsOfSet =
        topology.replicaSets().stream().map(this::coordinatorsOf).toArray(int[][]::new);
    this.legs = new Legs[nodes][nodes];
    for (int from = 0; from < nodes; from++) {
      for (int to = 0; to < nodes; to++) {
        legs[from][to] =
            from == to
                ? measured.local()
                : measured.between(topology.places().get(from), topology.places().get(to));
      }
    }
  }

  private boolean mayCoordinate(int node) {
    String home = topology.places().get(node).datacenter();
    return datacenter.map(home::equals).orElse(true) && topology.hasReplicasIn(home);
  }

  /** A token-aware client whose datacenter has no replica of a row asks any node there. */
  private int[] coordinatorsOf(int[] replicaSet) {
    if (choice == CoordinatorChoice.ANY) {
      return coordinators;
    }
    int[] replicas = Arrays.stream(replicaSet).filter(this::mayCoordinate).toArray();
    return replicas.length > 0 ? replicas : coordinators;
  }

  @Override
  public int replicas() {
    return topology.replicas();
  }

  @Override
  public int[] replicasByDatacenter() {
    return topology.replicasByDatacenter();
  }

  @Override
  public void drawRow(RandomGenerator random, Trial trial) {
    int set = random.nextInt(topology.replicaSets().size());
    trial.replicaNodes = topology.replicaSets().get(set);
    trial.coordinatorNodes = coordinatorsOfSet[set];
    for (int i = 0; i < trial.replicaNodes.length; i++) {
      trial.datacenters[i] = datacenterOfNode[trial.replicaNodes[i]];
    }
  }

  @Override
  public void drawWrite(RandomGenerator random, Trial trial) {
    int coordinator = coordinator(random, trial);
    trial.writerNode = coordinator;
    trial.writerDatacenter = datacenterOfNode[coordinator];
    for (int i = 0; i < trial.replicaNodes.length; i++) {
      Legs each = legs[coordinator][trial.replicaNodes[i]];
      trial.writeMicros[i] = each.write().drawMicros(random);
      trial.ackMicros[i] = each.ack().drawMicros(random);
      trial.writeUncertaintyMicros[i] = each.uncertaintyMicros();
    }
  }

  @Override
  public void drawRead(RandomGenerator random, Trial trial) {
    int coordinator = coordinator(random, trial);
    trial.readerNode = coordinator;
    trial.readerDatacenter = datacenterOfNode[coordinator];
    for (int i = 0; i < trial.replicaNodes.length; i++) {
      Legs each = legs[coordinator][trial.replicaNodes[i]];
      trial.requestMicros[i] = each.request().drawMicros(random);
      trial.responseMicros[i] = each.response().drawMicros(random);
      trial.readUncertaintyMicros[i] = each.uncertaintyMicros();
    }
    prefer(coordinator, random, trial);
  }

  private static int coordinator(RandomGenerator random, Trial trial) {
    return trial.coordinatorNodes[random.nextInt(trial.coordinatorNodes.length)];
  }

  @Override
  public boolean hasCoordinatorsIn(int number) {
    return Arrays.stream(coordinators).anyMatch(node -> datacenterOfNode[node] == number);
  }

  /** Itself, its rack, its datacenter, the others: Cassandra's network topology snitches. */
  private void prefer(int coordinator, RandomGenerator random, Trial trial) {
    Shuffle.fill(trial.preference, random);
    int[] order = trial.preference;
    for (int i = 1; i < order.length; i++) {
      for (int j = i;
          j > 0 && rank(coordinator, trial, order[j]) < rank(coordinator, trial, order[j - 1]);
          j--) {
        int nearer = order[j];
        order[j] = order[j - 1];
        order[j - 1] = nearer;
      }
    }
  }

  private int rank(int coordinator, Trial trial, int replica) {
    int node = trial.replicaNodes[replica];
    return node == coordinator
        ? -1
        : topology.places().get(coordinator).to(topology.places().get(node)).steps();
  }

  @Override
  public long observations() {
    return measured.observations();
  }

  /** For messages about the model. */
  @Override
  public String toString() {
    return topology.places() + " " + Arrays.deepToString(topology.replicaSets().toArray());
  }
}
