// SPDX-License-Identifier: Apache-2.0
package io.isolde.snapshot.table;

import io.isolde.error.IsoldeException;
import io.isolde.snapshot.SnapshotTag;
import io.isolde.version.VersionIndex;
import java.util.Collection;
import java.util.List;
import java.util.UUID;
import java.util.function.UnaryOperator;
import org.apache.cassandra.cql3.statements.schema.IndexTarget;
import org.apache.cassandra.schema.KeyspaceMetadata;
import org.apache.cassandra.schema.Keyspaces;
import org.apache.cassandra.schema.Schema;
import org.apache.cassandra.schema.TableId;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.schema.Tables;

/**
 * Changes the schema, in the way of every DDL statement: durable on this node when a method
 * returns, and sent to all others. Each method is one change, seen whole or not at all.
 */
public final class SnapshotSchema {
  private SnapshotSchema() {}

  /** A table to be made. */
  public record NewTable(TableMetadata source, TableId id, SnapshotTag tag) {}

  /**
   * Makes the tables of a snapshot.
   *
   * @throws IsoldeException if one of the names is taken
   * @throws IllegalStateException if another snapshot of the name is there; nothing is changed
   */
  public static void add(Collection<NewTable> tables) {
    var unused =
        Schema.instance.transform(
            before -> {
              SnapshotTag any = tables.iterator().next().tag; // They agree in these.
              requireOnly(before, any.snapshot(), any.creation());
              Keyspaces after = before;
              for (NewTable table : tables) {
                after = with(after, table);
              }
              return after;
            });
  }

  private static Keyspaces with(Keyspaces before, NewTable added) {
    KeyspaceMetadata keyspace = before.getNullable(added.source.keyspace);
    TableMetadata copy = new TableCopy(added.source, added.tag).build(added.id);
    if (keyspace == null || keyspace.getTableOrViewNullable(copy.name) != null) {
      throw IsoldeException.invalid("There is a table " + copy + " already.");
    }
    copy.validate();
    return before.withAddedOrUpdated(keyspace.withSwapped(keyspace.tables.with(copy)));
  }

  /**
   * The decision: from now on the snapshot can be read.
   *
   * @param tables how many it has
   * @param timestampMicros its moment
   * @throws IllegalStateException if a table is gone, or another snapshot of the name is there;
   *     then nothing is changed
   */
  public static void publish(String name, UUID creation, int tables, long timestampMicros) {
    var unused =
        Schema.instance.transform(
            before -> {
              requireOnly(before, name, creation);
              if (tablesOf(before, creation).size() != tables) {
                throw new IllegalStateException("A table of the snapshot was dropped meanwhile.");
              }
              return changed(
                  before, creation, table -> TableCopy.published(table, timestampMicros));
            });
  }

  /**
   * Of two that are made through two nodes, at most one passes this when it is published. For each
   * is published after all nodes, and so the other's, have heard of its tables.
   */
  private static void requireOnly(Keyspaces before, String name, UUID creation) {
    boolean isTaken =
        SnapshotCatalog.in(before).stream()
            .anyMatch(
                other -> other.tag().snapshot().equals(name) && !other.creation().equals(creation));
    if (isTaken) {
      throw new IllegalStateException(
          "A snapshot of the same name was made through another node at the same time. Create it"
              + " again if there is none of that name.");
    }
  }

  /** Drops the tables of a snapshot that are still there; their data goes with them. */
  public static void remove(UUID creation) {
    if (tablesOf(Schema.instance.distributedKeyspaces(), creation).isEmpty()) {
      return;
    }
    var unused = Schema.instance.transform(before -> changed(before, creation, table -> null));
  }

  private static List<TableMetadata> tablesOf(Keyspaces keyspaces, UUID creation) {
    return SnapshotCatalog.in(keyspaces).stream()
        .filter(snapshot -> snapshot.creation().equals(creation))
        .flatMap(snapshot -> snapshot.tables().stream())
        .toList();
  }

  /**
   * Changes each table of a snapshot.
   *
   * @param change returns null for a table that goes
   */
  private static Keyspaces changed(
      Keyspaces before, UUID creation, UnaryOperator<TableMetadata> change) {
    Keyspaces after = before;
    for (TableMetadata table : tablesOf(before, creation)) {
      KeyspaceMetadata keyspace = after.getNullable(table.keyspace);
      TableMetadata changed = change.apply(table);
      Tables tables =
          changed == null ? keyspace.tables.without(table) : keyspace.tables.withSwapped(changed);
      after = after.withAddedOrUpdated(keyspace.withSwapped(tables));
    }
    return after;
  }

  /** Whether a table keeps its past, so that it can be cut at a timestamp. */
  public static boolean isTransactional(TableMetadata table) {
    return table.indexes.stream()
        .anyMatch(
            index ->
                VersionIndex.class
                    .getName()
                    .equals(index.options.get(IndexTarget.CUSTOM_INDEX_OPTION_NAME)));
  }
}
