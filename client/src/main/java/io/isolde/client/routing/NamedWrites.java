// SPDX-License-Identifier: Apache-2.0
package io.isolde.client.routing;

import com.datastax.oss.driver.api.core.CqlIdentifier;
import com.datastax.oss.driver.api.core.DefaultProtocolVersion;
import com.datastax.oss.driver.api.core.cql.BoundStatement;
import com.datastax.oss.driver.api.core.cql.ColumnDefinitions;
import com.datastax.oss.driver.api.core.cql.Statement;
import com.datastax.oss.driver.api.core.servererrors.InvalidQueryException;
import com.datastax.oss.driver.internal.core.context.InternalDriverContext;
import com.datastax.oss.driver.internal.core.cql.Conversions;
import io.isolde.client.routing.WriteNames.Name;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.regex.Pattern;

/**
 * Sends writes that may be repeated with a name each. Without one, a copy that a slow node still
 * has could be applied after the client got its answer and wrote something else.
 */
final class NamedWrites {
  /** Tables whose nodes refuse names. At the bound all are forgotten, and asked again. */
  static final int MAX_REFUSING = 1_000;

  /** What a name is no help for, or the statement may depend on what was applied before. */
  private static final Pattern CONDITION = Pattern.compile("\\bIF\\b", Pattern.CASE_INSENSITIVE);

  private static final Pattern WRITE =
      Pattern.compile("\\s*(INSERT|UPDATE|DELETE)\\b", Pattern.CASE_INSENSITIVE);

  private final WriteNames names =
      new WriteNames(
          ThreadLocalRandom.current().nextLong(),
          () -> TimeUnit.MILLISECONDS.toMicros(System.currentTimeMillis()));
  private final Set<String> refusing = ConcurrentHashMap.newKeySet();

  /** Whether a request has a name. */
  static boolean isNamed(Statement<?> request) {
    return request.getCustomPayload().containsKey(WriteNames.KEY);
  }

  /**
   * Sends a request for one partition of a strong keyspace: with a name if it is a write that may
   * be repeated.
   *
   * @param send sends either
   */
  <T> CompletionStage<T> send(
      Statement<?> request,
      InternalDriverContext context,
      Function<Statement<?>, CompletionStage<T>> send) {
    Optional<String> table = tableOf(request, context).filter(each -> !refusing.contains(each));
    Optional<Name> name = table.flatMap(each -> names.next());
    return name.isEmpty() ? send.apply(request) : send(request, table.get(), name.get(), send);
  }

  private <T> CompletionStage<T> send(
      Statement<?> request,
      String table,
      Name name,
      Function<Statement<?>, CompletionStage<T>> send) {
    CompletableFuture<T> result = new CompletableFuture<>();
    CompletableFuture<T> sent;
    try {
      sent = send.apply(named(request, name)).toCompletableFuture();
    } catch (RuntimeException e) {
      names.done(name);
      throw e;
    }
    var unused =
        sent.whenComplete(
            (answer, failure) -> {
              names.done(name);
              if (failure == null) {
                result.complete(answer);
              } else if (isRefused(failure)) { // Nothing is done: the table is transactional.
                refuses(table);
                pass(send.apply(request), result);
              } else {
                result.completeExceptionally(failure);
              }
            });
    var unusedToo =
        result.whenComplete(
            (answer, failure) -> {
              if (result.isCancelled()) {
                sent.cancel(true);
              }
            });
    return result;
  }

  private static <T> void pass(CompletionStage<T> from, CompletableFuture<T> to) {
    var unused =
        from.whenComplete(
            (answer, failure) -> {
              if (failure == null) {
                to.complete(answer);
              } else {
                to.completeExceptionally(failure);
              }
            });
  }

  private static Statement<?> named(Statement<?> request, Name name) {
    Map<String, ByteBuffer> payload = new HashMap<>(request.getCustomPayload());
    payload.put(WriteNames.KEY, name.bytes());
    return request.setCustomPayload(payload);
  }

  private static boolean isRefused(Throwable failure) {
    return failure instanceof InvalidQueryException
        && failure.getMessage() != null
        && failure.getMessage().contains(WriteNames.KEY);
  }

  private void refuses(String table) {
    if (refusing.size() >= MAX_REFUSING) {
      refusing.clear();
    }
    refusing.add(table);
  }

  /** Empty for what is not to be named. */
  private static Optional<String> tableOf(Statement<?> request, InternalDriverContext context) {
    if (!(request instanceof BoundStatement bound)
        || context.getProtocolVersion().getCode() < DefaultProtocolVersion.V4.getCode()
        || !Conversions.resolveIdempotence(
            request, Conversions.resolveExecutionProfile(request, context))) {
      return Optional.empty();
    }
    ColumnDefinitions variables = bound.getPreparedStatement().getVariableDefinitions();
    String text = bound.getPreparedStatement().getQuery();
    return variables.size() > 0
            && WRITE.matcher(text).lookingAt()
            && !CONDITION.matcher(text).find()
        ? Optional.of(asText(variables.get(0).getKeyspace(), variables.get(0).getTable()))
        : Optional.empty();
  }

  private static String asText(CqlIdentifier keyspace, CqlIdentifier table) {
    return keyspace.asInternal() + "." + table.asInternal();
  }
}
