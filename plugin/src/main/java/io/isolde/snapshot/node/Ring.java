// SPDX-License-Identifier: Apache-2.0
package io.isolde.snapshot.node;

import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.stream.Collectors;
import org.apache.cassandra.db.Keyspace;
import org.apache.cassandra.gms.FailureDetector;
import org.apache.cassandra.locator.InetAddressAndPort;
import org.apache.cassandra.locator.TokenMetadata;
import org.apache.cassandra.service.StorageService;
import org.apache.cassandra.utils.FBUtilities;

/** Which nodes there are, as this node sees it now. Nodes are named by their addresses. */
final class Ring {
  private Ring() {}

  private static TokenMetadata tokens() {
    return StorageService.instance.getTokenMetadata();
  }

  static String self() {
    return nameOf(FBUtilities.getBroadcastAddressAndPort());
  }

  static UUID hostId() {
    return StorageService.instance.getLocalHostUUID();
  }

  private static String nameOf(InetAddressAndPort node) {
    return node.getHostAddress(false);
  }

  /** Changes whenever nodes come or go, or ranges change hands. */
  static long version() {
    return tokens().getRingVersion();
  }

  private static Set<String> names(Collection<InetAddressAndPort> nodes) {
    return nodes.stream().map(Ring::nameOf).collect(Collectors.toCollection(TreeSet::new));
  }

  /** All that own a part of the ring. */
  static Set<String> members() {
    return names(tokens().getAllMembers());
  }

  /** Whether the ring still knows a node by its host id. */
  static boolean isMember(UUID hostId) {
    return tokens().getEndpointForHostId(hostId) != null;
  }

  /** Whether this node is the one to do what one node has to. */
  static boolean isFirstLiving() {
    return tokens().getAllMembers().stream()
        .filter(FailureDetector.instance::isAlive)
        .map(Ring::nameOf)
        .sorted()
        .findFirst()
        .filter(self()::equals)
        .isPresent();
  }

  /** Whether a node answers, as far as this node knows. */
  static boolean isAlive(String name) {
    return tokens().getAllMembers().stream()
        .anyMatch(node -> nameOf(node).equals(name) && FailureDetector.instance.isAlive(node));
  }

  /** The address of a node of the ring. */
  static Optional<String> nameOf(UUID hostId) {
    return Optional.ofNullable(tokens().getEndpointForHostId(hostId)).map(Ring::nameOf);
  }

  /** Whether the node of this host id answers, as far as this node knows. */
  static boolean isAlive(UUID hostId) {
    InetAddressAndPort node = tokens().getEndpointForHostId(hostId);
    return node != null && FailureDetector.instance.isAlive(node);
  }

  /**
   * The nodes that hold a part of a keyspace.
   *
   * @throws IsoldeException SNAPSHOT_FAILED if a part of it changes hands now
   */
  static Set<String> replicas(String keyspace) {
    boolean isChanging =
        !tokens().getPendingRangesMM(keyspace).isEmpty()
            || !tokens().getBootstrapTokens().isEmpty()
            || !tokens().getLeavingEndpoints().isEmpty()
            || tokens().getSizeOfMovingEndpoints() > 0;
    if (isChanging) {
      throw IsoldeException.of(
          ErrorCode.SNAPSHOT_FAILED,
          "A node is joining, leaving or moving, so what has to have the snapshot changes; take it"
              + " afterwards.",
          "keyspace",
          keyspace);
    }
    return names(Keyspace.open(keyspace).getReplicationStrategy().getAddressReplicas().keySet());
  }

  /**
   * Makes sure that nodes are up.
   *
   * @throws IsoldeException SNAPSHOT_FAILED with the names of those that are not
   */
  static void requireAlive(Set<String> nodes) {
    List<String> down =
        tokens().getAllMembers().stream()
            .filter(node -> !FailureDetector.instance.isAlive(node))
            .map(Ring::nameOf)
            .filter(nodes::contains)
            .sorted()
            .toList();
    if (!down.isEmpty()) {
      throw IsoldeException.of(
          ErrorCode.SNAPSHOT_FAILED,
          "A snapshot is on all replicas or on none, and these are down: "
              + String.join(", ", down)
              + ". Nothing was done.",
          "down",
          String.join(",", down));
    }
  }
}
