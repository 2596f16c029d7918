// SPDX-License-Identifier: Apache-2.0
package io.isolde.operations;

import io.isolde.oracle.Outcome;
import java.util.UUID;
import org.apache.cassandra.db.DecoratedKey;
import org.apache.cassandra.db.marshal.LongType;
import org.apache.cassandra.db.marshal.UTF8Type;
import org.apache.cassandra.db.marshal.UUIDType;
import org.apache.cassandra.db.virtual.SimpleDataSet;

/**
 * {@code isolde.outcomes}: what SHOW TRANSACTION answers, for cqlsh, which keeps SHOW for itself.
 * Has the row that is asked for by its key, and seems empty otherwise.
 */
final class OutcomesTable extends NodeTable {
  private final NodeParts parts;

  OutcomesTable(NodeParts parts) {
    super(
        table("outcomes", "how a transaction ended, by its id", "transaction_id", UUIDType.instance)
            .addRegularColumn("outcome", UTF8Type.instance)
            .addRegularColumn("commit_timestamp", LongType.instance));
    this.parts = parts;
  }

  @Override
  void fill(SimpleDataSet rows) {}

  @Override
  public DataSet data(DecoratedKey key) {
    SimpleDataSet rows = new SimpleDataSet(metadata());
    UUID id = UUIDType.instance.compose(key.getKey());
    parts
        .startedCoordinator()
        .flatMap(coordinator -> coordinator.transactions().outcome(id))
        .ifPresent(outcome -> add(id, outcome, rows));
    return rows;
  }

  private static void add(UUID id, Outcome outcome, SimpleDataSet rows) {
    rows.row(id).column("outcome", outcome.name());
    if (outcome instanceof Outcome.Committed committed) {
      rows.column("commit_timestamp", committed.commitTimestamp());
    }
  }
}
