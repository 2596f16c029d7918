// SPDX-License-Identifier: Apache-2.0
package io.isolde.transaction;

import com.google.common.collect.Iterables;
import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import io.isolde.version.DroppedColumns;
import io.isolde.version.NodeVersions;
import io.isolde.version.VersionIndex;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.apache.cassandra.cql3.statements.BatchStatement;
import org.apache.cassandra.cql3.statements.ModificationStatement;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.schema.Schema;
import org.apache.cassandra.schema.SchemaConstants;
import org.apache.cassandra.schema.TableMetadata;

/** Which tables are transactional. */
public final class Tables {
  private Tables() {}

  public static boolean isTransactional(TableMetadata table) {
    return NodeVersions.ofThisNode().of(table.id) != null;
  }

  /** Cassandra's own tables, which a transaction may look at as they are. */
  public static boolean isSystem(TableMetadata table) {
    return table.isVirtual() || SchemaConstants.isSystemKeyspace(table.keyspace);
  }

  /**
   * Each of them once. One that comes again and again is hashed once, too: a table's hash goes over
   * all of its schema.
   */
  @SuppressWarnings("ReferenceEquality") // only saves hashing
  public static Set<TableMetadata> distinct(Iterable<TableMetadata> tables) {
    Set<TableMetadata> distinct = new LinkedHashSet<>();
    TableMetadata last = null;
    for (TableMetadata table : tables) {
      if (table != last) {
        distinct.add(table);
      }
      last = table;
    }
    return distinct;
  }

  /** The tables to which a batch writes. */
  public static Set<TableMetadata> of(BatchStatement batch) {
    return distinct(Iterables.transform(batch.getStatements(), ModificationStatement::metadata));
  }

  /**
   * Refuses a statement that was prepared when its tables had columns which they have no longer. To
   * be called by who keeps the tables' barriers open, so that it stays true.
   *
   * @throws IsoldeException UNAVAILABLE
   */
  public static void requireColumns(Iterable<TableMetadata> tables) {
    for (TableMetadata table : tables) {
      if (DroppedColumns.haveGoneSince(table)) {
        throw IsoldeException.of(
            ErrorCode.UNAVAILABLE,
            "Columns of "
                + table
                + " were dropped after the statement had been prepared; nothing was done, try"
                + " again.",
            "table",
            table);
      }
    }
  }

  /**
   * Refuses a transaction that started before a table lost some or all of what it had.
   *
   * @param transactionId null for a single statement
   * @throws IsoldeException SNAPSHOT_TOO_OLD, NOT_TRANSACTIONAL
   */
  static void requireSame(TableMetadata table, long startTimestamp, UUID transactionId) {
    boolean isGone = Schema.instance.getTableMetadata(table.id) == null;
    if (isGone || !requireTransactional(table).existedAt(startTimestamp)) {
      throw IsoldeException.of(
          ErrorCode.SNAPSHOT_TOO_OLD,
          "The table "
              + table
              + (isGone
                  ? " was dropped meanwhile; start again."
                  : " was truncated, made transactional or lost columns meanwhile; start again."),
          "table",
          table,
          "transaction",
          transactionId);
    }
  }

  /**
   * As {@link #requireSame}, for a table that the transaction writes to.
   *
   * @throws IsoldeException SNAPSHOT_TOO_OLD, NOT_TRANSACTIONAL
   */
  static void requireWritable(TableMetadata table, long startTimestamp, UUID transactionId) {
    requireSame(table, startTimestamp, transactionId);
    if (!requireTransactional(table).takesWritesOf(startTimestamp)) {
      throw IsoldeException.of(
          ErrorCode.SNAPSHOT_TOO_OLD,
          "The table " + table + " got a unique index meanwhile; start again.",
          "table",
          table,
          "transaction",
          transactionId);
    }
  }

  /**
   * Makes sure later that tables are as they are now: a commit that takes long must not come after
   * a change that has not waited for it.
   *
   * @param further run after that
   * @return throws SNAPSHOT_TOO_OLD or NOT_TRANSACTIONAL if one has changed
   */
  static Runnable unchanged(
      Collection<PartitionUpdate> updates, UUID transactionId, Runnable further) {
    Map<TableMetadata, Long> before = new HashMap<>();
    for (TableMetadata table : distinct(Iterables.transform(updates, PartitionUpdate::metadata))) {
      before.put(table, requireTransactional(table).takesWritesSince());
    }
    return () -> {
      before.forEach(
          (table, since) -> {
            if (requireTransactional(table).takesWritesSince() != since) {
              throw IsoldeException.of(
                  ErrorCode.SNAPSHOT_TOO_OLD,
                  "The table " + table + " has changed meanwhile; start again.",
                  "table",
                  table,
                  "transaction",
                  transactionId);
            }
          });
      further.run();
    };
  }

  /**
   * Returns the versions of a transactional table.
   *
   * @throws IsoldeException NOT_TRANSACTIONAL
   */
  public static VersionIndex requireTransactional(TableMetadata table) {
    VersionIndex versions = NodeVersions.ofThisNode().of(table.id);
    if (versions == null) {
      throw IsoldeException.of(
          ErrorCode.NOT_TRANSACTIONAL,
          "The table " + table + " is not transactional; see ENABLE TRANSACTIONS ON " + table + ".",
          "table",
          table);
    }
    return versions;
  }
}
