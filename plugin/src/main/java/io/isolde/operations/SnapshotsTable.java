// SPDX-License-Identifier: Apache-2.0
package io.isolde.operations;

import io.isolde.config.NodeClock;
import io.isolde.snapshot.SnapshotTag;
import io.isolde.snapshot.node.SnapshotReplicaStatus;
import io.isolde.snapshot.store.DiskUsage;
import io.isolde.snapshot.table.SnapshotCatalog;
import java.time.Instant;
import java.util.Collection;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;
import org.apache.cassandra.db.DecoratedKey;
import org.apache.cassandra.db.marshal.ListType;
import org.apache.cassandra.db.marshal.LongType;
import org.apache.cassandra.db.marshal.MapType;
import org.apache.cassandra.db.marshal.TimestampType;
import org.apache.cassandra.db.marshal.UTF8Type;
import org.apache.cassandra.db.virtual.SimpleDataSet;

/** {@code isolde.snapshots}: the snapshots of the cluster; asks every node what it has of them. */
final class SnapshotsTable extends NodeTable {
  private static final long MILLIS_PER_SECOND = 1000;
  private static final String NO_ANSWER = "NO ANSWER";

  private final NodeParts node;

  SnapshotsTable(NodeParts node) {
    super(
        table("snapshots", "readable snapshots", "name", UTF8Type.instance)
            .addRegularColumn("state", UTF8Type.instance)
            .addRegularColumn("timestamp", LongType.instance)
            .addRegularColumn("tables", ListType.getInstance(UTF8Type.instance, false))
            .addRegularColumn(
                "cuts", MapType.getInstance(UTF8Type.instance, UTF8Type.instance, false))
            .addRegularColumn("created", TimestampType.instance)
            .addRegularColumn("age_seconds", LongType.instance)
            .addRegularColumn("expires", TimestampType.instance)
            .addRegularColumn("own_bytes", LongType.instance)
            .addRegularColumn("shared_bytes", LongType.instance)
            .addRegularColumn("sstables", LongType.instance)
            .addRegularColumn(
                "replicas", MapType.getInstance(UTF8Type.instance, UTF8Type.instance, false)));
    this.node = node;
  }

  @Override
  void fill(SimpleDataSet rows) {
    fill(rows, SnapshotCatalog.all());
  }

  @Override
  public DataSet data(DecoratedKey key) {
    SimpleDataSet rows = new SimpleDataSet(metadata());
    fill(rows, SnapshotCatalog.find(UTF8Type.instance.compose(key.getKey())).stream().toList());
    return rows;
  }

  private void fill(SimpleDataSet rows, Collection<SnapshotCatalog.Snapshot> snapshots) {
    if (snapshots.isEmpty()) {
      return;
    }
    Map<String, Optional<List<SnapshotReplicaStatus>>> nodes = node.snapshots().status();
    snapshots.forEach(snapshot -> add(rows, snapshot, nodes));
  }

  private static void add(
      SimpleDataSet rows,
      SnapshotCatalog.Snapshot snapshot,
      Map<String, Optional<List<SnapshotReplicaStatus>>> nodes) {
    SnapshotTag tag = snapshot.tag();
    List<String> tables =
        snapshot.tables().stream()
            .map(table -> table.keyspace + "." + SnapshotTag.of(table).orElseThrow().source())
            .sorted()
            .toList();
    Map<String, String> cuts = new TreeMap<>();
    snapshot
        .tables()
        .forEach(
            table -> {
              SnapshotTag of = SnapshotTag.of(table).orElseThrow();
              cuts.put(table.keyspace + "." + of.source(), of.cut().name());
            });
    rows.row(tag.snapshot())
        .column("state", snapshot.isReady() ? "READY" : "CREATING")
        .column("timestamp", tag.timestampMicros())
        .column("tables", tables)
        .column("cuts", cuts)
        .column("created", date(tag.createdMillis()))
        .column("age_seconds", (NodeClock.nowMillis() - tag.createdMillis()) / MILLIS_PER_SECOND)
        .column("expires", tag.expiresMillis() == 0 ? null : date(tag.expiresMillis()));
    addReplicas(rows, snapshot.creation(), nodes);
  }

  private static Date date(long millis) {
    return Date.from(Instant.ofEpochMilli(millis));
  }

  private static void addReplicas(
      SimpleDataSet rows, UUID creation, Map<String, Optional<List<SnapshotReplicaStatus>>> nodes) {
    Map<String, String> states = new TreeMap<>();
    DiskUsage usage = DiskUsage.NONE;
    for (var node : nodes.entrySet()) {
      Optional<SnapshotReplicaStatus> status =
          node.getValue().stream()
              .flatMap(List::stream)
              .filter(one -> one.creation().equals(creation))
              .findFirst();
      String otherwise = node.getValue().isEmpty() ? NO_ANSWER : "MISSING";
      states.put(node.getKey(), status.map(SnapshotReplicaStatus::state).orElse(otherwise));
      usage = usage.plus(status.map(SnapshotReplicaStatus::usage).orElse(DiskUsage.NONE));
    }
    rows.column("own_bytes", usage.ownBytes())
        .column("shared_bytes", usage.sharedBytes())
        .column("sstables", (long) usage.sstables())
        .column("replicas", states);
  }
}
