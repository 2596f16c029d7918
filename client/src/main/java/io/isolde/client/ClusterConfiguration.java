// SPDX-License-Identifier: Apache-2.0
package io.isolde.client;

import java.util.List;
import java.util.Optional;
import java.util.UUID;

/**
 * The nodes and replica groups of a cluster at one version, as {@link Isolde#configuration} has
 * read it. Immutable: it says what was true then, and leaders may have changed since.
 *
 * @param version grows by one with each change, so of two configurations the one with the higher
 *     version is the newer one
 * @param nodes in no order
 * @param groups of strong keyspaces, in no order
 */
public record ClusterConfiguration(long version, List<Node> nodes, List<Group> groups) {

  /**
   * A node of the ring.
   *
   * @param address by which the cluster knows it
   * @param cqlAddress where it listens for clients, with the port
   * @param isUp whether the oracle hears of it
   * @param version of its last change
   */
  public record Node(
      UUID hostId,
      String address,
      String cqlAddress,
      String datacenter,
      String rack,
      boolean isUp,
      long version) {}

  /**
   * A replica group.
   *
   * @param ranges as text: {@code (start, end]}
   * @param members their addresses
   * @param leaderId the host id of the member that led it last
   * @param term of this leader
   * @param isLed whether its leader is up
   * @param version of its last change
   */
  public record Group(
      UUID id,
      String keyspace,
      int number,
      List<String> ranges,
      List<String> members,
      UUID leaderId,
      long term,
      boolean isLed,
      long version) {
    public Group {
      ranges = List.copyOf(ranges);
      members = List.copyOf(members);
    }
  }

  public ClusterConfiguration {
    nodes = List.copyOf(nodes);
    groups = List.copyOf(groups);
  }

  /** The node that led a group last; empty if it has left the ring. */
  public Optional<Node> leaderOf(Group group) {
    return nodes.stream().filter(node -> node.hostId().equals(group.leaderId())).findFirst();
  }

  /** The groups of a strong keyspace. */
  public List<Group> groupsOf(String keyspace) {
    return groups.stream().filter(group -> group.keyspace().equals(keyspace)).toList();
  }
}
