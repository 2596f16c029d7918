// SPDX-License-Identifier: Apache-2.0
package io.isolde.client;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.config.DriverExecutionProfile;
import com.datastax.oss.driver.api.core.cql.AsyncResultSet;
import com.datastax.oss.driver.api.core.cql.BatchStatement;
import com.datastax.oss.driver.api.core.cql.ResultSet;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.cql.Statement;
import com.datastax.oss.driver.api.core.metadata.Node;
import com.datastax.oss.driver.internal.core.context.InternalDriverContext;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.concurrent.CompletionStage;

/** {@link TransactionRequests} through a session of the driver. */
record SessionRequests(CqlSession session) implements TransactionRequests {
  @Override
  public CompletionStage<Started> start(UUID transaction, Node node, String cql) {
    return executeAsync(new Binding(transaction, node).bind(SimpleStatement.newInstance(cql)))
        .thenApply(
            result ->
                new Started(
                    result.getExecutionInfo().getCoordinator(),
                    onlyRow(result, cql).getLong("start_timestamp")));
  }

  @Override
  public CompletionStage<CommitResult> end(Binding binding, String cql) {
    return executeAsync(binding.bind(SimpleStatement.newInstance(cql)))
        .thenApply(result -> commitResult(binding.transaction(), onlyRow(result, cql)));
  }

  @Override
  public CompletionStage<CommitResult> resolve(Binding binding, long startTimestamp) {
    return executeAsync(
            binding.bindResolving(SimpleStatement.newInstance("COMMIT"), startTimestamp))
        .thenApply(result -> commitResult(binding.transaction(), onlyRow(result, "COMMIT")));
  }

  @Override
  public CompletionStage<CommitResult> commit(
      Binding binding, BatchStatement writes, OptionalLong resolvedStart) {
    Statement<?> last = binding.bindCommitting(writes);
    if (resolvedStart.isPresent()) {
      last = binding.bindResolving(last, resolvedStart.getAsLong());
    }
    return executeAsync(last)
        .thenApply(result -> commitResult(binding.transaction(), onlyRow(result, "COMMIT")));
  }

  @Override
  public CompletionStage<AsyncResultSet> executeAsync(Statement<?> bound) {
    return session.executeAsync(bound);
  }

  @Override
  public ResultSet execute(Statement<?> bound) {
    return session.execute(bound);
  }

  @Override
  public Node nodeFor(Statement<?> statement) {
    if (statement.getNode() != null) {
      return statement.getNode();
    }
    if (!(session.getContext() instanceof InternalDriverContext context)) {
      return null;
    }
    String profile =
        statement.getExecutionProfile() != null
            ? statement.getExecutionProfile().getName()
            : Objects.requireNonNullElse(
                statement.getExecutionProfileName(), DriverExecutionProfile.DEFAULT_NAME);
    return context
        .getLoadBalancingPolicyWrapper()
        .newQueryPlan(statement, profile, session)
        .stream()
        .filter(node -> node.getOpenConnections() > 0)
        .findFirst()
        .orElse(null);
  }

  /** One in the local data centre rather than one elsewhere, and any of several. */
  @Override
  public Node otherThan(Node node) {
    List<Node> others = new ArrayList<>(session.getMetadata().getNodes().values());
    others.removeIf(other -> other.equals(node) || other.getOpenConnections() == 0);
    Collections.shuffle(others);
    return others.stream().min(Comparator.comparing(Node::getDistance)).orElse(node);
  }

  private static CommitResult commitResult(UUID transaction, Row row) {
    return new CommitResult(
        transaction,
        row.getBoolean("committed"),
        row.isNull("commit_timestamp")
            ? OptionalLong.empty()
            : OptionalLong.of(row.getLong("commit_timestamp")));
  }

  private static Row onlyRow(AsyncResultSet result, String cql) {
    Row row = result.one();
    if (row == null) {
      throw new IllegalStateException(
          "%s was answered without a row by %s: is the plugin active on that node?"
              .formatted(cql, result.getExecutionInfo().getCoordinator()));
    }
    return row;
  }
}
