// SPDX-License-Identifier: Apache-2.0
package io.isolde.staleness.collect;

import io.isolde.staleness.ClusterDelays;
import io.isolde.staleness.CoordinatorChoice;
import io.isolde.staleness.DelayModel;
import io.isolde.staleness.MeasuredLegs;
import io.isolde.staleness.Place;
import io.isolde.staleness.Prediction;
import io.isolde.staleness.Predictor;
import io.isolde.staleness.ReadFanOut;
import io.isolde.staleness.Setting;
import io.isolde.staleness.Topology;
import io.isolde.staleness.VersionPredictor;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.apache.cassandra.db.Keyspace;
import org.apache.cassandra.dht.Token;
import org.apache.cassandra.locator.AbstractReplicationStrategy;
import org.apache.cassandra.locator.InetAddressAndPort;
import org.apache.cassandra.schema.Schema;
import org.apache.cassandra.service.StorageService;

/**
 * Predicts for a table from what this node has seen, its ring, and the assumption that other
 * coordinators see the same at the same distance. Clients are taken for token-aware and for being
 * in this node's datacenter.
 */
public final class NodePredictor {
  private static final int TRIALS = 5_000;

  /** Of the ring: as many as make a fair sample of which nodes hold rows together. */
  private static final int MAX_RANGES = 256;

  private static final long SEED = 1;

  private final DelayModel model;
  private final Predictor predictor;

  private NodePredictor(DelayModel model) {
    this.model = model;
    this.predictor = new Predictor(model, ReadFanOut.PREFERRED, TRIALS, NodePredictor::random);
  }

  /**
   * Empty if nothing was seen of the table, or it is gone, or has no replica in this datacenter.
   */
  public static Optional<NodePredictor> of(DelayBook delays, String table) {
    if (table.indexOf('.') < 0) {
      return Optional.empty();
    }
    Place self = MessageTap.self();
    Keyspace keyspace = Schema.instance.getKeyspaceInstance(table.substring(0, table.indexOf('.')));
    Optional<MeasuredLegs> legs = delays.legs(table, self);
    if (keyspace == null || legs.isEmpty()) {
      return Optional.empty();
    }
    return topology(keyspace.getReplicationStrategy())
        .filter(topology -> topology.datacenters().contains(self.datacenter()))
        .map(
            topology ->
                new NodePredictor(
                    new ClusterDelays(
                        topology, legs.get(), CoordinatorChoice.REPLICA, self.datacenter())));
  }

  private static Optional<Topology> topology(AbstractReplicationStrategy strategy) {
    List<Token> tokens = StorageService.instance.getTokenMetadata().sortedTokens();
    int step = Math.max(1, tokens.size() / MAX_RANGES);
    List<InetAddressAndPort> nodes = new ArrayList<>();
    List<int[]> sets = new ArrayList<>();
    for (int i = 0; i < tokens.size(); i += step) {
      List<InetAddressAndPort> replicas =
          strategy.getNaturalReplicasForToken(tokens.get(i)).endpointList();
      sets.add(replicas.stream().mapToInt(replica -> indexOf(nodes, replica)).toArray());
    }
    int most = sets.stream().mapToInt(set -> set.length).max().orElse(0);
    if (most == 0) {
      return Optional.empty();
    }
    return Optional.of(
        new Topology(
            nodes.stream().map(MessageTap::placeOf).toList(),
            sets.stream().filter(set -> set.length == most).toList()));
  }

  private static int indexOf(List<InetAddressAndPort> nodes, InetAddressAndPort node) {
    int index = nodes.indexOf(node);
    if (index >= 0) {
      return index;
    }
    nodes.add(node);
    return nodes.size() - 1;
  }

  private static RandomGenerator random() {
    return RandomGeneratorFactory.of("L64X128MixRandom").create(SEED);
  }

  /** For all settings that differ. */
  public Map<Setting, Prediction> predictions() {
    return predictor.predict(Setting.all(model.replicasByDatacenter()));
  }

  /** For several versions. */
  public VersionPredictor versions(Setting setting) {
    return predictor.versions(setting);
  }

  /** How many observations the least known delay is made from. */
  public long observations() {
    return model.observations();
  }
}
