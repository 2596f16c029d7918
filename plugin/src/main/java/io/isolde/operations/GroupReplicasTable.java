// SPDX-License-Identifier: Apache-2.0
package io.isolde.operations;

import io.isolde.group.ReplicaStatus;
import io.isolde.replication.ReplicaStatuses;
import io.isolde.replication.StrongKeyspaces;
import org.apache.cassandra.db.marshal.Int32Type;
import org.apache.cassandra.db.marshal.LongType;
import org.apache.cassandra.db.marshal.UTF8Type;
import org.apache.cassandra.db.virtual.SimpleDataSet;

/**
 * {@code isolde.group_replicas}: all members of the groups of strong keyspaces, which are asked
 * when the table is read.
 */
final class GroupReplicasTable extends NodeTable {
  private static final String SILENT = "SILENT";

  private final StrongKeyspaces keyspaces;

  GroupReplicasTable(StrongKeyspaces keyspaces) {
    super(
        table(
                "group_replicas",
                "replicas of strong keyspaces, as each says itself when it is asked",
                "keyspace_name",
                UTF8Type.instance)
            .addClusteringColumn("group_number", Int32Type.instance)
            .addClusteringColumn("member", UTF8Type.instance)
            .addRegularColumn("state", UTF8Type.instance)
            .addRegularColumn("applied_index", LongType.instance)
            .addRegularColumn("lag_entries", LongType.instance)
            .addRegularColumn("last_write_micros", LongType.instance)
            .addRegularColumn("queued_writes", Int32Type.instance)
            .addRegularColumn("compactions_pending", Int32Type.instance)
            .addRegularColumn("compaction_permit", UTF8Type.instance));
    this.keyspaces = keyspaces;
  }

  @Override
  void fill(SimpleDataSet rows) {
    for (ReplicaStatuses.Member member : ReplicaStatuses.all(keyspaces)) {
      rows.row(member.keyspace(), member.groupNumber(), member.peer().address().getHostString())
          .column("state", member.status().map(status -> status.role().name()).orElse(SILENT));
      member.lagEntries().ifPresent(lag -> rows.column("lag_entries", lag));
      member.status().ifPresent(status -> fill(rows, status));
    }
  }

  private static void fill(SimpleDataSet rows, ReplicaStatus status) {
    rows.column("applied_index", status.appliedIndex())
        .column("last_write_micros", status.lastMicros())
        .column("queued_writes", status.queuedWrites())
        .column("compactions_pending", status.compactionsPending())
        .column("compaction_permit", status.compactionPermit().name());
  }
}
