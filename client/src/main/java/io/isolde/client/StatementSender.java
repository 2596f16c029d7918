// SPDX-License-Identifier: Apache-2.0
package io.isolde.client;

import com.datastax.oss.driver.api.core.cql.AsyncResultSet;
import com.datastax.oss.driver.api.core.cql.BatchStatement;
import com.datastax.oss.driver.api.core.cql.BatchableStatement;
import com.datastax.oss.driver.api.core.cql.ResultSet;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.cql.Statement;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

/**
 * The statements of a transaction on their way to its node. START goes with the first of them,
 * unless it was sent before. Writes that are held back go before the next that may see them, one
 * batch after the other. Thread-safe.
 */
final class StatementSender {
  static final CompletionStage<Void> DONE = CompletableFuture.completedFuture(null);

  private final TransactionRequests requests;
  private final UUID id;
  private final Opening opening;
  private final HeldWrites held = new HeldWrites();
  private final AtomicInteger savepoints = new AtomicInteger();

  /** Of the held writes that were sent last. Guarded by this. */
  private CompletionStage<Void> sent = DONE;

  /**
   * The first statement that got no answer, or writes that were held and then refused. What COMMIT
   * would commit is not known then, or not what the application wrote; null while all is well.
   */
  private final AtomicReference<RuntimeException> spoiled = new AtomicReference<>();

  StatementSender(TransactionRequests requests, UUID id, Opening opening) {
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

  CompletionStage<Void> write(BatchableStatement<?> write) {
    synchronized (this) {
      return held.add(write).map(this::sendHeld).orElse(DONE);
    }
  }

  /** Waits for the answer. */
  ResultSet execute(Statement<?> statement) {
    Stages.await(sendHeldBefore(statement));
    return send(statement);
  }

  CompletionStage<AsyncResultSet> executeAsync(Statement<?> statement) {
    return sendHeldBefore(statement).thenCompose(done -> sendAsync(statement));
  }

  Savepoint savepoint() {
    Savepoint savepoint = new Savepoint("s" + savepoints.incrementAndGet());
    ResultSet unused = execute(SimpleStatement.newInstance("SAVEPOINT " + savepoint.name()));
    return savepoint;
  }

  /** What is still held was written after it. */
  Void rollBackTo(Savepoint savepoint) {
    CompletionStage<Void> last;
    synchronized (this) {
      Optional<BatchStatement> unused = held.take();
      last = sent;
    }
    Stages.await(last.handle((done, refused) -> null));
    RuntimeException spoil = spoiled.get();
    if (isUnanswered(spoil)) {
      throw spoil;
    }
    ResultSet unused = send(SimpleStatement.newInstance("ROLLBACK TO " + savepoint.name()));
    synchronized (this) {
      sent = sent == last ? DONE : sent;
    }
    spoiled.compareAndSet(spoil, null);
    return null;
  }

  /** Completes when all that was written before and that it may see has been answered. */
  private synchronized CompletionStage<Void> sendHeldBefore(Statement<?> statement) {
    return held.takeBefore(statement).map(this::sendHeld).orElse(sent);
  }

  /**
   * After those that were sent before: a later write of the same row must not overtake them. If one
   * fails, all that follow do. Guarded by this.
   */
  private CompletionStage<Void> sendHeld(BatchStatement writes) {
    CompletionStage<Void> now =
        sent.thenCompose(before -> sendAsync(writes)).thenApply(answer -> null);
    sent = now.whenComplete((done, error) -> spoilIf(error));
    return sent;
  }

  private void spoilIf(Throwable error) {
    if (error != null) {
      Throwable why = Stages.unwrapped(error);
      spoiled.compareAndSet(
          null,
          why instanceof RuntimeException known
              ? known
              : new IllegalStateException("Writes could not be sent.", why));
    }
  }

  private ResultSet send(Statement<?> statement) {
    try {
      if (statement.getPagingState() != null) { // START is ignored with such a one.
        return requests.execute(Stages.await(opening.begin()).bind(statement));
      }
      Optional<CompletableFuture<Binding>> byOthers = opening.claim();
      return byOthers.isEmpty()
          ? sendFirst(statement)
          : requests.execute(Stages.await(orBegin(byOthers.get())).bind(statement));
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
    } catch (RuntimeException | Error e) {
      opening.failed(e);
      throw e;
    }
    Stages.await(opening.answered(answer.getExecutionInfo()));
    return answer;
  }

  /** Waits for whoever begins the transaction; if that fails, begins it. */
  private CompletionStage<Binding> orBegin(CompletableFuture<Binding> byOthers) {
    return byOthers.exceptionallyCompose(failed -> opening.beginAgain());
  }

  private CompletionStage<AsyncResultSet> sendAsync(Statement<?> statement) {
    return translated(() -> sendOrStart(statement))
        .whenComplete(
            (result, error) -> noteUnanswered(error == null ? null : Stages.unwrapped(error)));
  }

  private CompletionStage<AsyncResultSet> sendOrStart(Statement<?> statement) {
    if (statement.getPagingState() != null) {
      return sendWhen(opening.begin(), statement);
    }
    Optional<CompletableFuture<Binding>> byOthers = opening.claim();
    return byOthers.isEmpty()
        ? sendFirstAsync(statement)
        : sendWhen(orBegin(byOthers.get()), statement);
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

  private CompletionStage<AsyncResultSet> sendWhen(
      CompletionStage<Binding> begun, Statement<?> statement) {
    return begun.thenCompose(binding -> requests.executeAsync(binding.bind(statement)));
  }

  private void noteUnanswered(Throwable error) {
    if (isUnanswered(error)) {
      RuntimeException unanswered = (RuntimeException) error;
      RuntimeException unused =
          spoiled.updateAndGet(known -> isUnanswered(known) ? known : unanswered);
    }
  }

  private static boolean isUnanswered(Throwable error) {
    return error instanceof IsoldeException found && found.code() == ErrorCode.REQUEST_FAILED;
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
