// SPDX-License-Identifier: Apache-2.0
package io.isolde.client.routing;

import com.datastax.oss.driver.api.core.AllNodesFailedException;
import com.datastax.oss.driver.api.core.DriverTimeoutException;
import com.datastax.oss.driver.api.core.connection.ClosedConnectionException;
import com.datastax.oss.driver.api.core.connection.HeartbeatException;
import com.datastax.oss.driver.api.core.cql.AsyncResultSet;
import com.datastax.oss.driver.api.core.cql.ExecutionInfo;
import com.datastax.oss.driver.api.core.cql.Statement;
import com.datastax.oss.driver.api.core.metadata.Node;
import com.datastax.oss.driver.api.core.session.Session;
import com.datastax.oss.driver.internal.core.context.InternalDriverContext;
import com.datastax.oss.driver.internal.core.cql.CqlRequestAsyncProcessor;
import com.datastax.oss.driver.internal.core.session.DefaultSession;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Executes requests, and learns from their answers who leads: before the caller has the answer, so
 * that its next request goes there.
 */
final class LearningProcessor extends CqlRequestAsyncProcessor {
  private final Leaders<Node> leaders;
  private final Optional<NamedWrites> names;

  /**
   * Executes requests.
   *
   * @param names for writes, if some go to a second node
   */
  LearningProcessor(Leaders<Node> leaders, Optional<NamedWrites> names) {
    this.leaders = leaders;
    this.names = names;
  }

  @Override
  public CompletionStage<AsyncResultSet> process(
      Statement<?> request,
      DefaultSession session,
      InternalDriverContext context,
      String sessionLogPrefix) {
    Optional<RoutedRequest> routed = RoutedRequest.of(request, leaders, session, context);
    Optional<Node> asked = routed.flatMap(place -> place.leader(leaders));
    Optional<String> strong = strongKeyspaceOf(request, session);
    CompletionStage<AsyncResultSet> answer =
        strong.isPresent() && names.isPresent()
            ? names
                .get()
                .send(
                    request,
                    strong.get(),
                    context,
                    each -> send(each, session, context, sessionLogPrefix))
            : send(request, session, context, sessionLogPrefix);
    CompletableFuture<AsyncResultSet> learned = new CompletableFuture<>();
    var unused =
        answer.whenComplete(
            (rows, failure) -> {
              try {
                if (failure == null) {
                  learn(request, rows.getExecutionInfo(), session);
                }
                if (asked.isPresent() && isInDoubt(asked.get(), rows, failure)) {
                  RoutedRequest place = routed.get();
                  leaders.doubt(place.keyspace(), place.token(), asked.get());
                }
              } finally { // The caller gets its answer, whatever can't be learned from it.
                if (failure == null) {
                  learned.complete(rows);
                } else {
                  learned.completeExceptionally(failure);
                }
              }
            });
    var unusedToo =
        learned.whenComplete(
            (rows, failure) -> {
              if (learned.isCancelled()) {
                answer.toCompletableFuture().cancel(true);
              }
            });
    return learned;
  }

  /** Of the driver's schema, or of answers if it has none. */
  private Optional<String> strongKeyspaceOf(Statement<?> request, Session session) {
    return RoutedRequest.keyspaceOf(request, session.getKeyspace())
        .filter(
            keyspace ->
                RoutedRequest.isStrong(keyspace, session.getMetadata())
                    || (leaders.knows(keyspace)
                        && !RoutedRequest.isPlain(keyspace, session.getMetadata())));
  }

  private CompletionStage<AsyncResultSet> send(
      Statement<?> request,
      DefaultSession session,
      InternalDriverContext context,
      String sessionLogPrefix) {
    return super.process(request, session, context, sessionLogPrefix);
  }

  private void learn(Statement<?> request, ExecutionInfo answer, Session session) {
    Optional<HintedLeader> hint = HintedLeader.in(answer.getIncomingPayload());
    if (hint.isEmpty()) {
      return;
    }
    Optional<String> keyspace = RoutedRequest.keyspaceOf(request, session.getKeyspace());
    Optional<Node> leader = session.getMetadata().findNode(hint.get().address());
    if (keyspace.isPresent() && leader.isPresent()) {
      leaders.learn(keyspace.get(), hint.get().range(), leader.get());
    }
  }

  /**
   * Whether another node has answered in its place, or none. A refusal is an answer, and what no
   * node was asked for says nothing of it.
   */
  private static boolean isInDoubt(Node asked, AsyncResultSet rows, Throwable failure) {
    return failure == null
        ? !asked.equals(rows.getExecutionInfo().getCoordinator())
        : failure instanceof DriverTimeoutException
            || failure instanceof ClosedConnectionException
            || failure instanceof HeartbeatException
            || failure instanceof AllNodesFailedException;
  }
}
