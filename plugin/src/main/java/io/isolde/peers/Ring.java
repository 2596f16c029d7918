// SPDX-License-Identifier: Apache-2.0
package io.isolde.peers;

import java.util.Collection;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.stream.Collectors;
import org.apache.cassandra.gms.FailureDetector;
import org.apache.cassandra.gms.Gossiper;
import org.apache.cassandra.locator.InetAddressAndPort;
import org.apache.cassandra.locator.TokenMetadata;
import org.apache.cassandra.service.StorageService;
import org.apache.cassandra.utils.FBUtilities;

/** Which nodes there are, as this node sees it now. Nodes are named by their addresses. */
public final class Ring {
  private Ring() {}

  private static TokenMetadata tokens() {
    return StorageService.instance.getTokenMetadata();
  }

  public static String self() {
    return nameOf(FBUtilities.getBroadcastAddressAndPort());
  }

  public static UUID hostId() {
    return StorageService.instance.getLocalHostUUID();
  }

  /** What a node is called here. */
  public static String nameOf(InetAddressAndPort node) {
    return node.getHostAddress(false);
  }

  /** Changes whenever nodes come or go, or ranges change hands. */
  public static long version() {
    return tokens().getRingVersion();
  }

  /** What nodes are called here. */
  public static Set<String> names(Collection<InetAddressAndPort> nodes) {
    return nodes.stream().map(Ring::nameOf).collect(Collectors.toCollection(TreeSet::new));
  }

  /** All that own a part of the ring. */
  public static Set<String> members() {
    return names(tokens().getAllMembers());
  }

  /** All that have the schema: members, and nodes that join or leave. */
  public static Set<String> all() {
    Set<String> all = names(tokens().getAllEndpoints());
    all.addAll(names(tokens().getBootstrapTokens().valueSet()));
    all.addAll(names(Gossiper.instance.getLiveMembers()));
    return all;
  }

  /** Those of {@link #all} that answer, as far as this node knows. */
  public static Set<String> livingOfAll() {
    Set<String> living = names(Gossiper.instance.getLiveMembers());
    living.add(self());
    return living;
  }

  /** Those members that are about to leave, as far as this node knows. */
  public static Set<String> leaving() {
    return names(tokens().getLeavingEndpoints());
  }

  /** Those members that answer, as far as this node knows, in the order of their names. */
  public static Set<String> living() {
    return tokens().getAllMembers().stream()
        .filter(FailureDetector.instance::isAlive)
        .map(Ring::nameOf)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /** Whether the ring still knows a node by its host id. */
  public static boolean isMember(UUID hostId) {
    return tokens().getEndpointForHostId(hostId) != null;
  }

  /** Whether this node is the one to do what one node has to. */
  public static boolean isFirstLiving() {
    return living().stream().findFirst().filter(self()::equals).isPresent();
  }

  /** Whether a node answers, as far as this node knows. */
  public static boolean isAlive(String name) {
    return living().contains(name);
  }

  /** The address of a node of the ring. */
  public static Optional<String> nameOf(UUID hostId) {
    return Optional.ofNullable(tokens().getEndpointForHostId(hostId)).map(Ring::nameOf);
  }

  /** Whether the node of this host id answers, as far as this node knows. */
  public static boolean isAlive(UUID hostId) {
    InetAddressAndPort node = tokens().getEndpointForHostId(hostId);
    return node != null && FailureDetector.instance.isAlive(node);
  }
}
