// SPDX-License-Identifier: Apache-2.0
package io.isolde.client;

import com.datastax.oss.driver.api.core.cql.AsyncResultSet;
import com.datastax.oss.driver.api.core.cql.BatchStatement;
import com.datastax.oss.driver.api.core.cql.BatchableStatement;
import com.datastax.oss.driver.api.core.cql.ResultSet;
import com.datastax.oss.driver.api.core.cql.Statement;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

/**
 * The statements of a transaction on their way to its node: START goes with the first of them, and
 * writes that are held back go before the next. Thread-safe.
 */
final class StatementSender {
  static final CompletionStage<Void> DONE = CompletableFuture.completedFuture(null);

  private final Requests requests;
  private final UUID id;
  private final Opening opening;
  private final HeldWrites held = new HeldWrites();

  /**
   * The first statement that got no answer, or writes that were held and then refused. What COMMIT
   * would commit is not known then, or not what the application wrote; null while all is well.
   */
  private final AtomicReference<RuntimeException> spoiled = new AtomicReference<>();

  StatementSender(Requests requests, UUID id, Opening opening) {
    this.requests = requests;
    this.id = id;
    this.opening = opening;
  }

  /** Why what COMMIT would commit is not what the application means; empty if all is well. */
  Optional<RuntimeException> spoiled() {
    return Optional.ofNullable(spoiled.get());
  }

  /** The writes that are still held, to go with COMMIT; empty if there are none. */
  Optional<BatchStatement> takeHeld() {
    return held.take();
  }

  void write(BatchableStatement<?> write) {
    held.add(write).ifPresent(this::sendHeld);
  }

  CompletionStage<Void> writeAsync(BatchableStatement<?> write) {
    return held.add(write).map(this::sendHeldAsync).orElse(DONE);
  }

  ResultSet execute(Statement<?> statement) {
    held.take().ifPresent(this::sendHeld);
    return send(statement);
  }

  CompletionStage<AsyncResultSet> executeAsync(Statement<?> statement) {
    return held.take()
        .map(this::sendHeldAsync)
        .orElse(DONE)
        .thenCompose(sent -> sendAsync(statement));
  }

  private void sendHeld(BatchStatement writes) {
    try {
      var unused = send(writes);
    } catch (RuntimeException e) {
      spoiled.compareAndSet(null, e);
      throw e;
    }
  }

  private ResultSet send(Statement<?> statement) {
    try {
      return opening.claim() ? sendFirst(statement) : requests.execute(begun().bind(statement));
    } catch (RuntimeException e) {
      RuntimeException seen =
          DriverErrors.beforeCommit(e, id) instanceof IsoldeException found ? found : e;
      noteUnanswered(seen);
      throw seen;
    }
  }

  private ResultSet sendFirst(Statement<?> statement) {
    ResultSet answer;
    try {
      answer = requests.execute(opening.first(statement));
    } catch (RuntimeException e) {
      opening.failed(e);
      throw e;
    }
    Stages.await(opening.answered(answer.getExecutionInfo()));
    return answer;
  }

  /** Waits for whoever begins the transaction; if that fails, it is for the caller to begin it. */
  private Binding begun() {
    return Stages.await(
        opening
            .begun()
            .exceptionallyCompose(failed -> opening.begin().thenCompose(done -> opening.begun())));
  }

  private CompletionStage<Void> sendHeldAsync(BatchStatement writes) {
    return sendAsync(writes)
        .whenComplete(
            (sent, error) -> {
              if (error != null && Stages.unwrapped(error) instanceof RuntimeException why) {
                spoiled.compareAndSet(null, why);
              }
            })
        .thenApply(sent -> null);
  }

  private CompletionStage<AsyncResultSet> sendAsync(Statement<?> statement) {
    return translated(() -> opening.claim() ? sendFirstAsync(statement) : sendWhenBegun(statement))
        .whenComplete(
            (result, error) -> noteUnanswered(error == null ? null : Stages.unwrapped(error)));
  }

  private CompletionStage<AsyncResultSet> sendFirstAsync(Statement<?> statement) {
    return Stages.of(() -> requests.executeAsync(opening.first(statement)))
        .whenComplete(
            (answer, error) -> {
              if (error != null) {
                opening.failed(Stages.unwrapped(error));
              }
            })
        .thenCompose(
            answer -> opening.answered(answer.getExecutionInfo()).thenApply(begun -> answer));
  }

  private CompletionStage<AsyncResultSet> sendWhenBegun(Statement<?> statement) {
    return opening
        .begun()
        .exceptionallyCompose(failed -> opening.begin().thenCompose(done -> opening.begun()))
        .thenCompose(binding -> requests.executeAsync(binding.bind(statement)));
  }

  private void noteUnanswered(Throwable error) {
    if (error instanceof IsoldeException found && found.code() == ErrorCode.REQUEST_FAILED) {
      spoiled.compareAndSet(null, found);
    }
  }

  /** The request; if it fails, it does so as a request before COMMIT. */
  <T> CompletionStage<T> translated(Supplier<CompletionStage<T>> request) {
    return Stages.of(request)
        .exceptionallyCompose(
            error ->
                CompletableFuture.failedFuture(
                    DriverErrors.beforeCommit(Stages.unwrapped(error), id)));
  }
}
