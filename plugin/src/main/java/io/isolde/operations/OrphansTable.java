// SPDX-License-Identifier: Apache-2.0
package io.isolde.operations;

import io.isolde.oracle.PendingCommit;
import java.util.List;
import org.apache.cassandra.db.marshal.LongType;
import org.apache.cassandra.db.marshal.UUIDType;
import org.apache.cassandra.db.virtual.SimpleDataSet;

/** {@code isolde.orphans}: decided commits of coordinators that are gone; empty unless a member. */
final class OrphansTable extends NodeTable {
  private final NodeParts parts;

  OrphansTable(NodeParts parts) {
    super(
        table("orphans", "commits to finish for others", "commit_timestamp", LongType.instance)
            .addRegularColumn("transaction_id", UUIDType.instance)
            .addRegularColumn("session", LongType.instance));
    this.parts = parts;
  }

  @Override
  void fill(SimpleDataSet rows) {
    List<PendingCommit> orphans =
        parts.oracleHost().map(host -> host.node().orphans()).orElse(List.of());
    for (PendingCommit orphan : orphans) {
      rows.row(orphan.commitTimestamp())
          .column("transaction_id", orphan.transactionId())
          .column("session", orphan.session());
    }
  }
}
