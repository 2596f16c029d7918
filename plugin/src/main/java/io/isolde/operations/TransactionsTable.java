// SPDX-License-Identifier: Apache-2.0
package io.isolde.operations;

import io.isolde.peers.Ring;
import io.isolde.transaction.Transaction;
import io.isolde.transaction.Transactions;
import java.util.Locale;
import org.apache.cassandra.db.marshal.BooleanType;
import org.apache.cassandra.db.marshal.LongType;
import org.apache.cassandra.db.marshal.UTF8Type;
import org.apache.cassandra.db.marshal.UUIDType;
import org.apache.cassandra.db.virtual.SimpleDataSet;

/** {@code isolde.transactions}: the open transactions of this node's clients. */
final class TransactionsTable extends NodeTable {
  private final NodeParts parts;

  TransactionsTable(NodeParts parts) {
    super(
        table("transactions", "open on this node", "transaction_id", UUIDType.instance)
            .addRegularColumn("node", UTF8Type.instance)
            .addRegularColumn("isolation_level", UTF8Type.instance)
            .addRegularColumn("start_timestamp", LongType.instance)
            .addRegularColumn("age_ms", LongType.instance)
            .addRegularColumn("idle_ms", LongType.instance)
            .addRegularColumn("user", UTF8Type.instance)
            .addRegularColumn("read_only", BooleanType.instance)
            .addRegularColumn("reads", LongType.instance)
            .addRegularColumn("writes", LongType.instance)
            .addRegularColumn("write_bytes", LongType.instance));
    this.parts = parts;
  }

  @Override
  void fill(SimpleDataSet rows) {
    parts.startedCoordinator().ifPresent(coordinator -> fill(rows, coordinator.transactions()));
  }

  private static void fill(SimpleDataSet rows, Transactions transactions) {
    for (Transaction open : transactions.open()) {
      rows.row(open.id())
          .column("node", Ring.self())
          .column("isolation_level", open.level().name().toLowerCase(Locale.ROOT))
          .column("start_timestamp", open.startTimestamp())
          .column("age_ms", open.ageMillis())
          .column("idle_ms", open.idleMillis())
          .column("user", open.startedBy().isEmpty() ? null : open.startedBy())
          .column("read_only", open.isReadOnly())
          .column("reads", (long) open.readCount())
          .column("writes", (long) open.writeCount())
          .column("write_bytes", open.writeBytes());
    }
  }
}
