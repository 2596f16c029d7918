// SPDX-License-Identifier: Apache-2.0
package io.isolde.cql;

import static java.util.stream.Collectors.toSet;

import io.isolde.answer.Answers;
import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import io.isolde.read.LockingSelect;
import io.isolde.replication.ReplicaMoves;
import io.isolde.replication.ReplicatedLogStrategy;
import io.isolde.replication.StrongStatements;
import io.isolde.snapshot.SnapshotTag;
import io.isolde.snapshot.gate.WriteGate;
import io.isolde.snapshot.read.SnapshotReads;
import io.isolde.snapshot.read.SnapshotTransactions;
import io.isolde.statement.BoundWrite;
import io.isolde.transaction.Tables;
import io.isolde.transaction.barrier.TableBarrier;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.apache.cassandra.cql3.BatchQueryOptions;
import org.apache.cassandra.cql3.CQLStatement;
import org.apache.cassandra.cql3.QueryOptions;
import org.apache.cassandra.cql3.statements.BatchStatement;
import org.apache.cassandra.cql3.statements.DescribeStatement;
import org.apache.cassandra.cql3.statements.ModificationStatement;
import org.apache.cassandra.cql3.statements.SelectStatement;
import org.apache.cassandra.cql3.statements.TruncateStatement;
import org.apache.cassandra.cql3.statements.UseStatement;
import org.apache.cassandra.cql3.statements.schema.AlterKeyspaceStatement;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.service.ClientState;
import org.apache.cassandra.transport.messages.ResultMessage;

/** Decides for each request whether it is Isolde's, and in which transaction it runs. */
final class StatementRouter {
  private final TableBarrier barrier;
  private final LazyCoordinator coordinator;
  private final ControlStatements control;
  private final StrongRouter strong;
  private final ConnectionTransactions connections;
  private final WriteGate writeGate;
  private final SnapshotTransactions snapshotTransactions;
  private final TableChanges changes;
  private final DataRequests data;
  private final BlockStatements blocks;
  private final WatchStatements watches;
  private final AlteredKeyspaces altered;

  StatementRouter(TableBarrier barrier, NodeStart node, StrongStatements strong) {
    this.barrier = barrier;
    this.coordinator = node.coordinator();
    this.changes = new TableChanges(coordinator, node.everyNode(), barrier);
    this.writeGate = node.snapshots().gate();
    this.snapshotTransactions = node.snapshotTransactions();
    this.connections = new ConnectionTransactions(this::abandon);
    this.strong = new StrongRouter(strong, barrier, connections);
    this.control = new ControlStatements(barrier, node, connections);
    this.data = new DataRequests(coordinator, control, connections);
    this.blocks = new BlockStatements(coordinator, barrier, connections);
    this.altered =
        new AlteredKeyspaces(new ReplicaMoves(strong.keyspaces(), node.everyNode().newNames()));
    this.watches = new WatchStatements(node.changeSources(), connections);
  }

  ConnectionTransactions connections() {
    return connections;
  }

  private void abandon(UUID id, String user, String sentence) {
    var unused = snapshotTransactions.end(id, user);
    coordinator
        .ifStarted()
        .ifPresent(started -> started.transactions().abandon(id, user, sentence));
  }

  /**
   * Has a request run. If it fails, so does the transaction that it belongs to, unless it was not
   * to change anything.
   */
  CompletableFuture<ResultMessage> run(
      CQLStatement statement,
      TransactionPayload payload,
      ClientState client,
      Supplier<CompletableFuture<ResultMessage>> request) {
    Consumer<Throwable> onFailure =
        cause -> {
          if (payload.commits()) {
            control.abort(payload, client, cause);
          } else if (FailedStatement.endsTransaction(statement)) {
            control.fail(payload, client, cause);
          }
        };
    try {
      return request
          .get()
          .whenComplete(
              (answer, failure) -> {
                if (failure != null) {
                  onFailure.accept(Answers.cause(failure));
                }
              });
    } catch (RuntimeException | Error e) {
      onFailure.accept(e);
      throw e;
    }
  }

  private static CompletableFuture<ResultMessage> now(ResultMessage answer) {
    return CompletableFuture.completedFuture(answer);
  }

  CompletableFuture<ResultMessage> route(
      CQLStatement statement, QueryOptions options, Incoming incoming) {
    if (incoming.bound().isEmpty() && !ConnectionTransactions.isOfNone(statement)) {
      connections.arrive(incoming.client());
    }
    if (statement instanceof ControlStatement.Savepoint savepoint) {
      if (incoming.payload().commits()) {
        throw IsoldeException.invalid(TransactionPayload.COMMIT + " does not go with savepoints.");
      }
      return inTransaction(statement, incoming, () -> control.execute(savepoint, incoming));
    }
    if (statement instanceof ControlStatement.Watch watch) {
      return watches.run(watch, options, incoming);
    }
    if (statement instanceof ControlStatement.Block block) {
      return now(blocks.run(block, options, incoming));
    }
    if (statement instanceof ControlStatement own) {
      return control.execute(own, incoming);
    }
    // A further page is of a statement that has begun the transaction.
    Incoming asked = options.getPagingState() == null ? incoming : incoming.withoutStart();
    return inTransaction(
        statement,
        asked,
        () -> DisabledMeanwhile.again(() -> routeData(statement, options, asked)));
  }

  /** Begins the transaction first, if the request says so. */
  private CompletableFuture<ResultMessage> inTransaction(
      CQLStatement statement,
      Incoming incoming,
      Supplier<CompletableFuture<ResultMessage>> execution) {
    if (incoming.payload().start().isPresent() || incoming.payload().commits()) {
      incoming.client().validateLogin();
    }
    if (incoming.payload().start().isPresent()) {
      long startTimestamp = control.begin(statement, incoming);
      return TransactionPayload.started(startTimestamp, execution.get());
    }
    if (incoming.payload().commits() && !control.isOpen(incoming)) {
      // Repeated: whatever the writes would be refused for today, it may be decided.
      return control.commit(incoming);
    }
    return execution.get();
  }

  private CompletableFuture<ResultMessage> routeData(
      CQLStatement statement, QueryOptions options, Incoming incoming) {
    boolean isWrite =
        statement instanceof ModificationStatement || statement instanceof BatchStatement;
    if (incoming.payload().commits() && !isWrite) {
      throw IsoldeException.invalid(
          TransactionPayload.COMMIT
              + " goes with INSERT, UPDATE, DELETE and BATCH only; the transaction is rolled"
              + " back.");
    }
    if (statement instanceof BatchStatement batch) {
      Optional<CompletableFuture<ResultMessage>> strongly =
          strong.write(
              batch,
              Tables.of(batch),
              () -> BoundWrite.of(batch, BatchQueryOptions.withoutPerStatementVariables(options)),
              options,
              incoming);
      if (strongly.isPresent()) {
        return strongly.get();
      }
      return routeBatch(batch, BatchQueryOptions.withoutPerStatementVariables(options), incoming);
    }
    if (statement instanceof LockingSelect select) {
      return routeLocking(select, options, incoming);
    }
    if (statement instanceof SelectStatement select) {
      Optional<SnapshotTransactions.Open> reader = snapshotTransaction(incoming);
      if (reader.isPresent() && !Tables.isSystem(select.table)) {
        return now(
            reader
                .get()
                .select(select, options, incoming.state(), incoming.request().requestTime()));
      }
      Optional<CompletableFuture<ResultMessage>> strongly =
          strong.select(select, options, incoming);
      if (strongly.isPresent()) {
        return strongly.get();
      }
      if (transactionOf(incoming).isEmpty() && SnapshotTag.of(select.table).isPresent()) {
        return now(
            SnapshotReads.select(
                select, options, incoming.state(), incoming.request().requestTime()));
      }
      return Tables.isSystem(select.table)
          ? now(incoming.onCassandra().get())
          : route(
              Set.of(select.table), incoming, () -> now(data.select(select, options, incoming)));
    }
    if (statement instanceof ModificationStatement write) {
      List<BoundWrite> writes = List.of(new BoundWrite(write, options));
      Optional<CompletableFuture<ResultMessage>> strongly =
          strong.write(write, Set.of(write.metadata()), () -> writes, options, incoming);
      if (strongly.isPresent()) {
        return strongly.get();
      }
      return routeWrite(
          Set.of(write.metadata()),
          incoming.checking(() -> StatementChecks.ofPlain(write, writes)),
          () -> data.write(statement, writes, options.getConsistency(), incoming));
    }
    return now(routeOther(statement, incoming));
  }

  private CompletableFuture<ResultMessage> routeLocking(
      LockingSelect select, QueryOptions options, Incoming incoming) {
    ForUpdate.requireTransaction(transactionOf(incoming));
    refuseOfSnapshot(incoming);
    return route(Set.of(select.table), incoming, () -> now(data.select(select, options, incoming)));
  }

  private CompletableFuture<ResultMessage> routeBatch(
      BatchStatement batch, BatchQueryOptions options, Incoming incoming) {
    List<BoundWrite> writes = BoundWrite.of(batch, options);
    return routeWrite(
        Tables.of(batch),
        incoming.checking(() -> StatementChecks.ofPlain(batch, writes)),
        () -> {
          StatementChecks.ofBatch(batch);
          return data.write(batch, writes, options.getConsistency(), incoming);
        });
  }

  /** A batch that came as a list of statements. */
  CompletableFuture<ResultMessage> routeList(
      BatchStatement batch,
      BatchQueryOptions options,
      Supplier<List<String>> texts,
      Incoming incoming) {
    if (incoming.bound().isEmpty()) {
      connections.arrive(incoming.client());
    }
    return inTransaction(
        batch,
        incoming,
        () -> DisabledMeanwhile.again(() -> routeListData(batch, options, texts, incoming)));
  }

  private CompletableFuture<ResultMessage> routeListData(
      BatchStatement batch,
      BatchQueryOptions options,
      Supplier<List<String>> texts,
      Incoming incoming) {
    return strong
        .writeList(batch, options, texts, incoming)
        .orElseGet(() -> routeBatch(batch, options, incoming));
  }

  /** A statement on tables: ours if it runs in a transaction, or if a table is transactional. */
  private CompletableFuture<ResultMessage> route(
      Set<TableMetadata> tables,
      Incoming incoming,
      Supplier<CompletableFuture<ResultMessage>> onIsolde) {
    return route(tables, true, incoming, onIsolde);
  }

  /**
   * As the other one.
   *
   * @param mayBePlain whether the write gate counts it. If not, and its tables have become plain
   *     meanwhile, it finds its way again
   */
  private CompletableFuture<ResultMessage> route(
      Set<TableMetadata> tables,
      boolean mayBePlain,
      Incoming incoming,
      Supplier<CompletableFuture<ResultMessage>> onIsolde) {
    return Answers.within(
        barrier.enter(withCommitted(tables, incoming)),
        () -> {
          boolean ours =
              transactionOf(incoming).isPresent()
                  || tables.stream().anyMatch(Tables::isTransactional);
          if (!ours && (!mayBePlain || strong.isStrong(tables))) {
            throw new DisabledMeanwhile();
          }
          if (!ours) {
            return now(incoming.onCassandra().get());
          }
          Tables.requireColumns(tables);
          return onIsolde.get();
        });
  }

  /** With the tables of the transaction, if it is committed, too. */
  private Set<TableMetadata> withCommitted(Set<TableMetadata> tables, Incoming incoming) {
    if (!incoming.payload().commits()) {
      return tables;
    }
    Set<TableMetadata> all = new LinkedHashSet<>(tables);
    all.addAll(coordinator.get().transactions().tablesOf(incoming.bound().orElseThrow()));
    return all;
  }

  private CompletableFuture<ResultMessage> routeWrite(
      Set<TableMetadata> tables,
      Incoming incoming,
      Supplier<CompletableFuture<ResultMessage>> onIsolde) {
    if (tables.stream().allMatch(Tables::isSystem) && transactionOf(incoming).isEmpty()) {
      return now(incoming.onCassandra().get());
    }
    SnapshotValidator.refuseWrites(tables);
    UniqueIndexStatements.refuseWrites(tables);
    RequestName.refuse(incoming);
    refuseOfSnapshot(incoming);
    // Transactional tables are cut at a timestamp: nobody has to wait for that.
    Set<TableMetadata> plain =
        tables.stream().filter(table -> !Tables.isTransactional(table)).collect(toSet());
    return Answers.within(
        writeGate.enter(plain), () -> route(tables, tables.equals(plain), incoming, onIsolde));
  }

  private void refuseOfSnapshot(Incoming incoming) {
    if (snapshotTransaction(incoming).isPresent()) {
      throw IsoldeException.of(
          ErrorCode.READ_ONLY_TRANSACTION, "A transaction AS OF SNAPSHOT only reads.");
    }
  }

  private Optional<SnapshotTransactions.Open> snapshotTransaction(Incoming incoming) {
    return transactionOf(incoming).flatMap(id -> snapshotTransactions.find(id, incoming.user()));
  }

  private Optional<UUID> transactionOf(Incoming incoming) {
    return connections.transactionOf(incoming);
  }

  private ResultMessage routeOther(CQLStatement statement, Incoming incoming) {
    Optional<UUID> transaction = transactionOf(incoming);
    if (transaction.isPresent()
        && !(statement instanceof UseStatement || statement instanceof DescribeStatement)) {
      boolean truncate = statement instanceof TruncateStatement;
      throw IsoldeException.of(
          truncate ? ErrorCode.UNSUPPORTED_TRUNCATE : ErrorCode.UNSUPPORTED_DDL,
          truncate
              ? "TRUNCATE can't be part of a transaction."
              : "Only SELECT, INSERT, UPDATE, DELETE and BATCH can be part of a transaction.",
          "transaction",
          transaction.get());
    }
    if (statement instanceof AlterKeyspaceStatement alter
        && ReplicatedLogStrategy.isOf(alter.keyspace())) {
      return altered.alter(alter, incoming);
    }
    SnapshotValidator.refuseChanges(statement);
    UniqueIndexStatements.refuseChanges(statement);
    return changes.run(statement, incoming);
  }
}
