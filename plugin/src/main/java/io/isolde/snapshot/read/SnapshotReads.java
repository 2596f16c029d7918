// SPDX-License-Identifier: Apache-2.0
package io.isolde.snapshot.read;

import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import io.isolde.read.SnapshotSelect;
import io.isolde.snapshot.SnapshotTag;
import java.util.Set;
import org.apache.cassandra.cql3.QueryOptions;
import org.apache.cassandra.cql3.statements.SelectStatement;
import org.apache.cassandra.db.ConsistencyLevel;
import org.apache.cassandra.db.guardrails.Guardrails;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.service.QueryState;
import org.apache.cassandra.transport.Dispatcher;
import org.apache.cassandra.transport.messages.ResultMessage;

/**
 * Reads tables of snapshots: as Cassandra reads any table, but with the time of the snapshot, so
 * that what had not expired then is there.
 */
public final class SnapshotReads {
  private SnapshotReads() {}

  /** A SELECT that names the table of a snapshot. */
  public static ResultMessage.Rows select(
      SelectStatement select,
      QueryOptions options,
      QueryState state,
      Dispatcher.RequestTime requestTime) {
    SnapshotTag tag = requireReady(select.table);
    SnapshotPermissions permissions = SnapshotPermissions.of(select.table, state.getClientState());
    check(permissions, select, options, state);
    SelectStatement shown =
        new SnapshotSelect(
            permissions.mayUnmask() ? unmasked(select.table) : select.table,
            select,
            permissions::checkDenied);
    return shown.execute(state, at(options, tag), requestTime);
  }

  /** A SELECT that names the table that the snapshot is of. */
  static ResultMessage.Rows selectFrom(
      TableMetadata table,
      SelectStatement select,
      QueryOptions options,
      QueryState state,
      Dispatcher.RequestTime requestTime) {
    SnapshotTag tag = requireReady(table);
    SnapshotPermissions permissions = SnapshotPermissions.of(table, state.getClientState());
    check(permissions, select, options, state);
    return new SnapshotSelect(
            select, query -> Retarget.of(select, table).apply(permissions.checkDenied(query)))
        .execute(state, at(options, tag), requestTime);
  }

  private static void check(
      SnapshotPermissions permissions,
      SelectStatement select,
      QueryOptions options,
      QueryState state) {
    permissions.check(select);
    select.validate(state.getClientState());
    // The level that was asked for: what is read at is Isolde's choice.
    Guardrails.readConsistencyLevels.guard(
        Set.of(options.getConsistency()), state.getClientState());
  }

  static SnapshotTag requireReady(TableMetadata table) {
    SnapshotTag tag = SnapshotTag.of(table).orElseThrow();
    if (!tag.isReady()) {
      throw IsoldeException.of(
          ErrorCode.SNAPSHOT_UNAVAILABLE,
          "The snapshot " + tag.snapshot() + " is not ready yet.",
          "snapshot",
          tag.snapshot());
    }
    return tag;
  }

  /** For who may see what the table hides. */
  private static TableMetadata unmasked(TableMetadata table) {
    if (!table.hasMaskedColumns()) {
      return table;
    }
    TableMetadata.Builder bare = table.unbuild();
    table.columns().forEach(column -> bare.alterColumnMask(column.name, null));
    return bare.build();
  }

  private static QueryOptions at(QueryOptions options, SnapshotTag tag) {
    return QueryOptions.create(
        plain(options.getConsistency()),
        options.getValues(),
        options.skipMetadata(),
        options.getPageSize(),
        options.getPagingState(),
        ConsistencyLevel.SERIAL,
        options.getProtocolVersion(),
        options.getKeyspace(),
        Long.MIN_VALUE,
        tag.nowInSeconds());
  }

  /** Nobody writes here, so there is nothing to agree on. */
  private static ConsistencyLevel plain(ConsistencyLevel consistency) {
    return switch (consistency) {
      case SERIAL -> ConsistencyLevel.QUORUM;
      case LOCAL_SERIAL -> ConsistencyLevel.LOCAL_QUORUM;
      default -> consistency;
    };
  }
}
