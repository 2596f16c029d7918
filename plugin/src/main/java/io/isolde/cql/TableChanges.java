// SPDX-License-Identifier: Apache-2.0
package io.isolde.cql;

import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import io.isolde.peers.EveryNode;
import io.isolde.peers.NewName;
import io.isolde.replication.ReplicatedLogStrategy;
import io.isolde.transaction.Tables;
import io.isolde.transaction.barrier.TableBarrier;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.apache.cassandra.cql3.CQLStatement;
import org.apache.cassandra.cql3.QueryOptions;
import org.apache.cassandra.cql3.QueryProcessor;
import org.apache.cassandra.cql3.statements.TruncateStatement;
import org.apache.cassandra.cql3.statements.schema.AlterSchemaStatement;
import org.apache.cassandra.cql3.statements.schema.AlterTableStatement;
import org.apache.cassandra.cql3.statements.schema.CreateIndexStatement;
import org.apache.cassandra.cql3.statements.schema.DropIndexStatement;
import org.apache.cassandra.cql3.statements.schema.DropTableStatement;
import org.apache.cassandra.db.ConsistencyLevel;
import org.apache.cassandra.schema.Schema;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.transport.Dispatcher;
import org.apache.cassandra.transport.messages.ResultMessage;

/**
 * Cassandra's own statements that change what is Isolde's. Those that take away what a table has
 * run while no statement runs on it, by the clock that gave its writes their timestamps. Those that
 * put a class of Isolde into the schema run if every node has it.
 */
final class TableChanges {
  private final LazyCoordinator coordinator;
  private final EveryNode everyNode;
  private final TableBarrier barrier;
  private final UniqueIndexStatements uniqueIndexes;
  private final TransactionalOption option;

  TableChanges(LazyCoordinator coordinator, EveryNode everyNode, TableBarrier barrier) {
    this.barrier = barrier;
    this.coordinator = coordinator;
    this.everyNode = everyNode;
    this.uniqueIndexes = new UniqueIndexStatements(coordinator);
    this.option = new TransactionalOption(coordinator, everyNode.newNames());
  }

  /** Runs the statement, as it is if it takes nothing away that is Isolde's. */
  ResultMessage run(CQLStatement statement, Incoming incoming) {
    if (statement instanceof TruncateStatement truncate) {
      return truncate(truncate, incoming);
    }
    Optional<String> named = IsoldeInSchema.subject(statement);
    if (named.isPresent()) {
      statement.authorize(incoming.client());
      everyNode.requireIsolde(named.get());
    }
    if (!TransactionalOption.isIn(statement)) {
      return once(statement, false, incoming, () -> runWithoutOption(statement, incoming));
    }
    boolean isOfNewTable = TransactionalOption.isOfNewTable(statement);
    ResultMessage answer =
        once(
            statement,
            isOfNewTable,
            incoming,
            () -> option.run(statement, incoming, () -> runWithoutOption(statement, incoming)));
    if (isOfNewTable) {
      option.awaitTransactional(statement);
    }
    return answer;
  }

  /** What two nodes must not make at once is made by one after the other. */
  private ResultMessage once(
      CQLStatement statement,
      boolean isTransactional,
      Incoming incoming,
      Supplier<ResultMessage> run) {
    Optional<NewName> made = IsoldeInSchema.newName(statement, isTransactional);
    if (made.isEmpty()) {
      return run.get();
    }
    statement.authorize(incoming.client());
    return everyNode.newNames().make(made.get(), isTransactional, run);
  }

  private ResultMessage runWithoutOption(CQLStatement statement, Incoming incoming) {
    if (IsoldeInSchema.isUniqueIndex(statement)) {
      return uniqueIndexes.create((CreateIndexStatement) statement, incoming);
    }
    if (statement instanceof DropIndexStatement || statement instanceof DropTableStatement) {
      return uniqueIndexes.drop((AlterSchemaStatement) statement, incoming);
    }
    Optional<ColumnDrop> drop = ColumnDrop.of(statement).filter(TableChanges::isOurs);
    if (drop.isPresent()) {
      return dropColumns(statement, drop.get(), incoming);
    }
    ResultMessage answer = incoming.onCassandra().get();
    if (statement instanceof AlterTableStatement.MaskColumn mask) {
      UniqueIndexStatements.followMasks(mask);
    }
    return answer;
  }

  private static boolean isOurs(ColumnDrop drop) {
    return Tables.isTransactional(drop.table()) || ReplicatedLogStrategy.isOf(drop.table());
  }

  /** While nothing else runs on the table, since it takes away what snapshots see. */
  private ResultMessage truncate(TruncateStatement truncate, Incoming incoming) {
    TableMetadata table = Schema.instance.getTableMetadata(truncate.keyspace(), truncate.name());
    if (table == null) {
      return incoming.onCassandra().get();
    }
    boolean isStrong = ReplicatedLogStrategy.isOf(table);
    if (!isStrong) {
      Optional<ResultMessage> answer = truncatePlain(table, incoming);
      if (answer.isPresent()) {
        return answer.get();
      }
    }
    truncate.authorize(incoming.client());
    if (isStrong) {
      truncate.validate(incoming.client());
      coordinator.get().mode().truncateInLogs(table, () -> uniqueIndexes.truncate(table));
      return new ResultMessage.Void();
    }
    List<ResultMessage> result = new ArrayList<>(1);
    coordinator
        .get()
        .mode()
        .truncate(
            table,
            () -> {
              result.add(incoming.onCassandra().get());
              uniqueIndexes.truncate(table);
            });
    return result.get(0);
  }

  /** Within the barrier: ENABLE TRANSACTIONS waits for it. Empty if the table is no plain one. */
  private Optional<ResultMessage> truncatePlain(TableMetadata table, Incoming incoming) {
    try (TableBarrier.Truncation unused = barrier.enterTruncation(table)) {
      return Tables.isTransactional(table)
          ? Optional.empty()
          : Optional.of(incoming.onCassandra().get());
    }
  }

  private ResultMessage dropColumns(CQLStatement statement, ColumnDrop drop, Incoming incoming) {
    statement.authorize(incoming.client());
    if (drop.hasTimestamp()) {
      throw IsoldeException.of(
          ErrorCode.UNSUPPORTED_TIMESTAMP,
          "DROP … USING TIMESTAMP is not for the table "
              + drop.table()
              + ": its own order of writes gives the moment of the drop.",
          "table",
          drop.table());
    }
    List<ResultMessage> result = new ArrayList<>(1);
    coordinator
        .get()
        .mode()
        .dropColumns(
            drop.table(), micros -> result.add(run(drop.at(micros, incoming.client()), incoming)));
    return result.get(0);
  }

  private static ResultMessage run(AlterTableStatement statement, Incoming incoming) {
    return QueryProcessor.instance.process(
        statement,
        incoming.state(),
        QueryOptions.forInternalCalls(ConsistencyLevel.ONE, List.of()),
        Dispatcher.RequestTime.forImmediateExecution());
  }
}
