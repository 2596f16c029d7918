// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store.cql;

import com.datastax.oss.driver.api.core.ConsistencyLevel;
import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.DriverException;
import com.datastax.oss.driver.api.core.DriverTimeoutException;
import com.datastax.oss.driver.api.core.cql.AsyncResultSet;
import com.datastax.oss.driver.api.core.cql.BatchStatement;
import com.datastax.oss.driver.api.core.cql.BatchStatementBuilder;
import com.datastax.oss.driver.api.core.cql.BatchType;
import com.datastax.oss.driver.api.core.cql.BoundStatement;
import com.datastax.oss.driver.api.core.cql.DefaultBatchType;
import com.datastax.oss.driver.api.core.cql.ResultSet;
import com.datastax.oss.driver.api.core.cql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;

/** Statements, sent at the levels of a store. */
final class MailRequests {

  /** So many requests of one change are under way at a time. */
  private static final int MAX_IN_FLIGHT = 32;

  private final CqlSession session;
  private final Levels levels;

  MailRequests(CqlSession session, Levels levels) {
    this.session = session;
    this.levels = levels;
  }

  /** Reads names or lists. */
  ResultSet read(BoundStatement statement) {
    return session.execute(at(levels.names(), statement));
  }

  /** Reads numbers. */
  ResultSet readNumbers(BoundStatement statement) {
    return session.execute(at(levels.numbers(), statement));
  }

  /** Reads what never changes. */
  CompletionStage<AsyncResultSet> readCommon(BoundStatement statement) {
    return session.executeAsync(at(Levels.COMMON, statement));
  }

  /** Writes each by itself; doing it twice does no harm. */
  void write(List<BoundStatement> statements) {
    for (int i = 0; i < statements.size(); i += MAX_IN_FLIGHT) {
      List<CompletionStage<AsyncResultSet>> sent = new ArrayList<>();
      for (BoundStatement statement :
          statements.subList(i, Math.min(statements.size(), i + MAX_IN_FLIGHT))) {
        sent.add(writeAsync(statement));
      }
      sent.forEach(MailRequests::await);
    }
  }

  /** As {@link #write}, without waiting. */
  CompletionStage<AsyncResultSet> writeAsync(BoundStatement statement) {
    return session.executeAsync(at(Levels.COMMON, statement));
  }

  /**
   * Writes all or nothing, and returns whether conditions held.
   *
   * @throws DriverTimeoutException if the driver has asked twice, and the answer is about the
   *     second time: conditions may have held the first time
   */
  boolean batch(BatchType type, List<BoundStatement> statements) {
    ResultSet answer = session.execute(together(type, statements));
    if (!answer.wasApplied() && !answer.getExecutionInfo().getErrors().isEmpty()) {
      throw new DriverTimeoutException("Whether a mailbox was changed is not known.");
    }
    return answer.wasApplied();
  }

  private static Statement<?> together(BatchType type, List<BoundStatement> statements) {
    if (statements.size() == 1) {
      return statements.get(0).setConsistencyLevel(Levels.COMMON).setIdempotent(false);
    }
    BatchStatementBuilder batch =
        BatchStatement.builder(type).setConsistencyLevel(Levels.COMMON).setIdempotence(false);
    statements.forEach(batch::addStatement);
    return batch.build();
  }

  /** As {@link #batch}, of one partition: no log of batches is needed. */
  boolean batch(List<BoundStatement> statements) {
    return batch(DefaultBatchType.UNLOGGED, statements);
  }

  /** Waits for what the driver bounds by its time-outs. */
  static <T> T await(CompletionStage<T> stage) {
    try {
      return stage.toCompletableFuture().join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof DriverException error) {
        throw error.copy();
      }
      throw e;
    }
  }

  private static BoundStatement at(ConsistencyLevel level, BoundStatement statement) {
    return statement.setConsistencyLevel(level).setIdempotent(true);
  }
}
