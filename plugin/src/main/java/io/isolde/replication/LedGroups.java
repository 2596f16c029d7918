// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import io.isolde.group.Layout;
import io.isolde.group.ReplicaGroup;
import io.isolde.oracle.configuration.GroupInfo;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.apache.cassandra.schema.Schema;

/** The replica groups of strong keyspaces, as their leaders report them. */
public final class LedGroups {
  private final StrongKeyspaces keyspaces;

  public LedGroups(StrongKeyspaces keyspaces) {
    this.keyspaces = keyspaces;
  }

  /** Changes whenever keyspaces come or go, or replicas move. */
  public UUID schemaVersion() {
    return Schema.instance.getVersion();
  }

  /** The groups that this node leads, with its terms. */
  public Map<UUID, Long> terms() {
    Map<UUID, Long> terms = new HashMap<>();
    for (StrongKeyspace keyspace : keyspaces.all()) {
      for (ReplicaGroup replica : keyspaces.replicas(keyspace)) {
        long term = replica.term();
        // In this order: a leader of this term, or of a later one, which the next look finds.
        if (replica.isLeader() && replica.term() == term) {
          terms.put(replica.id(), term);
        }
      }
    }
    return terms;
  }

  /** The groups of all keyspaces that this node knows. */
  public Set<UUID> known() {
    Set<UUID> known = new HashSet<>();
    for (StrongKeyspace keyspace : keyspaces.all()) {
      keyspace.targets().forEach(target -> known.add(target.group()));
    }
    return known;
  }

  /** A group as it is to be registered; empty if its keyspace is dropped. */
  public Optional<GroupInfo> info(UUID id) {
    for (StrongKeyspace keyspace : keyspaces.all()) {
      for (Layout.Group group : keyspace.layout().groups()) {
        if (keyspace.target(group).group().equals(id)) {
          return Optional.of(info(keyspace, group));
        }
      }
    }
    return Optional.empty();
  }

  private static GroupInfo info(StrongKeyspace keyspace, Layout.Group group) {
    return new GroupInfo(
        keyspace.target(group).group(),
        keyspace.name(),
        group.number(),
        keyspace.options().durability().name().toLowerCase(Locale.ROOT),
        keyspace.layout().spansOf(group).stream()
            .map(span -> new GroupInfo.Range(span.start(), span.end()))
            .toList(),
        group.members().stream().map(member -> UUID.fromString(member.id())).toList());
  }
}
