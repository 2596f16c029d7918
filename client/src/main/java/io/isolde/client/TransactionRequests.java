// SPDX-License-Identifier: Apache-2.0
package io.isolde.client;

import com.datastax.oss.driver.api.core.cql.AsyncResultSet;
import com.datastax.oss.driver.api.core.cql.BatchStatement;
import com.datastax.oss.driver.api.core.cql.ResultSet;
import com.datastax.oss.driver.api.core.cql.Statement;
import com.datastax.oss.driver.api.core.metadata.Node;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.concurrent.CompletionStage;

/** The requests a transaction consists of; fails with the driver's exceptions. */
interface TransactionRequests {
  /**
   * Begins a transaction.
   *
   * @param node null for one of the driver's choice
   */
  CompletionStage<Started> start(UUID transaction, Node node, String cql);

  /** COMMIT or ROLLBACK. */
  CompletionStage<CommitResult> end(Binding binding, String cql);

  /**
   * COMMIT that aborts the transaction where it is not decided: a final answer, if there is one.
   */
  CompletionStage<CommitResult> resolve(Binding binding, long startTimestamp);

  /**
   * The last writes of a transaction, and COMMIT.
   *
   * @param resolvedStart as for {@link #resolve}; empty if it is not to be resolved
   */
  CompletionStage<CommitResult> commit(
      Binding binding, BatchStatement writes, OptionalLong resolvedStart);

  CompletionStage<AsyncResultSet> executeAsync(Statement<?> bound);

  ResultSet execute(Statement<?> bound);

  /**
   * The node that the driver would send the statement to, so that it can be told to: else pages
   * that the driver fetches later, with a copy of the statement, would go anywhere. Null if it
   * can't be foreseen.
   */
  Node nodeFor(Statement<?> statement);

  /** A node other than this one that can be reached at the moment; this one if there is none. */
  Node otherThan(Node node);

  /**
   * The answer to START TRANSACTION.
   *
   * @param node the one that answered, and so holds the transaction
   */
  record Started(Node node, long startTimestamp) {}
}
