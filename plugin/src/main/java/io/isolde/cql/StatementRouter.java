// SPDX-License-Identifier: Apache-2.0
package io.isolde.cql;

import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import io.isolde.transaction.DataStatements.Request;
import io.isolde.transaction.DataStatements.Write;
import io.isolde.transaction.TableGate;
import io.isolde.transaction.Tables;
import io.isolde.transaction.Transaction;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
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
import org.apache.cassandra.db.ConsistencyLevel;
import org.apache.cassandra.db.guardrails.Guardrails;
import org.apache.cassandra.schema.Schema;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.service.ClientState;
import org.apache.cassandra.service.QueryState;
import org.apache.cassandra.transport.messages.ResultMessage;
import org.apache.cassandra.utils.concurrent.OpOrder;

/** Decides for each request whether it is Isolde's, and in which transaction it runs. */
final class StatementRouter {
  private final TableGate gate;
  private final LazyCoordinator coordinator;
  private final ControlStatements control;
  private final ConnectionTransactions connections = new ConnectionTransactions();

  StatementRouter(TableGate gate, NodeStart node) {
    this.gate = gate;
    this.coordinator = node.coordinator();
    this.control = new ControlStatements(gate, node, connections);
  }

  /**
   * A request as the protocol brought it.
   *
   * @param bound the transaction that its payload names
   * @param startTimestamp of that, if the client wants it decided
   * @param onCassandra runs it as if Isolde were not there
   */
  record Incoming(
      QueryState state,
      Optional<UUID> bound,
      OptionalLong startTimestamp,
      Request request,
      Supplier<ResultMessage> onCassandra) {

    ClientState client() {
      return state.getClientState();
    }

    String user() {
      return client().getUser() == null ? "" : client().getUser().getName();
    }
  }

  ResultMessage route(CQLStatement statement, QueryOptions options, Incoming incoming) {
    if (statement instanceof ControlStatement own) {
      return control.execute(own, incoming);
    }
    if (statement instanceof BatchStatement batch) {
      return routeBatch(batch, BatchQueryOptions.withoutPerStatementVariables(options), incoming);
    }
    if (statement instanceof SelectStatement select) {
      return route(Set.of(select.table), incoming, () -> select(select, options, incoming));
    }
    if (statement instanceof ModificationStatement write) {
      List<Write> writes = List.of(new Write(write, options));
      return route(
          Set.of(write.metadata()),
          incoming,
          () -> write(statement, writes, options.getConsistency(), incoming));
    }
    return routeOther(statement, incoming);
  }

  ResultMessage routeBatch(BatchStatement batch, BatchQueryOptions options, Incoming incoming) {
    Set<TableMetadata> tables = new LinkedHashSet<>();
    List<Write> writes = new ArrayList<>();
    for (ModificationStatement statement : batch.getStatements()) {
      tables.add(statement.metadata());
      writes.add(new Write(statement, options.forStatement(writes.size())));
    }
    return route(
        tables,
        incoming,
        () -> {
          batch.validate();
          BatchTimestamp.refuse(batch);
          return write(batch, writes, options.getConsistency(), incoming);
        });
  }

  /** A statement on tables: ours if it runs in a transaction, or if a table is transactional. */
  private ResultMessage route(
      Set<TableMetadata> tables, Incoming incoming, Supplier<ResultMessage> onIsolde) {
    if (tables.stream().allMatch(Tables::isSystem)) {
      return incoming.onCassandra.get();
    }
    try (OpOrder.Group group = gate.enter(tables)) {
      boolean ours =
          transactionOf(incoming).isPresent() || tables.stream().anyMatch(Tables::isTransactional);
      return ours ? onIsolde.get() : incoming.onCassandra.get();
    }
  }

  private Optional<UUID> transactionOf(Incoming incoming) {
    return incoming.bound.isPresent() ? incoming.bound : connections.of(incoming.client());
  }

  private ResultMessage select(SelectStatement select, QueryOptions options, Incoming incoming) {
    select.authorize(incoming.client());
    select.validate(incoming.client());
    Optional<Transaction> transaction = find(incoming);
    return transaction.isPresent()
        ? coordinator.get().data().select(transaction.get(), select, options, incoming.request)
        : coordinator.get().data().select(select, options, incoming.request);
  }

  private ResultMessage write(
      CQLStatement statement, List<Write> writes, ConsistencyLevel consistency, Incoming incoming) {
    statement.authorize(incoming.client());
    statement.validate(incoming.client());
    consistency.validateForWrite();
    Guardrails.writeConsistencyLevels.guard(Set.of(consistency), incoming.client());
    Optional<Transaction> transaction = find(incoming);
    if (transaction.isPresent()) {
      coordinator.get().data().write(transaction.get(), writes, incoming.request);
    } else {
      coordinator.get().data().write(writes, incoming.request);
    }
    return new ResultMessage.Void();
  }

  private Optional<Transaction> find(Incoming incoming) {
    return transactionOf(incoming)
        .map(id -> coordinator.get().transactions().find(id, incoming.user()));
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
    if (statement instanceof TruncateStatement truncate) {
      return truncate(truncate, incoming);
    }
    return incoming.onCassandra.get();
  }

  /** While nothing else runs on the table, since it takes away what snapshots see. */
  private ResultMessage truncate(TruncateStatement truncate, Incoming incoming) {
    TableMetadata table = Schema.instance.getTableMetadata(truncate.keyspace(), truncate.name());
    if (table == null || !Tables.isTransactional(table)) {
      return incoming.onCassandra.get();
    }
    List<ResultMessage> result = new ArrayList<>(1);
    coordinator.get().mode().truncate(table, () -> result.add(incoming.onCassandra.get()));
    return result.get(0);
  }
}
