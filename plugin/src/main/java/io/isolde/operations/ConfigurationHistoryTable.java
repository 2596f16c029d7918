// SPDX-License-Identifier: Apache-2.0
package io.isolde.operations;

import io.isolde.oracle.configuration.Change;
import io.isolde.oracle.configuration.GroupInfo;
import io.isolde.oracle.configuration.VersionedChange;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Date;
import java.util.UUID;
import org.apache.cassandra.db.marshal.Int32Type;
import org.apache.cassandra.db.marshal.LongType;
import org.apache.cassandra.db.marshal.TimestampType;
import org.apache.cassandra.db.marshal.UTF8Type;
import org.apache.cassandra.db.marshal.UUIDType;
import org.apache.cassandra.db.virtual.SimpleDataSet;

/** {@code isolde.configuration_history}: the last changes of the configuration, one per version. */
final class ConfigurationHistoryTable extends NodeTable {
  private final ConfigurationLook look;

  ConfigurationHistoryTable(ConfigurationLook look) {
    super(
        table(
                "configuration_history",
                "the last changes of nodes, groups and leaders, as the oracle has them",
                "version",
                LongType.instance)
            .addRegularColumn("at", TimestampType.instance)
            .addRegularColumn("change", UTF8Type.instance)
            .addRegularColumn("host_id", UUIDType.instance)
            .addRegularColumn("address", UTF8Type.instance)
            .addRegularColumn("group_id", UUIDType.instance)
            .addRegularColumn("keyspace_name", UTF8Type.instance)
            .addRegularColumn("group_number", Int32Type.instance)
            .addRegularColumn("term", LongType.instance));
    this.look = look;
  }

  @Override
  @SuppressWarnings("JavaUtilDate") // that is how Cassandra wants it
  void fill(SimpleDataSet rows) {
    for (VersionedChange change : look.history().changes()) {
      rows.row(change.version())
          .column("at", Date.from(Instant.EPOCH.plus(change.timeMicros(), ChronoUnit.MICROS)));
      fill(rows, change.change());
    }
  }

  private static void fill(SimpleDataSet row, Change change) {
    if (change instanceof Change.NodeRegistered node) {
      row.column("change", "NODE_REGISTERED")
          .column("host_id", node.node().host())
          .column("address", node.node().address());
    } else if (change instanceof Change.NodeLiveness liveness) {
      row.column("change", liveness.isUp() ? "NODE_UP" : "NODE_DOWN")
          .column("host_id", liveness.host());
    } else if (change instanceof Change.NodeRemoved removed) {
      row.column("change", "NODE_REMOVED").column("host_id", removed.host());
    } else if (change instanceof Change.GroupRegistered registered) {
      GroupInfo group = registered.group();
      fillLeader(row, "GROUP_REGISTERED", group.id(), registered.leader(), registered.term());
      row.column("keyspace_name", group.keyspace()).column("group_number", group.number());
    } else if (change instanceof Change.LeaderChanged led) {
      fillLeader(row, "NEW_LEADER", led.group(), led.leader(), led.term());
    } else if (change instanceof Change.GroupRemoved removed) {
      row.column("change", "GROUP_REMOVED").column("group_id", removed.group());
    }
  }

  private static void fillLeader(
      SimpleDataSet row, String change, UUID group, UUID leader, long term) {
    row.column("change", change)
        .column("group_id", group)
        .column("host_id", leader)
        .column("term", term);
  }
}
