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

/** Passes all requests on, so that a test overrides what it wants to see fail. */
class DelegatingRequests implements TransactionRequests {
  private final TransactionRequests target;

  DelegatingRequests(TransactionRequests target) {
    this.target = target;
  }

  @Override
  public CompletionStage<Started> start(UUID transaction, Node node, String cql) {
    return target.start(transaction, node, cql);
  }

  @Override
  public CompletionStage<CommitResult> end(Binding binding, String cql) {
    return target.end(binding, cql);
  }

  @Override
  public CompletionStage<CommitResult> resolve(Binding binding, long startTimestamp) {
    return target.resolve(binding, startTimestamp);
  }

  @Override
  public CompletionStage<CommitResult> commit(
      Binding binding, BatchStatement writes, OptionalLong resolvedStart) {
    return target.commit(binding, writes, resolvedStart);
  }

  @Override
  public CompletionStage<AsyncResultSet> executeAsync(Statement<?> bound) {
    return target.executeAsync(bound);
  }

  @Override
  public Node nodeFor(Statement<?> statement) {
    return target.nodeFor(statement);
  }

  @Override
  public Node otherThan(Node node) {
    return target.otherThan(node);
  }

  @Override
  public ResultSet execute(Statement<?> bound) {
    return target.execute(bound);
  }
}
