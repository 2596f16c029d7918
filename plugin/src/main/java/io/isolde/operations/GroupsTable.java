// SPDX-License-Identifier: Apache-2.0
package io.isolde.operations;

import io.isolde.oracle.configuration.Configuration;
import io.isolde.oracle.configuration.ConfiguredGroup;
import io.isolde.oracle.configuration.ConfiguredNode;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import org.apache.cassandra.db.marshal.Int32Type;
import org.apache.cassandra.db.marshal.ListType;
import org.apache.cassandra.db.marshal.LongType;
import org.apache.cassandra.db.marshal.UTF8Type;
import org.apache.cassandra.db.marshal.UUIDType;
import org.apache.cassandra.db.virtual.SimpleDataSet;

/**
 * {@code isolde.groups}: the replica groups of the configuration; the same on all nodes, other than
 * {@code isolde.replica_groups}.
 */
final class GroupsTable extends NodeTable {
  private final ConfigurationLook look;

  GroupsTable(ConfigurationLook look) {
    super(
        table(
                "groups",
                "replica groups and their leaders, as the oracle has them",
                "keyspace_name",
                UTF8Type.instance)
            .addClusteringColumn("group_number", Int32Type.instance)
            .addClusteringColumn("group_id", UUIDType.instance)
            .addRegularColumn("durability", UTF8Type.instance)
            .addRegularColumn("ranges", ListType.getInstance(UTF8Type.instance, false))
            .addRegularColumn("members", ListType.getInstance(UTF8Type.instance, false))
            .addRegularColumn("leader", UTF8Type.instance)
            .addRegularColumn("leader_id", UUIDType.instance)
            .addRegularColumn("term", LongType.instance)
            .addRegularColumn("state", UTF8Type.instance)
            .addRegularColumn("version", LongType.instance)
            .addRegularColumn("configuration_version", LongType.instance));
    this.look = look;
  }

  @Override
  void fill(SimpleDataSet rows) {
    Configuration now = look.now();
    Map<UUID, ConfiguredNode> nodes = new HashMap<>();
    now.nodes().forEach(node -> nodes.put(node.info().host(), node));
    for (ConfiguredGroup group : now.groups()) {
      ConfiguredNode leader = nodes.get(group.leader());
      rows.row(group.info().keyspace(), group.info().number(), group.info().id())
          .column("durability", group.info().durability())
          .column(
              "ranges",
              group.info().ranges().stream()
                  .map(range -> "(" + range.start() + ", " + range.end() + "]")
                  .toList())
          .column(
              "members",
              group.info().members().stream().map(host -> address(host, nodes.get(host))).toList())
          .column("leader", address(group.leader(), leader))
          .column("leader_id", group.leader())
          .column("term", group.term())
          .column("state", ConfiguredGroup.stateWith(leader).name())
          .column("version", group.version())
          .column("configuration_version", now.version());
    }
  }

  /** A member that is no node of the ring any more is shown by its host id. */
  private static String address(UUID host, ConfiguredNode node) {
    return node == null ? host.toString() : node.info().address();
  }
}
