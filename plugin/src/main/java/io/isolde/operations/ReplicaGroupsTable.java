// SPDX-License-Identifier: Apache-2.0
package io.isolde.operations;

import io.isolde.group.Layout;
import io.isolde.group.ReplicaGroup;
import io.isolde.raft.Peer;
import io.isolde.replication.StrongKeyspaces;
import java.util.List;
import java.util.Optional;
import org.apache.cassandra.db.marshal.Int32Type;
import org.apache.cassandra.db.marshal.ListType;
import org.apache.cassandra.db.marshal.LongType;
import org.apache.cassandra.db.marshal.UTF8Type;
import org.apache.cassandra.db.virtual.SimpleDataSet;

/** {@code isolde.replica_groups}: the groups of strong keyspaces, as this node sees them. */
final class ReplicaGroupsTable extends NodeTable {
  private final StrongKeyspaces keyspaces;

  ReplicaGroupsTable(StrongKeyspaces keyspaces) {
    super(
        table(
                "replica_groups",
                "replica groups of strong keyspaces, as this node sees them",
                "keyspace_name",
                UTF8Type.instance)
            .addClusteringColumn("group_number", Int32Type.instance)
            .addRegularColumn("group_id", UTF8Type.instance)
            .addRegularColumn("ranges", ListType.getInstance(UTF8Type.instance, false))
            .addRegularColumn("members", ListType.getInstance(UTF8Type.instance, false))
            .addRegularColumn("state", UTF8Type.instance)
            .addRegularColumn("leader", UTF8Type.instance)
            .addRegularColumn("term", LongType.instance)
            .addRegularColumn("applied_index", LongType.instance)
            .addRegularColumn("lag_entries", LongType.instance)
            .addRegularColumn("log_from_index", LongType.instance)
            .addRegularColumn("last_write_micros", LongType.instance)
            .addRegularColumn("queued_writes", Int32Type.instance)
            .addRegularColumn("compactions_pending", Int32Type.instance)
            .addRegularColumn("compaction_permit", UTF8Type.instance)
            .addRegularColumn("problem", UTF8Type.instance));
    this.keyspaces = keyspaces;
  }

  @Override
  void fill(SimpleDataSet rows) {
    for (StrongKeyspaces.Shown shown : keyspaces.show()) {
      rows.row(shown.keyspace(), shown.group().number())
          .column("group_id", shown.target().group().toString())
          .column("ranges", ranges(shown.spans()))
          .column("members", shown.group().members().stream().map(Layout.Member::address).toList())
          .column("state", state(shown))
          .column("problem", shown.problem().orElse(null));
      shown.replica().ifPresent(replica -> fill(rows, shown.keyspace(), replica));
    }
  }

  private void fill(SimpleDataSet rows, String keyspace, ReplicaGroup replica) {
    rows.column("leader", leader(replica.leader()))
        .column("term", replica.term())
        .column("applied_index", replica.appliedIndex())
        .column("lag_entries", replica.lagEntries())
        .column("log_from_index", replica.markedIndex() + 1)
        .column("last_write_micros", replica.lastMicros())
        .column("queued_writes", replica.queued())
        .column("compactions_pending", keyspaces.leadership().compactionsPending(keyspace))
        .column("compaction_permit", keyspaces.leadership().compactionPermit().name());
  }

  private static List<String> ranges(List<Layout.Span> spans) {
    return spans.stream().map(span -> "(" + span.start() + ", " + span.end() + "]").toList();
  }

  private static String leader(Optional<Peer> leader) {
    return leader.map(peer -> peer.address().getAddress().getHostAddress()).orElse(null);
  }

  private static String state(StrongKeyspaces.Shown shown) {
    if (shown.replica().isEmpty()) {
      return shown.problem().isPresent() ? "FAILED" : "ELSEWHERE";
    }
    return shown.replica().get().role().name();
  }
}
