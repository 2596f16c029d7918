// SPDX-License-Identifier: Apache-2.0
package io.isolde.cql;

import io.isolde.answer.Answers;
import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import io.isolde.replication.ReplicaMoves;
import io.isolde.replication.StrongKeyspaces;
import io.isolde.snapshot.read.SnapshotTransactions;
import io.isolde.transaction.Coordinator;
import io.isolde.transaction.Transaction;
import io.isolde.transaction.Transactions;
import io.isolde.transaction.barrier.TableBarrier;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.apache.cassandra.cql3.CQLStatement;
import org.apache.cassandra.db.marshal.BooleanType;
import org.apache.cassandra.db.marshal.Int32Type;
import org.apache.cassandra.db.marshal.LongType;
import org.apache.cassandra.db.marshal.UTF8Type;
import org.apache.cassandra.db.marshal.UUIDType;
import org.apache.cassandra.schema.Schema;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.service.ClientState;
import org.apache.cassandra.transport.Event;
import org.apache.cassandra.transport.messages.ResultMessage;

/** Executes the statements that begin, end and switch on transactions. */
final class ControlStatements {
  private final TableBarrier barrier;
  private final LazyCoordinator coordinator;
  private final TransactionLists lists;
  private final OracleStatements oracle;
  private final StrongKeyspaces strong;
  private final ReplicaMoves moves;
  private final SnapshotStatements snapshots;
  private final SnapshotTransactions snapshotTransactions;
  private final ConnectionTransactions connections;

  ControlStatements(TableBarrier barrier, NodeStart node, ConnectionTransactions connections) {
    this.barrier = barrier;
    this.coordinator = node.coordinator();
    this.lists = new TransactionLists(coordinator);
    this.oracle = new OracleStatements(node);
    this.strong = node.strongKeyspaces();
    this.moves = new ReplicaMoves(strong, node.everyNode().newNames());
    this.snapshots = new SnapshotStatements(node.snapshots(), node.everyNode(), coordinator);
    this.snapshotTransactions = node.snapshotTransactions();
    this.connections = connections;
  }

  CompletableFuture<ResultMessage> execute(ControlStatement statement, Incoming incoming) {
    statement.authorize(incoming.client());
    if (statement instanceof ControlStatement.Commit) {
      return commit(incoming);
    }
    return statement instanceof ControlStatement.Start start
        ? start(start, incoming)
        : CompletableFuture.completedFuture(executeNow(statement, incoming));
  }

  private ResultMessage executeNow(ControlStatement statement, Incoming incoming) {
    if (statement instanceof ControlStatement.Rollback) {
      return rollback(incoming);
    } else if (statement instanceof ControlStatement.Savepoint savepoint) {
      return savepoint(savepoint, incoming);
    } else if (statement instanceof ControlStatement.Show show) {
      return lists.show(show.id());
    } else if (statement instanceof ControlStatement.ListOpen) {
      return TransactionLists.listOpen(incoming);
    } else if (statement instanceof ControlStatement.Kill kill) {
      return lists.kill(kill.id(), incoming);
    }
    refuseInTransaction(incoming);
    if (statement instanceof ControlStatement.Enable enable) {
      TableMetadata table = table(enable.keyspace(), enable.table(), incoming);
      SnapshotValidator.refuseWrites(List.of(table));
      coordinator.get().mode().enable(table, enable.conflicts(), incoming.state());
      return changed(table);
    }
    if (statement instanceof ControlStatement.Disable disable) {
      TableMetadata table = table(disable.keyspace(), disable.table(), incoming);
      UniqueIndexStatements.refuseWrites(List.of(table));
      coordinator.get().mode().disable(table, incoming.state());
      return changed(table);
    }
    if (statement instanceof ControlStatement.CreateSnapshot create) {
      return snapshots.create(create, incoming);
    }
    if (statement instanceof ControlStatement.DropSnapshot drop) {
      return snapshots.drop(drop, incoming);
    }
    if (statement instanceof ControlStatement.AlterOracle alter) {
      oracle.execute(alter, incoming.client());
    }
    if (statement instanceof ControlStatement.AcceptOracleLoss) {
      oracle.acceptLoss(incoming.client());
    }
    if (statement instanceof ControlStatement.AlterLeader alter) {
      incoming.client().ensureIsSuperuser("Only superusers may choose who leads.");
      strong.lead(alter.keyspace(), alter.address());
    }
    if (statement instanceof ControlStatement.Rebalance rebalance) {
      incoming.client().ensureIsSuperuser("Only superusers may move replicas.");
      ReplicaMoves.Moved moved = moves.rebalance(rebalance.keyspace(), rebalance.without());
      return new Rows()
          .with("moved_replicas", Int32Type.instance, moved.replicas())
          .with("moved_leaders", Int32Type.instance, moved.leaders())
          .build();
    }
    return new ResultMessage.Void();
  }

  /** To such an answer drivers wait until all nodes have the same schema, before they go on. */
  static ResultMessage changed(TableMetadata table) {
    return new ResultMessage.SchemaChange(
        new Event.SchemaChange(
            Event.SchemaChange.Change.UPDATED,
            Event.SchemaChange.Target.TABLE,
            table.keyspace,
            table.name));
  }

  private CompletableFuture<ResultMessage> start(ControlStatement.Start start, Incoming incoming) {
    Optional<UUID> onConnection = connections.of(incoming.client());
    if (incoming.bound().isEmpty()) {
      connections.requireSerial(incoming.client());
    }
    if (incoming.bound().isEmpty()
        && onConnection.isPresent()
        && isOpen(onConnection.get(), incoming.user())) {
      throw IsoldeException.of(
          ErrorCode.TRANSACTION_ALREADY_OPEN,
          "This connection has an open transaction; COMMIT or ROLLBACK it first.",
          "transaction",
          onConnection.get());
    }
    UUID id = incoming.bound().orElseGet(UUID::randomUUID);
    CompletableFuture<Long> begun = begin(id, start, incoming);
    if (incoming.bound().isEmpty()) {
      // Not on an event loop: if its connection is gone, the transaction is ended there.
      var unused = Answers.await(begun);
    }
    return begun.thenApply(startTimestamp -> started(id, startTimestamp, start, incoming));
  }

  /** Begins a transaction, unless it is open; gives its start timestamp. */
  private CompletableFuture<Long> begin(UUID id, ControlStatement.Start start, Incoming incoming) {
    boolean isOpenOtherwise =
        start.snapshot().isPresent()
            ? coordinator.ifStarted().filter(c -> c.transactions().isOpen(id)).isPresent()
            : snapshotTransactions.find(id, incoming.user()).isPresent();
    if (isOpenOtherwise) {
      throw Transactions.openOtherwise(id);
    }
    if (start.snapshot().isPresent()) {
      coordinator
          .ifStarted()
          .ifPresent(started -> started.transactions().requireNotEnded(id, incoming.user()));
      return CompletableFuture.completedFuture(
          snapshotTransactions
              .begin(id, start.snapshot().get(), incoming.user())
              .timestampMicros());
    }
    return coordinator
        .get()
        .transactions()
        .begin(
            id,
            new Transactions.Options(start.level(), start.readOnly(), start.asOf()),
            incoming.user())
        .thenApply(Transaction::startTimestamp);
  }

  private ResultMessage started(
      UUID id, long startTimestamp, ControlStatement.Start start, Incoming incoming) {
    if (incoming.bound().isEmpty()) {
      connections.bind(incoming.client(), id);
    }
    return new Rows()
        .with("transaction_id", UUIDType.instance, id)
        .with("start_timestamp", LongType.instance, startTimestamp)
        .with("isolation_level", UTF8Type.instance, start.level().name())
        .build();
  }

  /** Whether the transaction that the payload names is open on this node. */
  boolean isOpen(Incoming incoming) {
    return isOpen(incoming.bound().orElseThrow(), incoming.user());
  }

  private boolean isOpen(UUID id, String user) {
    return snapshotTransactions.find(id, user).isPresent()
        || coordinator.get().transactions().isOpen(id);
  }

  CompletableFuture<ResultMessage> commit(Incoming incoming) {
    UUID id = current(incoming, "COMMIT");
    Optional<SnapshotTransactions.Open> reader = snapshotTransactions.end(id, incoming.user());
    if (reader.isPresent()) {
      unbind(id, incoming);
      return CompletableFuture.completedFuture(
          ended(
              new Transactions.Result(id, true, OptionalLong.of(reader.get().timestampMicros()))));
    }
    Transactions transactions = coordinator.get().transactions();
    CompletableFuture<ResultMessage> answer;
    try {
      answer =
          Answers.within(
              barrier.enter(transactions.tablesOf(id)),
              () -> commitWith(id, transaction -> {}, incoming));
    } catch (RuntimeException | Error e) {
      commitFailed(id, incoming, e);
      throw e;
    }
    return answer.whenComplete(
        (committed, failure) -> {
          if (failure == null) {
            unbind(id, incoming);
          } else {
            commitFailed(id, incoming, Answers.cause(failure));
          }
        });
  }

  private void commitFailed(UUID id, Incoming incoming, Throwable cause) {
    abort(id, incoming.user(), cause); // If it did not come as far as the decision.
    unbind(id, incoming);
  }

  /**
   * Commits a transaction, after its last writes. Whoever calls this keeps the barriers of all its
   * tables open until there is an answer.
   */
  CompletableFuture<ResultMessage> commitWith(
      UUID id, Consumer<Transaction> lastWrites, Incoming incoming) {
    return coordinator
        .get()
        .transactions()
        .commit(
            id,
            lastWrites.andThen(
                transaction -> CommitPermissions.check(transaction, incoming.client())),
            incoming.payload().startTimestamp(),
            incoming.user())
        .thenApply(ControlStatements::ended);
  }

  /**
   * Begins a transaction with the statement that follows, and waits until it has begun. If it can't
   * begin, that statement is not executed. If it was a write, the same START with the next
   * statement must not begin the transaction without it.
   */
  long begin(CQLStatement first, Incoming incoming) {
    UUID id = incoming.bound().orElseThrow();
    try {
      return Answers.await(begin(id, incoming.payload().start().orElseThrow(), incoming));
    } catch (IsoldeException e) {
      // With an id that was used before it can't begin anyway.
      if (FailedStatement.endsTransaction(first)
          && e.errorCode() != ErrorCode.TRANSACTION_ALREADY_OPEN) {
        coordinator
            .ifStarted()
            .ifPresent(started -> started.transactions().refuse(id, incoming.user(), e));
      }
      throw e;
    }
  }

  /** Ends the transaction of a request that has failed, if it has one. */
  void abort(TransactionPayload payload, ClientState client, Throwable cause) {
    Optional<UUID> id = payload.transaction().or(() -> connections.of(client));
    id.ifPresent(known -> abort(known, ConnectionTransactions.userOf(client), cause));
  }

  /**
   * The transaction of a request that has failed, if it has one, can't go on without a savepoint.
   */
  void fail(TransactionPayload payload, ClientState client, Throwable cause) {
    Optional<UUID> id = payload.transaction().or(() -> connections.of(client));
    id.ifPresent(known -> fail(known, ConnectionTransactions.userOf(client), cause));
  }

  private void fail(UUID id, String user, Throwable cause) {
    if (snapshotTransactions.find(id, user).isPresent()) {
      abort(id, user, cause);
    } else {
      coordinator.ifStarted().ifPresent(started -> started.transactions().fail(id, user, cause));
    }
  }

  /** Ends a transaction because of a failure. */
  private void abort(UUID id, String user, Throwable cause) {
    boolean wasOfSnapshot = snapshotTransactions.end(id, user).isPresent();
    coordinator
        .ifStarted()
        .map(Coordinator::transactions)
        .ifPresent(
            transactions -> {
              if (wasOfSnapshot) {
                transactions.refuse(id, user, cause);
              }
              transactions.abort(id, user, cause);
            });
  }

  private ResultMessage rollback(Incoming incoming) {
    UUID id = current(incoming, "ROLLBACK");
    if (snapshotTransactions.end(id, incoming.user()).isPresent()) {
      unbind(id, incoming);
      return ended(new Transactions.Result(id, false, OptionalLong.empty()));
    }
    try {
      return ended(coordinator.get().transactions().rollback(id, incoming.user()));
    } finally {
      unbind(id, incoming);
    }
  }

  private ResultMessage savepoint(ControlStatement.Savepoint savepoint, Incoming incoming) {
    String name = savepoint.name();
    String user = incoming.user();
    UUID id = current(incoming, "SAVEPOINT, ROLLBACK TO or RELEASE");
    if (snapshotTransactions.find(id, user).isPresent()) {
      throw IsoldeException.of(
          ErrorCode.READ_ONLY_TRANSACTION,
          "A transaction AS OF SNAPSHOT only reads; it has no savepoints.");
    }
    Transactions transactions = coordinator.get().transactions();
    switch (savepoint.how()) {
      case SET -> transactions.setSavepoint(id, name, user);
      case ROLL_BACK_TO -> transactions.rollBackTo(id, name, user);
      case RELEASE -> transactions.releaseSavepoint(id, name, user);
      default -> throw new AssertionError(savepoint.how());
    }
    return new ResultMessage.Void();
  }

  /** Whatever a COMMIT answers, the transaction is over, and the connection free for the next. */
  private void unbind(UUID id, Incoming incoming) {
    if (incoming.bound().isEmpty()) {
      connections.unbind(incoming.client(), id);
    }
  }

  private UUID current(Incoming incoming, String statement) {
    return incoming
        .bound()
        .or(() -> connections.of(incoming.client()))
        .orElseThrow(
            () ->
                IsoldeException.of(
                    ErrorCode.NO_TRANSACTION,
                    statement + ": this connection has no open transaction."));
  }

  private static ResultMessage ended(Transactions.Result result) {
    Long commitTimestamp =
        result.commitTimestamp().isPresent() ? result.commitTimestamp().getAsLong() : null;
    return new Rows()
        .with("transaction_id", UUIDType.instance, result.id())
        .with("committed", BooleanType.instance, result.committed())
        .with("commit_timestamp", LongType.instance, commitTimestamp)
        .build();
  }

  private void refuseInTransaction(Incoming incoming) {
    Optional<UUID> id = incoming.bound().or(() -> connections.of(incoming.client()));
    if (id.isPresent()) {
      throw IsoldeException.of(
          ErrorCode.UNSUPPORTED_DDL,
          "ENABLE, DISABLE, CREATE, DROP and ALTER can't be part of a transaction; end it first.",
          "transaction",
          id.get());
    }
  }

  private static TableMetadata table(String keyspace, String table, Incoming incoming) {
    String in = keyspace != null ? keyspace : incoming.client().getKeyspace();
    return Schema.instance.validateTable(in, table);
  }
}
