// SPDX-License-Identifier: Apache-2.0
package io.isolde.client.routing;

import com.datastax.oss.driver.api.core.CqlIdentifier;
import com.datastax.oss.driver.api.core.cql.Statement;
import com.datastax.oss.driver.api.core.metadata.Node;
import com.datastax.oss.driver.api.core.session.Request;
import com.datastax.oss.driver.api.core.specex.SpeculativeExecutionPolicy;
import com.datastax.oss.driver.internal.core.context.InternalDriverContext;
import java.time.Duration;
import java.util.Optional;

/**
 * Sends a request that waits long for its leader to a second node, too. If the leader hangs or is
 * cut off, that node waits until there is a new leader, and passes the request on. So the request
 * is answered as soon as there is one, and the answer says who it is.
 *
 * <p>Only requests for one partition of a strong keyspace are concerned: reads, and writes that
 * have a {@linkplain NamedWrites name}. The driver asks only for those that may be repeated. What
 * the configured policy wants comes first.
 */
final class FollowerHedge implements SpeculativeExecutionPolicy {
  /** The driver's word for: no further node is asked. */
  private static final long NONE = -1;

  private final SpeculativeExecutionPolicy policy;
  private final Leaders<Node> leaders;
  private final InternalDriverContext context;
  private final long afterMillis;
  private final HedgeBudget budget = new HedgeBudget();

  FollowerHedge(
      SpeculativeExecutionPolicy policy,
      Leaders<Node> leaders,
      InternalDriverContext context,
      Duration after) {
    this.policy = policy;
    this.leaders = leaders;
    this.context = context;
    this.afterMillis = after.toMillis();
  }

  @Override
  public long nextExecution(
      Node node, CqlIdentifier keyspace, Request request, int runningExecutions) {
    long wanted = policy.nextExecution(node, keyspace, request, runningExecutions);
    return wanted >= 0 || !mayHedge(request, keyspace) ? wanted : hedge(runningExecutions);
  }

  private long hedge(int runningExecutions) {
    if (runningExecutions > 1) { // The driver has just sent the hedge.
      budget.spend();
      return NONE;
    }
    budget.earn();
    return budget.isLeft() ? afterMillis : NONE;
  }

  private boolean mayHedge(Request request, CqlIdentifier keyspace) {
    return request instanceof Statement<?> statement
        && (RequestText.of(statement).isRead() || NamedWrites.isNamed(statement))
        && RoutedRequest.of(
                request,
                leaders,
                Optional.ofNullable(keyspace),
                context.getMetadataManager().getMetadata(),
                context)
            .isPresent();
  }

  @Override
  public void close() {
    policy.close();
  }
}
