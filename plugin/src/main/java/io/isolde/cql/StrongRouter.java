// SPDX-License-Identifier: Apache-2.0
package io.isolde.cql;

import io.isolde.answer.Answers;
import io.isolde.replication.StrongStatements;
import io.isolde.statement.BoundWrite;
import io.isolde.transaction.Tables;
import io.isolde.transaction.barrier.TableBarrier;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.apache.cassandra.cql3.BatchQueryOptions;
import org.apache.cassandra.cql3.CQLStatement;
import org.apache.cassandra.cql3.QueryOptions;
import org.apache.cassandra.cql3.statements.BatchStatement;
import org.apache.cassandra.cql3.statements.SelectStatement;
import org.apache.cassandra.db.ConsistencyLevel;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.transport.messages.ResultMessage;
import org.apache.cassandra.utils.concurrent.OpOrder;

/**
 * Has the groups of strong keyspaces run statements that are no transaction's. In a transaction
 * their tables are as all others: transactional or refused. All answers are empty if a statement is
 * not theirs.
 */
final class StrongRouter {
  private final StrongStatements strong;
  private final TableBarrier barrier;
  private final ConnectionTransactions connections;

  StrongRouter(StrongStatements strong, TableBarrier barrier, ConnectionTransactions connections) {
    this.strong = strong;
    this.barrier = barrier;
    this.connections = connections;
  }

  /** Whether tables are of strong keyspaces. */
  boolean isStrong(Set<TableMetadata> tables) {
    return strong.isStrong(tables);
  }

  Optional<CompletableFuture<ResultMessage>> select(
      SelectStatement select, QueryOptions options, Incoming incoming) {
    return ifStrong(
        Set.of(select.table),
        incoming,
        () ->
            CompletableFuture.completedFuture(
                strong.select(select, options, incoming.request(), incoming.onCassandra())));
  }

  /**
   * What came as one text.
   *
   * @param writes of which it consists
   */
  Optional<CompletableFuture<ResultMessage>> write(
      CQLStatement statement,
      Set<TableMetadata> tables,
      Supplier<List<BoundWrite>> writes,
      QueryOptions options,
      Incoming incoming) {
    return ifStrong(
        tables,
        incoming,
        () -> {
          List<BoundWrite> all = writes.get();
          return write(
              statement,
              all,
              options.getConsistency(),
              incoming,
              () -> strong.decide(statement, all, options, incoming.request()));
        });
  }

  /** A batch that came as a list of statements with these texts. */
  Optional<CompletableFuture<ResultMessage>> writeList(
      BatchStatement batch,
      BatchQueryOptions options,
      Supplier<List<String>> texts,
      Incoming incoming) {
    return ifStrong(
        Tables.of(batch),
        incoming,
        () -> {
          List<BoundWrite> all = BoundWrite.of(batch, options);
          ConsistencyLevel consistency = options.getConsistency();
          return write(
              batch,
              all,
              consistency,
              incoming,
              () -> strong.decideList(all, texts.get(), consistency, incoming.request()));
        });
  }

  private CompletableFuture<ResultMessage> write(
      CQLStatement statement,
      List<BoundWrite> writes,
      ConsistencyLevel consistency,
      Incoming incoming,
      Supplier<CompletableFuture<ResultMessage>> decision) {
    StatementChecks.ofStrongWrite(statement, writes, consistency, incoming);
    if (StrongStatements.areOfCounters(writes)) {
      RequestName.refuse(incoming);
      return strong.count(writes, consistency, incoming.request());
    }
    if (StrongStatements.needsDecision(writes)) {
      RequestName.refuse(incoming);
      return decision.get();
    }
    return strong.write(writes, consistency, incoming.request(), incoming.payload().name());
  }

  private Optional<CompletableFuture<ResultMessage>> ifStrong(
      Set<TableMetadata> tables,
      Incoming incoming,
      Supplier<CompletableFuture<ResultMessage>> onGroups) {
    if (!strong.isStrong(tables) || connections.transactionOf(incoming).isPresent()) {
      return Optional.empty();
    }
    OpOrder.Group group = barrier.enter(tables);
    if (tables.stream().anyMatch(Tables::isTransactional)) {
      group.close();
      return Optional.empty();
    }
    return Optional.of(
        Answers.within(
            group,
            () -> {
              Tables.requireColumns(tables);
              return onGroups.get();
            }));
  }
}
