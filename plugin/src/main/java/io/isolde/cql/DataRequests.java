// SPDX-License-Identifier: Apache-2.0
package io.isolde.cql;

import io.isolde.error.IsoldeException;
import io.isolde.read.LockingSelect;
import io.isolde.statement.BoundWrite;
import io.isolde.transaction.ReadingWrites;
import io.isolde.transaction.Transaction;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.apache.cassandra.cql3.CQLStatement;
import org.apache.cassandra.cql3.QueryOptions;
import org.apache.cassandra.cql3.statements.BatchStatement;
import org.apache.cassandra.cql3.statements.SelectStatement;
import org.apache.cassandra.db.ConsistencyLevel;
import org.apache.cassandra.transport.messages.ResultMessage;

/** Has requests run that are a transaction's, or are transactions of their own. */
final class DataRequests {
  private final LazyCoordinator coordinator;
  private final ControlStatements control;
  private final ConnectionTransactions connections;

  DataRequests(
      LazyCoordinator coordinator, ControlStatements control, ConnectionTransactions connections) {
    this.coordinator = coordinator;
    this.control = control;
    this.connections = connections;
  }

  /** A SELECT on transactional tables, or in a transaction. */
  ResultMessage select(SelectStatement select, QueryOptions options, Incoming incoming) {
    StatementChecks.ofRead(select, options.getConsistency(), incoming);
    Optional<Transaction> transaction = find(incoming);
    return transaction.isPresent()
        ? coordinator.get().data().select(transaction.get(), select, options, incoming.request())
        : coordinator.get().data().select(select, options, incoming.request());
  }

  /** SELECT … FOR UPDATE, in a transaction. */
  ResultMessage select(LockingSelect select, QueryOptions options, Incoming incoming) {
    StatementChecks.ofRead(select, options.getConsistency(), incoming);
    ForUpdate.authorize(select, incoming.client());
    return coordinator
        .get()
        .data()
        .select(find(incoming).orElseThrow(), select, options, incoming.request());
  }

  /** A write, or a batch of writes. */
  CompletableFuture<ResultMessage> write(
      CQLStatement statement,
      List<BoundWrite> writes,
      ConsistencyLevel consistency,
      Incoming incoming) {
    StatementChecks.ofWrite(statement, writes, consistency, incoming);
    LateRefusals.makeExact(writes);
    boolean isBatch = statement instanceof BatchStatement;
    if (incoming.payload().commits()) {
      return commitWith(writes, isBatch, incoming);
    }
    if (BoundWrite.read(writes)) {
      return CompletableFuture.completedFuture(read(writes, isBatch, incoming));
    }
    Optional<Transaction> transaction = find(incoming);
    if (transaction.isPresent()) {
      coordinator.get().data().write(transaction.get(), writes, incoming.request());
      return CompletableFuture.completedFuture(new ResultMessage.Void());
    }
    CompletableFuture<?> written = coordinator.get().data().write(writes, incoming.request());
    connections.warnBesideOther(incoming.client()); // Warnings are this thread's.
    return written.thenApply(done -> new ResultMessage.Void());
  }

  private CompletableFuture<ResultMessage> commitWith(
      List<BoundWrite> writes, boolean isBatch, Incoming incoming) {
    if (BoundWrite.haveConditions(writes)) {
      throw IsoldeException.invalid(
          TransactionPayload.COMMIT
              + " does not go with IF, whose answer you need first; the transaction is rolled"
              + " back.");
    }
    return control.commitWith(
        incoming.bound().orElseThrow(),
        transaction -> {
          if (BoundWrite.read(writes)) {
            var unused =
                coordinator.get().reading().write(transaction, writes, isBatch, incoming.request());
          } else {
            coordinator.get().data().write(transaction, writes, incoming.request());
          }
        },
        incoming);
  }

  private ResultMessage read(List<BoundWrite> writes, boolean isBatch, Incoming incoming) {
    ReadingWrites reading = coordinator.get().reading();
    Optional<Transaction> transaction = find(incoming);
    if (transaction.isPresent()) {
      return reading.write(transaction.get(), writes, isBatch, incoming.request());
    }
    ResultMessage answer = reading.write(writes, isBatch, incoming.request());
    connections.warnBesideOther(incoming.client());
    return answer;
  }

  private Optional<Transaction> find(Incoming incoming) {
    return connections
        .transactionOf(incoming)
        .map(id -> coordinator.get().transactions().find(id, incoming.user()));
  }
}
