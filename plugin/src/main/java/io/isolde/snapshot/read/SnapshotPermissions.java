// SPDX-License-Identifier: Apache-2.0
package io.isolde.snapshot.read;

import io.isolde.apply.Denylist;
import io.isolde.snapshot.SnapshotTag;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import org.apache.cassandra.auth.Permission;
import org.apache.cassandra.cql3.functions.Function;
import org.apache.cassandra.cql3.statements.SelectStatement;
import org.apache.cassandra.db.ReadQuery;
import org.apache.cassandra.exceptions.UnauthorizedException;
import org.apache.cassandra.schema.ColumnMetadata;
import org.apache.cassandra.schema.Schema;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.service.ClientState;

/**
 * What a client may see of a snapshot: as much as of the table that it is of, as long as that is
 * there, and what was granted on the snapshot itself. A column that was masked after the snapshot
 * was taken is not shown to those who must not see it in the table.
 */
final class SnapshotPermissions {
  private final TableMetadata snapshot;
  private final Optional<TableMetadata> source;
  private final ClientState client;

  private SnapshotPermissions(
      TableMetadata snapshot, Optional<TableMetadata> source, ClientState client) {
    this.snapshot = snapshot;
    this.source = source;
    this.client = client;
  }

  static SnapshotPermissions of(TableMetadata snapshot, ClientState client) {
    SnapshotTag tag = SnapshotTag.of(snapshot).orElseThrow();
    return new SnapshotPermissions(
        snapshot,
        Optional.ofNullable(Schema.instance.getTableMetadata(snapshot.keyspace, tag.source()))
            .filter(now -> now.id.asUUID().equals(tag.sourceId())),
        client);
  }

  /**
   * Does what {@link SelectStatement#authorize} does for other tables.
   *
   * @param select from the snapshot, or from its source
   * @throws UnauthorizedException as Cassandra says it
   */
  void check(SelectStatement select) {
    try {
      client.ensureTablePermission(snapshot, Permission.SELECT);
    } catch (UnauthorizedException e) {
      client.ensureTablePermission(source.orElseThrow(() -> e), Permission.SELECT);
    }
    for (Function function : select.getFunctions()) {
      client.ensurePermission(Permission.EXECUTE, function);
    }
    refuseMasked(
        select.table.columns(), select.getRestrictions()::isRestricted, Permission.SELECT_MASKED);
    // What is selected from the source is masked by the source.
    if (select.table.id.equals(snapshot.id)) {
      List<ColumnMetadata> selected = select.getSelection().getColumns();
      refuseMasked(selected, column -> !column.isMasked(), null);
    }
  }

  /**
   * @param concerned which of the columns the statement uses in a way that a mask forbids
   * @param alsoWith a permission that is enough, beside UNMASK; null if there is none
   */
  private void refuseMasked(
      Collection<ColumnMetadata> columns,
      Predicate<ColumnMetadata> concerned,
      Permission alsoWith) {
    List<ColumnMetadata> refused =
        columns.stream().filter(concerned).filter(column -> isHidden(column, alsoWith)).toList();
    if (!refused.isEmpty()) {
      throw new UnauthorizedException(
          String.format(
              "User %s has no UNMASK nor SELECT_MASKED permission on table %s.%s,"
                  + " cannot query masked columns %s",
              client.getUser().getName(), snapshot.keyspace, shownName(), refused));
    }
  }

  private String shownName() {
    return source.isPresent() ? source.get().name : snapshot.name;
  }

  private boolean isHidden(ColumnMetadata column, Permission alsoWith) {
    if (source.isPresent() && has(source.get(), alsoWith)) {
      return false;
    }
    return isMasked(snapshot, column)
        ? !has(snapshot, alsoWith)
        : source.map(table -> isMasked(table, column)).orElse(false);
  }

  private boolean has(TableMetadata table, Permission alsoWith) {
    return client.hasTablePermission(table, Permission.UNMASK)
        || (alsoWith != null && client.hasTablePermission(table, alsoWith));
  }

  private static boolean isMasked(TableMetadata table, ColumnMetadata column) {
    ColumnMetadata there = table.getColumn(column.name);
    return there != null && there.isMasked();
  }

  /** What an operator has denied in the table is denied in its snapshots. */
  ReadQuery checkDenied(ReadQuery query) {
    source.ifPresent(table -> Denylist.check(table, query));
    return query;
  }

  /** Whether the client may see what the table hides, and so what its snapshots do. */
  boolean mayUnmask() {
    return source.isPresent() && client.hasTablePermission(source.get(), Permission.UNMASK);
  }
}
