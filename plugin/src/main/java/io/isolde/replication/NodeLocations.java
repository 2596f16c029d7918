// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import io.isolde.group.Layout;
import io.isolde.group.Location;
import io.isolde.raft.Peer;
import java.net.UnknownHostException;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.locator.IEndpointSnitch;
import org.apache.cassandra.locator.InetAddressAndPort;

/** Where nodes are, as this node's snitch says. */
final class NodeLocations {
  private NodeLocations() {}

  static Map<Layout.Member, Location> of(Collection<Layout.Member> nodes) {
    IEndpointSnitch snitch = DatabaseDescriptor.getEndpointSnitch();
    Map<Layout.Member, Location> locations = new HashMap<>();
    for (Layout.Member node : nodes) {
      InetAddressAndPort address = ReplicatedLogStrategy.address(node);
      locations.put(node, new Location(snitch.getDatacenter(address), snitch.getRack(address)));
    }
    return locations;
  }

  static String ownDatacenter() {
    return DatabaseDescriptor.getEndpointSnitch().getLocalDatacenter();
  }

  /** Of a node, by its address: the layout may not know it. */
  static String datacenter(String host) {
    return DatabaseDescriptor.getEndpointSnitch().getDatacenter(endpoint(host));
  }

  static InetAddressAndPort endpoint(String host) {
    try {
      return InetAddressAndPort.getByName(host);
    } catch (UnknownHostException e) {
      throw new IllegalStateException(host + " is not the address of a node.", e);
    }
  }

  /**
   * Members of a group where its keyspace wants leaders, those first that the layout has first. One
   * that took the place of another has its place there, too, until replicas are moved.
   *
   * @param members as the group's log has them
   * @return none if the keyspace does not say where
   */
  static List<Peer> whereLeadersAreWanted(
      Optional<String> datacenter, Layout.Group group, Collection<Peer> members) {
    if (datacenter.isEmpty()) {
      return List.of();
    }
    List<String> hosts =
        group.members().stream()
            .map(member -> ReplicatedLogStrategy.address(member).getHostAddress(false))
            .toList();
    return members.stream()
        .filter(member -> datacenter(member.address().getHostString()).equals(datacenter.get()))
        .sorted(
            Comparator.comparingInt((Peer member) -> place(hosts, member.address().getHostString()))
                .thenComparing(Peer::id))
        .toList();
  }

  private static int place(List<String> hosts, String host) {
    int at = hosts.indexOf(host);
    return at < 0 ? hosts.size() : at;
  }
}
