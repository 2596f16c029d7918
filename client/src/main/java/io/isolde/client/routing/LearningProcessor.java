// SPDX-License-Identifier: Apache-2.0
package io.isolde.client.routing;

import com.datastax.oss.driver.api.core.cql.AsyncResultSet;
import com.datastax.oss.driver.api.core.cql.Statement;
import com.datastax.oss.driver.api.core.metadata.Node;
import com.datastax.oss.driver.api.core.session.Session;
import com.datastax.oss.driver.internal.core.context.InternalDriverContext;
import com.datastax.oss.driver.internal.core.cql.CqlRequestAsyncProcessor;
import com.datastax.oss.driver.internal.core.session.DefaultSession;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/** Executes requests, and learns from their answers who leads. */
final class LearningProcessor extends CqlRequestAsyncProcessor {
  private final Leaders<Node> leaders;

  LearningProcessor(Leaders<Node> leaders) {
    this.leaders = leaders;
  }

  @Override
  public CompletionStage<AsyncResultSet> process(
      Statement<?> request,
      DefaultSession session,
      InternalDriverContext context,
      String sessionLogPrefix) {
    CompletionStage<AsyncResultSet> answer =
        super.process(request, session, context, sessionLogPrefix);
    Optional<RoutedRequest> routed = RoutedRequest.of(request, session, context);
    if (routed.isPresent()) {
      var unused =
          answer.whenComplete((rows, failure) -> learn(routed.get(), rows, failure, session));
    }
    return answer;
  }

  private void learn(
      RoutedRequest routed, AsyncResultSet rows, Throwable failure, Session session) {
    Optional<Node> leader = leaders.leader(routed.keyspace(), routed.token());
    if (failure != null) {
      leader.ifPresent(node -> leaders.forget(routed.keyspace(), routed.token(), node));
      return;
    }
    HintedLeader.in(rows.getExecutionInfo().getIncomingPayload())
        .ifPresent(
            hint ->
                session
                    .getMetadata()
                    .findNode(hint.address())
                    .ifPresent(node -> leaders.learn(routed.keyspace(), hint.range(), node)));
  }
}
