// SPDX-License-Identifier: Apache-2.0
package io.isolde.cql;

import com.google.common.collect.Sets;
import io.isolde.answer.Answers;
import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import io.isolde.oracle.IsolationLevel;
import io.isolde.peers.EveryNode;
import io.isolde.replication.ReplicatedLogStrategy;
import io.isolde.snapshot.SnapshotTag;
import io.isolde.snapshot.node.SnapshotNode;
import io.isolde.snapshot.node.Snapshots;
import io.isolde.snapshot.read.SnapshotTransactions;
import io.isolde.snapshot.table.SnapshotCatalog;
import io.isolde.transaction.Tables;
import io.isolde.transaction.Transaction;
import io.isolde.transaction.Transactions;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import java.util.function.LongSupplier;
import org.apache.cassandra.auth.AuthenticatedUser;
import org.apache.cassandra.auth.DataResource;
import org.apache.cassandra.auth.Permission;
import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.db.Keyspace;
import org.apache.cassandra.db.guardrails.Guardrails;
import org.apache.cassandra.db.marshal.Int32Type;
import org.apache.cassandra.db.marshal.LongType;
import org.apache.cassandra.db.marshal.UTF8Type;
import org.apache.cassandra.schema.KeyspaceMetadata;
import org.apache.cassandra.schema.Schema;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.transport.messages.ResultMessage;

/** Executes CREATE SNAPSHOT and DROP SNAPSHOT. */
final class SnapshotStatements {
  private static final Set<Permission> MASKS = Set.of(Permission.UNMASK, Permission.SELECT_MASKED);

  private final SnapshotNode node;
  private final EveryNode everyNode;
  private final LazyCoordinator coordinator;

  SnapshotStatements(SnapshotNode node, EveryNode everyNode, LazyCoordinator coordinator) {
    this.node = node;
    this.everyNode = everyNode;
    this.coordinator = coordinator;
  }

  ResultMessage create(ControlStatement.CreateSnapshot statement, Incoming incoming) {
    List<TableMetadata> tables = tables(statement, incoming);
    for (TableMetadata table : tables) {
      incoming.client().ensureTablePermission(table, Permission.SELECT);
      incoming.client().ensureAllTablesPermission(table.keyspace, Permission.CREATE);
    }
    if (statement.ifNotExists() && SnapshotCatalog.find(statement.name()).isPresent()) {
      return new ResultMessage.Void();
    }
    tables.forEach(SnapshotStatements::refuseUnsupported);
    check(tables, incoming);
    everyNode.requireIsolde("CREATE SNAPSHOT " + statement.name());
    Snapshots.SnapshotRequest wish =
        new Snapshots.SnapshotRequest(
            statement.name(), tables, statement.ttlMillis(), statement.isGated());
    Snapshots.Created created = create(wish, incoming);
    grant(created.name(), incoming);
    return new Rows()
        .with("snapshot", UTF8Type.instance, created.name())
        .with("timestamp", LongType.instance, created.timestampMicros())
        .with("tables", Int32Type.instance, created.tables())
        .with("nodes", Int32Type.instance, created.nodes())
        .build();
  }

  /** The limits that CREATE TABLE has: a snapshot of a table is one. */
  private static void check(List<TableMetadata> tables, Incoming incoming) {
    if (!Guardrails.tables.enabled(incoming.client())) {
      return;
    }
    int userTables =
        Schema.instance.getUserKeyspaces().stream()
            .mapToInt(keyspace -> Keyspace.open(keyspace).getColumnFamilyStores().size())
            .sum();
    Guardrails.tables.guard(
        userTables + tables.size(), tables.get(0).name, false, incoming.client());
  }

  /** An open transaction keeps what the snapshot needs, until it is made. */
  private Snapshots.Created create(Snapshots.SnapshotRequest wish, Incoming incoming) {
    UUID id = UUID.randomUUID();
    List<Transaction> holder = new ArrayList<>(1);
    LongSupplier stable =
        () -> {
          var options =
              new Transactions.Options(IsolationLevel.SNAPSHOT, true, OptionalLong.empty());
          holder.add(
              Answers.await(coordinator.get().transactions().begin(id, options, incoming.user())));
          long moment = holder.get(0).startTimestamp();
          coordinator.get().awaitApplied(wish.tables(), moment);
          return moment;
        };
    try {
      return node.snapshots().create(wish, stable);
    } finally {
      if (!holder.isEmpty()) {
        end(id, incoming);
      }
    }
  }

  private void end(UUID id, Incoming incoming) {
    try {
      var unused = coordinator.get().transactions().rollback(id, incoming.user());
    } catch (IsoldeException e) {
      // It has expired: then what it kept may be gone, and the snapshot has failed for that.
    }
  }

  private static List<TableMetadata> tables(
      ControlStatement.CreateSnapshot statement, Incoming incoming) {
    if (statement.wholeKeyspace() != null) {
      KeyspaceMetadata keyspace = Schema.instance.getKeyspaceMetadata(statement.wholeKeyspace());
      if (keyspace == null) {
        throw IsoldeException.invalid("There is no keyspace " + statement.wholeKeyspace() + ".");
      }
      List<TableMetadata> own =
          keyspace.tables.stream().filter(table -> SnapshotTag.of(table).isEmpty()).toList();
      if (own.isEmpty()) {
        throw IsoldeException.invalid("The keyspace " + keyspace.name + " has no tables.");
      }
      return own;
    }
    Set<TableMetadata> tables = new LinkedHashSet<>();
    for (ControlStatement.QualifiedTable table : statement.tables()) {
      String keyspace =
          table.keyspace() == null ? incoming.client().getKeyspace() : table.keyspace();
      tables.add(Schema.instance.validateTable(keyspace, table.table()));
    }
    return List.copyOf(tables);
  }

  private static void refuseUnsupported(TableMetadata table) {
    String why = null;
    if (Tables.isSystem(table)) {
      why = "it belongs to Cassandra.";
    } else if (table.isView()) {
      why = "it is a materialized view.";
    } else if (table.isCompactTable()) {
      why = "it has COMPACT STORAGE.";
    } else if (SnapshotTag.of(table).isPresent()) {
      why = "it is itself a snapshot.";
    } else if (ReplicatedLogStrategy.isOf(table)) {
      why = "its keyspace is a strong one, whose replicas can't be cut at one moment yet.";
    }
    if (why != null) {
      throw IsoldeException.of(
          ErrorCode.UNSUPPORTED_TABLE,
          "No snapshot can be taken of " + table + ": " + why,
          "table",
          table);
    }
  }

  /**
   * As the creator of a table has all permissions on it; but not to see what the tables hide from
   * him. If he may see it there, he may see it here.
   */
  private static void grant(String snapshot, Incoming incoming) {
    AuthenticatedUser user = incoming.client().getUser();
    if (user == null || user.isAnonymous()) {
      return;
    }
    for (TableMetadata table : SnapshotCatalog.find(snapshot).orElseThrow().tables()) {
      DataResource resource = DataResource.table(table.keyspace, table.name);
      try {
        var unused =
            DatabaseDescriptor.getAuthorizer()
                .grant(
                    AuthenticatedUser.SYSTEM_USER,
                    Sets.difference(resource.applicablePermissions(), MASKS).immutableCopy(),
                    resource,
                    user.getPrimaryRole());
      } catch (UnsupportedOperationException e) {
        return; // everybody may do everything
      }
    }
  }

  ResultMessage drop(ControlStatement.DropSnapshot statement, Incoming incoming) {
    Optional<SnapshotCatalog.Snapshot> snapshot = SnapshotCatalog.find(statement.name());
    if (snapshot.isEmpty()) {
      if (statement.ifExists()) {
        return new ResultMessage.Void();
      }
      throw SnapshotTransactions.notFound(statement.name());
    }
    for (TableMetadata table : snapshot.get().tables()) {
      incoming.client().ensureTablePermission(table, Permission.DROP);
    }
    Guardrails.dropTruncateTableEnabled.ensureEnabled(incoming.client());
    node.snapshots().drop(snapshot.get());
    return new ResultMessage.Void();
  }
}
