// SPDX-License-Identifier: Apache-2.0
package io.isolde.snapshot.read;

import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import io.isolde.read.SnapshotSelect;
import io.isolde.snapshot.table.SnapshotTag;
import java.util.Optional;
import org.apache.cassandra.auth.Permission;
import org.apache.cassandra.cql3.QueryOptions;
import org.apache.cassandra.cql3.functions.Function;
import org.apache.cassandra.cql3.statements.SelectStatement;
import org.apache.cassandra.db.ConsistencyLevel;
import org.apache.cassandra.exceptions.UnauthorizedException;
import org.apache.cassandra.schema.Schema;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.service.ClientState;
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
    authorize(select, select.table, state.getClientState());
    select.validate(state.getClientState());
    return select.execute(state, at(options, tag), requestTime);
  }

  /** A SELECT that names the table that the snapshot is of. */
  static ResultMessage.Rows selectFrom(
      TableMetadata table,
      SelectStatement select,
      QueryOptions options,
      QueryState state,
      Dispatcher.RequestTime requestTime) {
    SnapshotTag tag = requireReady(table);
    authorize(select, table, state.getClientState());
    select.validate(state.getClientState());
    return new SnapshotSelect(select, query -> Retarget.of(select, table).apply(query))
        .execute(state, at(options, tag), requestTime);
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

  /** Whoever may read a table may read its snapshots. */
  private static void authorize(SelectStatement select, TableMetadata table, ClientState client) {
    try {
      client.ensureTablePermission(table, Permission.SELECT);
    } catch (UnauthorizedException e) {
      SnapshotTag tag = SnapshotTag.of(table).orElseThrow();
      Optional<TableMetadata> source =
          Optional.ofNullable(Schema.instance.getTableMetadata(table.keyspace, tag.source()))
              .filter(now -> now.id.asUUID().equals(tag.sourceId()));
      client.ensureTablePermission(source.orElseThrow(() -> e), Permission.SELECT);
    }
    for (Function function : select.getFunctions()) {
      client.ensurePermission(Permission.EXECUTE, function);
    }
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
