// SPDX-License-Identifier: Apache-2.0
package io.isolde.operations;

import io.isolde.transaction.SeenConflict;
import java.time.Instant;
import java.util.Date;
import java.util.Locale;
import org.apache.cassandra.db.marshal.BooleanType;
import org.apache.cassandra.db.marshal.LongType;
import org.apache.cassandra.db.marshal.ReversedType;
import org.apache.cassandra.db.marshal.TimestampType;
import org.apache.cassandra.db.marshal.UTF8Type;
import org.apache.cassandra.db.marshal.UUIDType;
import org.apache.cassandra.db.virtual.SimpleDataSet;
import org.apache.cassandra.utils.FBUtilities;

/** {@code isolde.conflicts}: the last transactions of this node that were aborted; newest first. */
final class ConflictsTable extends NodeTable {
  private final TransactionWatch watch;

  ConflictsTable(TransactionWatch watch) {
    super(
        table("conflicts", "the last aborts of this node", "node", UTF8Type.instance)
            .addClusteringColumn("number", ReversedType.getInstance(LongType.instance))
            .addRegularColumn("seen_at", TimestampType.instance)
            .addRegularColumn("kind", UTF8Type.instance)
            .addRegularColumn("true_conflict", BooleanType.instance)
            .addRegularColumn("keyspace_name", UTF8Type.instance)
            .addRegularColumn("table_name", UTF8Type.instance)
            .addRegularColumn("key", UTF8Type.instance)
            .addRegularColumn("transaction_id", UUIDType.instance)
            .addRegularColumn("committed_by", UUIDType.instance)
            .addRegularColumn("committed_at", LongType.instance));
    this.watch = watch;
  }

  @Override
  void fill(SimpleDataSet rows) {
    String node = FBUtilities.getBroadcastAddressAndPort().getHostAddress(false);
    for (RecentItems.Numbered<SeenConflict> numbered : watch.conflicts()) {
      SeenConflict conflict = numbered.entry();
      rows.row(node, numbered.number())
          .column("seen_at", Date.from(Instant.ofEpochMilli(conflict.seenAtMillis())))
          .column("kind", conflict.kind().name().toLowerCase(Locale.ROOT))
          .column("true_conflict", conflict.isTrueConflict())
          .column("keyspace_name", conflict.keyspace())
          .column("table_name", conflict.table())
          .column("key", conflict.key())
          .column("transaction_id", conflict.transaction())
          .column("committed_by", conflict.by())
          .column("committed_at", conflict.committedAt() == 0 ? null : conflict.committedAt());
    }
  }
}
