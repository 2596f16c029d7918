// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.configuration;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Set;
import java.util.UUID;

/**
 * What watchers of the configuration watch: ids as rows have them, the same on all nodes. A change
 * of the configuration has those of all that it may concern.
 */
public final class ConfigurationIds {
  private static final long NODES = id("nodes");
  private static final long GROUPS = id("groups");

  private ConfigurationIds() {}

  /** Of any node of the ring. */
  public static Set<Long> ofNodes() {
    return Set.of(NODES);
  }

  /** Of one node. */
  public static Set<Long> ofNode(UUID host) {
    return Set.of(node(host));
  }

  /** Of any replica group. Nodes belong to it: whether a group is led depends on them. */
  public static Set<Long> ofGroups() {
    return Set.of(GROUPS, NODES);
  }

  /** Of the replica groups of a keyspace, and of nodes. */
  public static Set<Long> ofKeyspace(String keyspace) {
    return Set.of(keyspace(keyspace), NODES);
  }

  /** Of the replica group of a keyspace that has a number, and of nodes. */
  public static Set<Long> ofGroup(String keyspace, int number) {
    return Set.of(group(keyspace, number), NODES);
  }

  /**
   * Those of a change.
   *
   * @param before what was known before it
   */
  static Set<Long> of(Change change, Entries before) {
    if (change instanceof Change.NodeRegistered registered) {
      return changedNode(registered.node().host());
    }
    if (change instanceof Change.NodeLiveness liveness) {
      return changedNode(liveness.host());
    }
    if (change instanceof Change.NodeRemoved removed) {
      return changedNode(removed.host());
    }
    if (change instanceof Change.GroupRegistered registered) {
      return changedGroup(registered.group());
    }
    UUID group =
        change instanceof Change.LeaderChanged led
            ? led.group()
            : ((Change.GroupRemoved) change).group();
    return changedGroup(before.groups.get(group).info());
  }

  private static Set<Long> changedNode(UUID host) {
    return Set.of(NODES, node(host));
  }

  private static Set<Long> changedGroup(GroupInfo group) {
    return Set.of(GROUPS, keyspace(group.keyspace()), group(group.keyspace(), group.number()));
  }

  private static long node(UUID host) {
    return id("node " + host);
  }

  private static long keyspace(String name) {
    return id("keyspace " + name);
  }

  private static long group(String keyspace, int number) {
    return id("group " + number + " " + keyspace);
  }

  /** As unlikely to be that of a row as two rows are to have the same. */
  private static long id(String name) {
    return UUID.nameUUIDFromBytes(("isolde configuration: " + name).getBytes(UTF_8))
        .getLeastSignificantBits();
  }
}
