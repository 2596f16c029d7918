// SPDX-License-Identifier: Apache-2.0
package io.isolde.operations;

import io.isolde.oracle.lock.LockTable;
import org.apache.cassandra.db.marshal.BooleanType;
import org.apache.cassandra.db.marshal.Int32Type;
import org.apache.cassandra.db.marshal.LongType;
import org.apache.cassandra.db.marshal.UUIDType;
import org.apache.cassandra.db.virtual.SimpleDataSet;

/**
 * {@code isolde.row_locks}: who has locked rows, and who waits for whom; on the oracle's leader.
 */
final class RowLocksTable extends NodeTable {
  private static final long NANOS_PER_MILLI = 1_000_000;

  private final NodeParts parts;

  RowLocksTable(NodeParts parts) {
    super(
        table(
                "row_locks",
                "locked rows, and who waits for them",
                "transaction_id",
                UUIDType.instance)
            .addRegularColumn("locked_rows", Int32Type.instance)
            .addRegularColumn("waits", BooleanType.instance)
            .addRegularColumn("waits_for", UUIDType.instance)
            .addRegularColumn("for_millis", LongType.instance));
    this.parts = parts;
  }

  @Override
  void fill(SimpleDataSet rows) {
    long nowMillis = System.nanoTime() / NANOS_PER_MILLI;
    for (LockTable.Entry entry : parts.rowLocks().entries()) {
      rows.row(entry.transaction())
          .column("locked_rows", entry.locked())
          .column("waits", entry.waitsFor().isPresent())
          .column("waits_for", entry.waitsFor().orElse(null))
          .column("for_millis", nowMillis - entry.sinceMillis());
    }
  }
}
