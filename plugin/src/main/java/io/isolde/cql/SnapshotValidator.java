// SPDX-License-Identifier: Apache-2.0
package io.isolde.cql;

import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import io.isolde.snapshot.SnapshotTag;
import java.util.Collection;
import java.util.Optional;
import org.apache.cassandra.audit.AuditLogContext;
import org.apache.cassandra.cql3.CQLStatement;
import org.apache.cassandra.schema.Schema;
import org.apache.cassandra.schema.TableMetadata;

/** Refuses what would change a snapshot. */
final class SnapshotValidator {
  private SnapshotValidator() {}

  static void refuseWrites(Collection<TableMetadata> tables) {
    for (TableMetadata table : tables) {
      SnapshotTag.of(table).ifPresent(tag -> refuse(table, tag));
    }
  }

  /** ALTER, DROP, TRUNCATE and their like, by the table that they tell the audit log of. */
  static void refuseChanges(CQLStatement statement) {
    AuditLogContext context = statement.getAuditLogContext();
    switch (context.auditLogEntryType) {
      case ALTER_TABLE, DROP_TABLE, TRUNCATE, CREATE_TRIGGER, CREATE_VIEW -> {
        if (context.keyspace != null && context.scope != null) {
          refuse(context.keyspace, context.scope);
        }
      }
      default -> {
        // An index on a snapshot is welcome.
      }
    }
  }

  private static void refuse(String keyspace, String name) {
    TableMetadata table = Schema.instance.getTableMetadata(keyspace, name);
    Optional<SnapshotTag> tag = table == null ? Optional.empty() : SnapshotTag.of(table);
    tag.ifPresent(found -> refuse(table, found));
  }

  private static void refuse(TableMetadata table, SnapshotTag tag) {
    throw IsoldeException.of(
        ErrorCode.SNAPSHOT_READ_ONLY,
        "The table "
            + table
            + " is a snapshot, and does not change; DROP SNAPSHOT "
            + tag.snapshot()
            + " removes it.",
        "table",
        table,
        "snapshot",
        tag.snapshot());
  }
}
