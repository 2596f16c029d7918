// SPDX-License-Identifier: Apache-2.0
package io.isolde.cql;

import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import io.isolde.replication.PrivateField;
import io.isolde.replication.ReplicatedLogStrategy;
import io.isolde.transaction.TableMode;
import io.isolde.transaction.Tables;
import io.isolde.unique.UniqueIndex;
import io.isolde.unique.UniqueKey;
import io.isolde.unique.UniqueSchema;
import io.isolde.version.VersionIndex;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.cassandra.audit.AuditLogContext;
import org.apache.cassandra.cql3.CQLStatement;
import org.apache.cassandra.cql3.statements.schema.AlterSchemaStatement;
import org.apache.cassandra.cql3.statements.schema.AlterTableStatement;
import org.apache.cassandra.cql3.statements.schema.CreateIndexStatement;
import org.apache.cassandra.cql3.statements.schema.DropIndexStatement;
import org.apache.cassandra.cql3.statements.schema.IndexTarget;
import org.apache.cassandra.db.guardrails.Guardrails;
import org.apache.cassandra.exceptions.InvalidRequestException;
import org.apache.cassandra.schema.KeyspaceMetadata;
import org.apache.cassandra.schema.Schema;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.service.StorageProxy;
import org.apache.cassandra.transport.messages.ResultMessage;

/**
 * {@code CREATE UNIQUE INDEX}, and what other statements mean for unique indexes. For Cassandra's
 * parser it is a custom index, as it is in the schema.
 */
final class UniqueIndexStatements {
  private static final Pattern CREATE =
      Pattern.compile("(?is)\\s*CREATE\\s+UNIQUE\\s+INDEX\\b(?<rest>.*?)\\s*;?\\s*");
  private static final PrivateField TABLE =
      PrivateField.of(CreateIndexStatement.class, "tableName");
  private static final PrivateField NAME = PrivateField.of(CreateIndexStatement.class, "indexName");
  private static final PrivateField TARGETS =
      PrivateField.of(CreateIndexStatement.class, "rawIndexTargets");
  private static final PrivateField IF_NOT_EXISTS =
      PrivateField.of(CreateIndexStatement.class, "ifNotExists");
  private static final PrivateField DROPPED =
      PrivateField.of(DropIndexStatement.class, "indexName");

  private static final PrivateField MASKED =
      PrivateField.of(AlterTableStatement.class, "tableName");

  private final LazyCoordinator coordinator;

  UniqueIndexStatements(LazyCoordinator coordinator) {
    this.coordinator = coordinator;
  }

  /** The text as Cassandra parses it. */
  static String rewrite(String text) {
    if (!StatementParser.mayBegin(text, "CREATE")) {
      return text;
    }
    Matcher create = CREATE.matcher(StatementParser.withoutComments(text));
    return create.matches()
        ? "CREATE CUSTOM INDEX "
            + create.group("rest")
            + " USING '"
            + UniqueIndex.class.getName()
            + "'"
        : text;
  }

  /** Returns when the index can be read. */
  ResultMessage create(CreateIndexStatement create, Incoming incoming) {
    create.authorize(incoming.client());
    Guardrails.createSecondaryIndexesEnabled.ensureEnabled(
        "Creating secondary indexes", incoming.client());
    TableMetadata table =
        Schema.instance.validateTable(create.keyspace(), (String) TABLE.get(create));
    SnapshotValidator.refuseWrites(List.of(table));
    refuseWrites(List.of(table));
    var unused = Tables.requireTransactional(table);
    Guardrails.secondaryIndexesPerTable.guard(
        table.indexes.size() + 1L, "on table " + table, false, incoming.client());
    UniqueSchema.removeEntriesOfNone(table.keyspace);
    UniqueSchema.Definition definition =
        new UniqueSchema.Definition(
            (String) NAME.get(create), targets(create, table), (Boolean) IF_NOT_EXISTS.get(create));
    coordinator.get().uniqueIndexes().create(table, () -> UniqueSchema.create(table, definition));
    return ControlStatements.changed(table);
  }

  private static List<IndexTarget> targets(CreateIndexStatement create, TableMetadata table) {
    List<IndexTarget> targets = new ArrayList<>();
    for (Object target : (List<?>) TARGETS.get(create)) {
      targets.add(((IndexTarget.Raw) target).prepare(table));
    }
    if (targets.isEmpty()) {
      throw new InvalidRequestException("A unique index needs columns");
    }
    return targets;
  }

  /** DROP INDEX and DROP TABLE: the entries go with the index. */
  ResultMessage drop(AlterSchemaStatement drop, Incoming incoming) {
    Optional<TableMetadata> table =
        drop instanceof DropIndexStatement
            ? uniquelyIndexed(drop.keyspace(), (String) DROPPED.get(drop))
            : Optional.empty();
    List<ResultMessage> answer = new ArrayList<>(1);
    Runnable change =
        () -> {
          answer.add(incoming.onCassandra().get());
          UniqueSchema.removeEntriesOfNone(drop.keyspace());
        };
    if (table.isPresent()) {
      drop.authorize(incoming.client());
      coordinator.get().uniqueIndexes().drop(table.get(), change);
    } else {
      change.run();
    }
    return answer.get(0);
  }

  /** Returns the table whose unique index has a name. Refuses to make a table with one plain. */
  private static Optional<TableMetadata> uniquelyIndexed(String keyspaceName, String index) {
    KeyspaceMetadata keyspace = Schema.instance.getKeyspaceMetadata(keyspaceName);
    Optional<TableMetadata> table =
        keyspace == null ? Optional.empty() : keyspace.findIndexedTable(index);
    if (table.isPresent() && index.equals(VersionIndex.nameFor(table.get().name))) {
      refuseWrites(List.of(table.get()));
      TableMode.requireNoUniqueIndex(table.get());
    }
    return table.filter(
        one -> UniqueKey.of(one).stream().anyMatch(unique -> unique.name().equals(index)));
  }

  /** Entries are masked as the rows are. */
  static void followMasks(AlterTableStatement.MaskColumn mask) {
    TableMetadata table =
        Schema.instance.getTableMetadata(mask.keyspace(), (String) MASKED.get(mask));
    if (table != null) {
      UniqueSchema.followMasks(table);
    }
  }

  /** After a table was truncated, and before anybody writes to it. */
  void truncate(TableMetadata table) {
    for (UniqueKey index : UniqueKey.now(table)) {
      TableMetadata entries = index.entries();
      TableMode mode = coordinator.get().mode();
      if (ReplicatedLogStrategy.isOf(entries)) {
        mode.truncateInLogs(entries, () -> {});
      } else {
        mode.truncate(entries, () -> truncateOnCassandra(entries));
      }
    }
  }

  private static void truncateOnCassandra(TableMetadata table) {
    try {
      StorageProxy.truncateBlocking(table.keyspace, table.name);
    } catch (TimeoutException e) {
      throw IsoldeException.of(
          ErrorCode.UNAVAILABLE,
          "The entries of the unique index " + table.name + " could not be truncated in time.",
          "table",
          table);
    }
  }

  /** Entries are written with the rows that have their values, and by nobody else. */
  static void refuseWrites(Collection<TableMetadata> tables) {
    tables.forEach(UniqueIndexStatements::refuse);
  }

  /** ALTER, DROP, TRUNCATE and their like, by the table that they tell the audit log of. */
  static void refuseChanges(CQLStatement statement) {
    AuditLogContext context = statement.getAuditLogContext();
    switch (context.auditLogEntryType) {
      case ALTER_TABLE, DROP_TABLE, TRUNCATE, CREATE_TRIGGER, CREATE_VIEW -> {
        if (context.keyspace != null && context.scope != null) {
          TableMetadata table = Schema.instance.getTableMetadata(context.keyspace, context.scope);
          if (table != null) {
            refuse(table);
          }
        }
      }
      default -> {
        // Nothing else takes anything from entries.
      }
    }
  }

  private static void refuse(TableMetadata table) {
    if (UniqueSchema.isOfEntries(table)) {
      throw IsoldeException.of(
          ErrorCode.KEPT_BY_UNIQUE_INDEX,
          "The table "
              + table
              + " has the entries of a unique index, which keeps them; DROP INDEX removes both.",
          "table",
          table,
          "index",
          table.name);
    }
  }
}
