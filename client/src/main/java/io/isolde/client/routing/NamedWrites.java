// SPDX-License-Identifier: Apache-2.0
package io.isolde.client.routing;

import com.datastax.oss.driver.api.core.DefaultProtocolVersion;
import com.datastax.oss.driver.api.core.DriverException;
import com.datastax.oss.driver.api.core.DriverTimeoutException;
import com.datastax.oss.driver.api.core.cql.ExecutionInfo;
import com.datastax.oss.driver.api.core.cql.Statement;
import com.datastax.oss.driver.api.core.servererrors.CoordinatorException;
import com.datastax.oss.driver.api.core.servererrors.InvalidQueryException;
import com.datastax.oss.driver.api.core.servererrors.WriteFailureException;
import com.datastax.oss.driver.api.core.servererrors.WriteTimeoutException;
import com.datastax.oss.driver.internal.core.context.InternalDriverContext;
import com.datastax.oss.driver.internal.core.cql.Conversions;
import io.isolde.client.routing.WriteNames.Name;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * Sends writes to strong keyspaces that may be repeated with a name each. Without one, a copy that
 * a slow node still has could be applied after the client got its answer and wrote something else.
 * So what gets no name is not repeated at all.
 */
final class NamedWrites {
  /** Tables whose nodes refuse names. At the bound all are forgotten, and asked again. */
  static final int MAX_REFUSING = 1_000;

  /** For so long a table is not asked again. */
  private static final long REFUSING_NANOS = TimeUnit.MINUTES.toNanos(1);

  private final WriteNames names =
      new WriteNames(
          new SecureRandom().nextLong(), // Processes that start at once must differ.
          () -> TimeUnit.MILLISECONDS.toMicros(System.currentTimeMillis()));

  /** Until when. */
  private final Map<String, Long> refusing = new ConcurrentHashMap<>();

  /** Whether a request has a name. */
  static boolean isNamed(Statement<?> request) {
    return request.getCustomPayload().containsKey(WriteNames.KEY);
  }

  /**
   * Sends a request to a strong keyspace: with a name if it is a write that may be repeated.
   *
   * @param keyspace of the request
   * @param send sends a request
   */
  <T> CompletionStage<T> send(
      Statement<?> request,
      String keyspace,
      InternalDriverContext context,
      Function<Statement<?>, CompletionStage<T>> send) {
    RequestText text = RequestText.of(request);
    if (text.isRead() || !mayBeRepeated(request, context)) {
      return send.apply(request);
    }
    String table = text.table().orElse(keyspace);
    Optional<Name> name =
        text.isBlindWrite() && hasPayloads(context) && !isRefusing(table)
            ? names.next()
            : Optional.empty();
    return name.isEmpty()
        ? send.apply(once(request))
        : new Sending<>(request, table, name.get(), send).start();
  }

  private static boolean mayBeRepeated(Statement<?> request, InternalDriverContext context) {
    return Conversions.resolveIdempotence(
        request, Conversions.resolveExecutionProfile(request, context));
  }

  private static boolean hasPayloads(InternalDriverContext context) {
    return context.getProtocolVersion().getCode() >= DefaultProtocolVersion.V4.getCode();
  }

  private static Statement<?> once(Statement<?> request) {
    return request.setIdempotent(false);
  }

  private boolean isRefusing(String table) {
    Long until = refusing.get(table);
    return until != null && System.nanoTime() - until < 0;
  }

  private void refuses(String table) {
    if (refusing.size() >= MAX_REFUSING) {
      refusing.clear();
    }
    refusing.put(table, System.nanoTime() + REFUSING_NANOS);
  }

  /** A write on its way. */
  private final class Sending<T> {
    private final Statement<?> request;
    private final String table;
    private final Name name;
    private final Function<Statement<?>, CompletionStage<T>> send;
    private final CompletableFuture<T> result = new CompletableFuture<>();
    private volatile CompletableFuture<T> sent;

    private Sending(
        Statement<?> request,
        String table,
        Name name,
        Function<Statement<?>, CompletionStage<T>> send) {
      this.request = request;
      this.table = table;
      this.name = name;
      this.send = send;
    }

    private CompletionStage<T> start() {
      var unused = result.whenComplete((answer, failure) -> cancelIfCancelled());
      try {
        sent = send.apply(named()).toCompletableFuture();
      } catch (RuntimeException e) {
        names.done(name);
        throw e;
      }
      var unusedToo = sent.whenComplete(this::answered);
      return result;
    }

    private Statement<?> named() {
      Map<String, ByteBuffer> payload = new HashMap<>(request.getCustomPayload());
      payload.put(WriteNames.KEY, name.bytes());
      return request.setCustomPayload(payload);
    }

    private void answered(T answer, Throwable failure) {
      names.done(name);
      if (failure == null) {
        result.complete(answer);
      } else if (mayHaveCopies(failure)) {
        result.completeExceptionally(outcomeUnknown(failure));
      } else if (isRefused(failure)) {
        refuses(table);
        sendWithoutName();
      } else {
        result.completeExceptionally(failure);
      }
    }

    /** Nothing is done, and nothing of it is under way. */
    private void sendWithoutName() {
      try {
        sent = send.apply(once(request)).toCompletableFuture();
      } catch (RuntimeException e) {
        result.completeExceptionally(e);
        return;
      }
      cancelIfCancelled();
      var unused =
          sent.whenComplete(
              (answer, failure) -> {
                if (failure == null) {
                  result.complete(answer);
                } else {
                  result.completeExceptionally(failure);
                }
              });
    }

    private void cancelIfCancelled() {
      CompletableFuture<T> now = sent;
      if (result.isCancelled() && now != null) {
        now.cancel(true);
      }
    }
  }

  private static boolean isRefused(Throwable failure) {
    return failure instanceof InvalidQueryException
        && failure.getMessage() != null
        && failure.getMessage().contains(WriteNames.KEY);
  }

  /** Whether it went to further nodes, of which this failure says nothing. */
  private static boolean mayHaveCopies(Throwable failure) {
    if (!(failure instanceof DriverException error) || error.getExecutionInfo() == null) {
      return false;
    }
    ExecutionInfo execution = error.getExecutionInfo();
    return execution.getSpeculativeExecutionCount() > 0 || !execution.getErrors().isEmpty();
  }

  /** Some failures would say that nothing was done. */
  private static Throwable outcomeUnknown(Throwable failure) {
    if (!(failure instanceof CoordinatorException)
        || failure instanceof WriteTimeoutException
        || failure instanceof WriteFailureException) {
      return failure;
    }
    DriverTimeoutException unknown =
        new DriverTimeoutException(
            "The write went to several nodes. One of them refused it; others may still apply it: "
                + failure.getMessage());
    unknown.initCause(failure);
    return unknown;
  }
}
