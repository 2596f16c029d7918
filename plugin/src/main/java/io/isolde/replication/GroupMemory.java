// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import io.isolde.group.Layout;
import io.isolde.raft.RaftSettings;
import io.netty.util.internal.PlatformDependent;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.cassandra.schema.KeyspaceMetadata;
import org.apache.cassandra.schema.Schema;

/**
 * How many replica groups a node has memory for. Each has a buffer outside of the heap, and those
 * of all take at most a half of what there is: Cassandra needs some, too. Nodes are taken to be
 * alike.
 */
final class GroupMemory {
  private GroupMemory() {}

  /**
   * Requires that there is memory for the groups of a keyspace that is about to be made or altered.
   *
   * @param keyspace its name
   * @param wanted its layout from then on
   * @throws IsoldeException UNSUPPORTED_KEYSPACE if a node would have too many
   */
  static void requireRoom(String keyspace, Layout wanted) {
    List<Layout> all = new ArrayList<>(List.of(wanted));
    for (String name : Schema.instance.getUserKeyspaces()) {
      KeyspaceMetadata other = Schema.instance.getKeyspaceMetadata(name);
      if (other != null && !name.equals(keyspace)) {
        StrongKeyspaces.options(other).ifPresent(options -> all.add(options.layout()));
      }
    }
    int bufferBytes = RaftSettings.defaults().bufferBytes();
    long max = PlatformDependent.estimateMaxDirectMemory() / 2 / bufferBytes;
    largest(all)
        .filter(most -> most.getValue() > max)
        .ifPresent(
            most -> {
              throw IsoldeException.of(
                  ErrorCode.UNSUPPORTED_KEYSPACE,
                  ("The node %s would have %d replica groups, and there is memory for %d: each"
                          + " takes %d MiB of direct memory, all together at most a half of it."
                          + " Have fewer groups or replicas, or give nodes more heap.")
                      .formatted(most.getKey().address(), most.getValue(), max, bufferBytes >> 20),
                  "groups",
                  most.getValue());
            });
  }

  /** The node with most groups, and how many those are; empty if there are none. */
  static Optional<Map.Entry<Layout.Member, Integer>> largest(Collection<Layout> layouts) {
    Map<Layout.Member, Integer> groupsOf = new HashMap<>();
    for (Layout layout : layouts) {
      for (Layout.Group group : layout.groups()) {
        group.members().forEach(member -> groupsOf.merge(member, 1, Integer::sum));
      }
    }
    return groupsOf.entrySet().stream().max(Map.Entry.comparingByValue());
  }
}
