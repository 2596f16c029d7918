// SPDX-License-Identifier: Apache-2.0
package io.isolde.client;

import com.datastax.oss.driver.api.core.cql.AsyncResultSet;
import com.datastax.oss.driver.api.core.cql.ResultSet;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.cql.Statement;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

/**
 * An open transaction. {@link Isolde#run} hands one to its function; {@link Isolde#begin} gives one
 * to callers who want to commit and retry themselves:
 *
 * <pre>{@code
 * try (Transaction tx = isolde.begin()) {
 *   tx.execute("UPDATE bank.accounts SET balance = ? WHERE id = ?", 40, 7);
 *   tx.commit();
 * } // rolled back, if commit was not reached
 * }</pre>
 *
 * <p>Any statement of the driver can be executed: simple, bound (prepared as usual, on the session)
 * and batch. All go to the node that answered START TRANSACTION, and the driver neither retries
 * them elsewhere nor speculates with them. Further pages of a result are read in the transaction
 * too, so read them before it ends.
 *
 * <p>Safe for use by several threads. Statements that run at the same time take effect in any
 * order.
 */
public final class Transaction implements AutoCloseable {
  /**
   * OPEN goes to ENDING with the first COMMIT or ROLLBACK and from there to one of the others.
   * UNKNOWN may go back to ENDING, as COMMIT may be repeated.
   */
  private enum State {
    OPEN,
    ENDING,
    COMMITTED,
    ROLLED_BACK,
    UNKNOWN
  }

  private final Requests requests;
  private final Timing timing;
  private final TransactionOptions options;
  private final Binding binding;
  private final long startTimestamp;
  private final AtomicReference<State> state = new AtomicReference<>(State.OPEN);
  private final AtomicInteger runningStatements = new AtomicInteger();

  /**
   * The first statement that got no answer. It may have been executed or not, so what COMMIT would
   * commit is not known; null while all were answered.
   */
  private final AtomicReference<IsoldeException> unanswered = new AtomicReference<>();

  private Transaction(
      Requests requests, Timing timing, TransactionOptions options, Binding binding, long start) {
    this.requests = requests;
    this.timing = timing;
    this.options = options;
    this.binding = binding;
    this.startTimestamp = start;
  }

  static CompletionStage<Transaction> begin(
      Requests requests, Timing timing, TransactionOptions options) {
    UUID id = UUID.randomUUID();
    return translated(id, () -> requests.start(id, options.startStatement()))
        .thenApply(
            started ->
                new Transaction(
                    requests,
                    timing,
                    options,
                    new Binding(id, started.node()),
                    started.startTimestamp()));
  }

  /** The id, which errors and the server's views name. */
  public UUID id() {
    return binding.transaction();
  }

  /** The timestamp on the oracle's scale that the transaction reads as of. */
  public long startTimestamp() {
    return startTimestamp;
  }

  /** True until the first commit or rollback. */
  public boolean isOpen() {
    return state.get() == State.OPEN;
  }

  /**
   * Executes a statement in the transaction. Reads see what the transaction wrote before.
   *
   * @throws IsoldeException if Isolde refused it, or the node was not reached
   * @throws com.datastax.oss.driver.api.core.DriverException if it is wrong in itself
   * @throws IllegalStateException if the transaction ended
   */
  public ResultSet execute(Statement<?> statement) {
    Statement<?> bound = admit(statement);
    try {
      return requests.execute(bound);
    } catch (RuntimeException e) {
      Throwable seen = DriverErrors.beforeCommit(e, id());
      noteUnanswered(seen);
      throw seen instanceof IsoldeException found ? found : e;
    } finally {
      runningStatements.decrementAndGet();
    }
  }

  /** Executes a statement with values for its question marks; see {@link #execute(Statement)}. */
  public ResultSet execute(String cql, Object... values) {
    return execute(SimpleStatement.newInstance(cql, values));
  }

  /**
   * Executes a statement without waiting for it; see {@link #execute(Statement)}. It must have
   * completed before the transaction is committed.
   */
  public CompletionStage<AsyncResultSet> executeAsync(Statement<?> statement) {
    Statement<?> bound = admit(statement);
    return translated(id(), () -> requests.executeAsync(bound))
        .whenComplete(
            (result, error) -> {
              noteUnanswered(error == null ? null : Stages.unwrapped(error));
              runningStatements.decrementAndGet();
            });
  }

  /** As {@link #executeAsync(Statement)}, with values for question marks. */
  public CompletionStage<AsyncResultSet> executeAsync(String cql, Object... values) {
    return executeAsync(SimpleStatement.newInstance(cql, values));
  }

  /**
   * Commits. If the answer gets lost, COMMIT is repeated, which is harmless, on this and on other
   * nodes until one tells how the transaction ended or {@link TransactionOptions#timeLimit()} is
   * over. When half of that is over, it is aborted if it is not decided, to have an answer. A
   * read-only transaction has nothing to lose: it just fails then, and may be run again.
   *
   * <p>After an error with {@link Outcome#UNKNOWN} it may be called again, to ask again. After a
   * statement that failed with {@link ErrorCode#REQUEST_FAILED} it fails with that same error and
   * sends nothing, as the statement may be part of the transaction or not.
   *
   * @throws IsoldeException if the transaction did not commit, or that is not known
   * @throws IllegalStateException if it ended before, or statements of it are still running
   */
  public CommitResult commit() {
    return Stages.await(commitAsync());
  }

  /** As {@link #commit()}, without waiting for it. */
  public CompletionStage<CommitResult> commitAsync() {
    boolean wasUnknown = state.compareAndSet(State.UNKNOWN, State.ENDING);
    if (!wasUnknown && !state.compareAndSet(State.OPEN, State.ENDING)) {
      throw ended();
    }
    int running = runningStatements.get();
    if (running > 0) {
      state.set(wasUnknown ? State.UNKNOWN : State.OPEN);
      throw new IllegalStateException(
          "Transaction %s can't commit while %d of its statements are running: wait for them first."
              .formatted(id(), running));
    }
    if (unanswered.get() != null) {
      state.set(State.OPEN);
      return CompletableFuture.failedFuture(unanswered.get());
    }
    return committing(wasUnknown)
        .whenComplete((result, error) -> state.set(stateAfterCommit(error)));
  }

  /**
   * Rolls back: nothing of the transaction will be seen. Does nothing if the transaction has ended.
   *
   * @throws IsoldeException if the node was not reached; it rolls back by itself then, later
   */
  public void rollback() {
    Stages.await(rollbackAsync());
  }

  /** As {@link #rollback()}, without waiting for it. */
  public CompletionStage<Void> rollbackAsync() {
    if (!state.compareAndSet(State.OPEN, State.ROLLED_BACK)) {
      return CompletableFuture.completedFuture(null);
    }
    return translated(id(), () -> requests.end(binding, "ROLLBACK"))
        .handle(
            (result, error) -> {
              if (error != null && !isGone(Stages.unwrapped(error))) {
                throw new CompletionException(Stages.unwrapped(error));
              }
              return null;
            });
  }

  /**
   * Rolls back if the transaction is still open. Does not throw: when the node can't be reached,
   * nothing is committed and the node rolls back by itself when the idle limit is over.
   */
  @Override
  public void close() {
    Stages.await(rollbackAsync().handle((done, error) -> null));
  }

  @Override
  public String toString() {
    return "Transaction %s (%s)".formatted(id(), state.get());
  }

  /** True if the commit may have happened, so that the work must not be done again. */
  boolean mayHaveCommitted() {
    State now = state.get();
    return now == State.COMMITTED || now == State.UNKNOWN || now == State.ENDING;
  }

  private void noteUnanswered(Throwable error) {
    if (error instanceof IsoldeException found && found.code() == ErrorCode.REQUEST_FAILED) {
      unanswered.compareAndSet(null, found);
    }
  }

  /**
   * Counts the statement as running, and ties it to the transaction. It is counted before the state
   * is looked at, and COMMIT does both in the other order, so one of them notices.
   */
  private Statement<?> admit(Statement<?> statement) {
    Statement<?> bound = binding.bind(statement);
    runningStatements.incrementAndGet();
    if (!isOpen()) {
      runningStatements.decrementAndGet();
      throw ended();
    }
    return bound;
  }

  private CompletionStage<CommitResult> committing(boolean wasUnknown) {
    if (options.isReadOnly()) {
      return translated(id(), () -> requests.end(binding, "COMMIT"));
    }
    CommitResolution resolution = new CommitResolution(id(), Backoff.ofCommit(options), wasUnknown);
    return commitUntilKnown(resolution, timing.nanoTime());
  }

  private CompletionStage<CommitResult> commitUntilKnown(
      CommitResolution resolution, long startNanos) {
    Binding target =
        resolution.isElsewhere() ? new Binding(id(), requests.otherThan(binding.node())) : binding;
    return Stages.of(
            () ->
                resolution.isToBeSettled()
                    ? requests.settle(target, startTimestamp)
                    : requests.end(target, "COMMIT"))
        .exceptionallyCompose(
            error -> {
              CommitResolution.Step step =
                  resolution.afterFailure(
                      Stages.unwrapped(error), timing.since(startNanos), timing.jitter());
              return step.pause().isEmpty()
                  ? CompletableFuture.failedFuture(step.error())
                  : CompletableFuture.runAsync(() -> {}, timing.after(step.pause().get()))
                      .thenCompose(done -> commitUntilKnown(resolution, startNanos));
            });
  }

  private static State stateAfterCommit(Throwable error) {
    if (error == null) {
      return State.COMMITTED;
    }
    if (Stages.unwrapped(error) instanceof IsoldeException found) {
      return switch (found.outcome()) {
        case COMMITTED -> State.COMMITTED;
        case UNKNOWN -> State.UNKNOWN;
        case NOT_COMMITTED -> State.ROLLED_BACK;
      };
    }
    return State.ROLLED_BACK;
  }

  private static boolean isGone(Throwable error) {
    return error instanceof IsoldeException found
        && (found.code() == ErrorCode.TRANSACTION_NOT_FOUND
            || found.code() == ErrorCode.TRANSACTION_EXPIRED
            || found.code() == ErrorCode.NO_TRANSACTION);
  }

  private IllegalStateException ended() {
    return new IllegalStateException(
        "Transaction %s takes no more requests: it is %s.".formatted(id(), state.get()));
  }

  private static <T> CompletionStage<T> translated(
      UUID transaction, Supplier<CompletionStage<T>> request) {
    return Stages.of(request)
        .exceptionallyCompose(
            error ->
                CompletableFuture.failedFuture(
                    DriverErrors.beforeCommit(Stages.unwrapped(error), transaction)));
  }
}
