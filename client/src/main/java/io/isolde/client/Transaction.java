// SPDX-License-Identifier: Apache-2.0
package io.isolde.client;

import com.datastax.oss.driver.api.core.cql.AsyncResultSet;
import com.datastax.oss.driver.api.core.cql.BatchStatement;
import com.datastax.oss.driver.api.core.cql.BatchableStatement;
import com.datastax.oss.driver.api.core.cql.ResultSet;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.cql.Statement;
import com.datastax.oss.driver.api.core.metadata.Node;
import java.util.OptionalLong;
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
 * <p>Requests are saved where possible: START TRANSACTION goes with the first statement, unless the
 * transaction was begun with {@link Isolde#begin}; what is {@linkplain #write written} goes with
 * COMMIT. So a transaction of some reads and then any number of writes has one request more than it
 * has reads.
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

  private final TransactionRequests requests;
  private final Timing timing;
  private final TransactionOptions options;
  private final UUID id = UUID.randomUUID();
  private final Opening opening;
  private final StatementSender statements;
  private final AtomicReference<State> state = new AtomicReference<>(State.OPEN);
  private final AtomicInteger runningStatements = new AtomicInteger();

  /** What went with the first COMMIT, and goes with each that is repeated; null if nothing. */
  private volatile BatchStatement lastWrites;

  /** Begins with its first statement. */
  Transaction(TransactionRequests requests, Timing timing, TransactionOptions options) {
    this.requests = requests;
    this.timing = timing;
    this.options = options;
    this.opening = new Opening(requests, timing, id, options.startStatement());
    this.statements = new StatementSender(requests, id, opening);
  }

  /** Begins now. */
  CompletionStage<Transaction> begin() {
    return statements.translated(opening::begin).thenApply(begun -> this);
  }

  /** The id, which errors and the server's views name. */
  public UUID id() {
    return id;
  }

  /**
   * The timestamp on the oracle's scale that the transaction reads as of. If it begins with its
   * first statement, and that was not sent yet, it begins now. Waits until it has begun.
   *
   * @throws IsoldeException if it could not be begun
   * @throws IllegalStateException if the transaction ended before it was begun
   */
  public long startTimestamp() {
    OptionalLong known = opening.startTimestamp();
    if (known.isPresent()) {
      return known.getAsLong();
    }
    return admitted(
        () -> {
          Stages.await(statements.translated(opening::begin));
          return opening.startTimestamp().orElseThrow();
        });
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
    return admitted(() -> statements.execute(statement));
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
    admit();
    return statements
        .executeAsync(statement)
        .whenComplete((result, error) -> runningStatements.decrementAndGet());
  }

  /** As {@link #executeAsync(Statement)}, with values for question marks. */
  public CompletionStage<AsyncResultSet> executeAsync(String cql, Object... values) {
    return executeAsync(SimpleStatement.newInstance(cql, values));
  }

  /**
   * Writes without waiting for an answer. The statement is held back and sent together with the
   * next ones: before the next {@link #execute} that may see it, or with COMMIT. (A prepared read
   * of another table or partition can't see a prepared write.) So it costs no request of its own.
   * If it is refused, whatever sends it fails, and so does COMMIT: nothing is committed.
   *
   * <p>Sends what is held if that is 100 statements or 1 MiB, and waits for that.
   *
   * @param write INSERT, UPDATE or DELETE without IF; bound, or simple without named values and
   *     without a keyspace of its own. Additions to numbers ({@code SET v = v + 1}) must be bound
   * @throws IllegalArgumentException if it is another statement
   * @throws IllegalStateException if the transaction ended
   */
  public void write(BatchableStatement<?> write) {
    Void unused =
        admitted(
            () -> {
              CompletionStage<Void> sent = statements.write(HeldWrites.checked(write));
              return sent == StatementSender.DONE ? null : Stages.await(sent);
            });
  }

  /** As {@link #write(BatchableStatement)}, with values for question marks. */
  public void write(String cql, Object... values) {
    write(SimpleStatement.newInstance(cql, values));
  }

  /**
   * As {@link #write(BatchableStatement)}, without waiting: the stage has completed unless what is
   * held is sent.
   */
  public CompletionStage<Void> writeAsync(BatchableStatement<?> write) {
    BatchableStatement<?> checked = HeldWrites.checked(write);
    admit();
    return statements
        .write(checked)
        .whenComplete((sent, error) -> runningStatements.decrementAndGet());
  }

  /**
   * Marks this moment, so that {@link #rollbackTo} can take back what is written after it. A
   * transaction may have 100 savepoints.
   *
   * @throws IsoldeException as {@link #execute(Statement)}
   * @throws IllegalStateException if the transaction ended, or statements of it are still running
   */
  public Savepoint savepoint() {
    return admitted(
        () -> {
          requireNoneRunning("set a savepoint", runningStatements.get() - 1);
          return statements.savepoint();
        });
  }

  /**
   * Takes back what was written since a savepoint, also after a statement that was refused: the
   * transaction goes on as if it had not been sent. What was read stays read. The savepoint stays;
   * those after it are gone.
   *
   * @throws IsoldeException SAVEPOINT_NOT_FOUND; or REQUEST_FAILED, if a statement got no answer:
   *     it may be executed later, so that only {@link #rollback} is safe
   * @throws IllegalStateException if the transaction ended, or statements of it are still running
   */
  public void rollbackTo(Savepoint savepoint) {
    Void unused =
        admitted(
            () -> {
              requireNoneRunning("go back", runningStatements.get() - 1);
              return statements.rollBackTo(savepoint);
            });
  }

  private void requireNoneRunning(String what, int running) {
    if (running > 0) {
      throw new IllegalStateException(
          "Transaction %s can't %s while %d of its statements are running: wait for them first."
              .formatted(id, what, running));
    }
  }

  /**
   * Forgets a savepoint, and those after it. What was written stays.
   *
   * @throws IsoldeException SAVEPOINT_NOT_FOUND
   */
  public void release(Savepoint savepoint) {
    ResultSet unused = execute("RELEASE SAVEPOINT " + savepoint.name());
  }

  /**
   * Commits. If the answer gets lost, COMMIT is repeated, on this and on other nodes, which is
   * harmless. That goes on until one tells how the transaction ended or {@link
   * TransactionOptions#timeLimit()} is over. When half of that is over, it is aborted if it is not
   * decided, to have an answer. A read-only transaction has nothing to lose: it just fails then,
   * and may be run again.
   *
   * <p>After an error with {@link Outcome#UNKNOWN} it may be called again, to ask again. After a
   * statement that failed with {@link ErrorCode#REQUEST_FAILED}, or {@linkplain #write writes} that
   * were refused, it fails with that same error and sends nothing. Nobody knows whether such a
   * statement is part of the transaction. Refused writes are known not to be.
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
    try {
      requireNoneRunning("commit", runningStatements.get());
    } catch (IllegalStateException e) {
      state.set(wasUnknown ? State.UNKNOWN : State.OPEN);
      throw e;
    }
    if (statements.spoiled().isPresent()) {
      state.set(State.OPEN);
      return CompletableFuture.failedFuture(statements.spoiled().get());
    }
    if (!wasUnknown) {
      lastWrites = statements.takeHeld().orElse(null);
    }
    return statements
        .translated(opening::begin)
        .thenCompose(binding -> committing(binding, wasUnknown))
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
    return opening
        .holder()
        .thenCompose(
            node -> node.isEmpty() ? StatementSender.DONE : rollBack(new Binding(id, node.get())));
  }

  private CompletionStage<Void> rollBack(Binding binding) {
    return statements
        .translated(() -> requests.end(binding, "ROLLBACK"))
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
    return "Transaction %s (%s)".formatted(id, state.get());
  }

  /** True if the commit may have happened, so that the work must not be done again. */
  boolean mayHaveCommitted() {
    State now = state.get();
    return now == State.COMMITTED || now == State.UNKNOWN || now == State.ENDING;
  }

  private <T> T admitted(Supplier<T> request) {
    admit();
    try {
      return request.get();
    } finally {
      runningStatements.decrementAndGet();
    }
  }

  /**
   * Counts a statement as running. It is counted before the state is looked at, and COMMIT does
   * both in the other order, so one of them notices.
   */
  private void admit() {
    runningStatements.incrementAndGet();
    if (!isOpen()) {
      runningStatements.decrementAndGet();
      throw ended();
    }
  }

  private CompletionStage<CommitResult> committing(Binding holder, boolean wasUnknown) {
    if (options.isReadOnly() && lastWrites == null) {
      return statements.translated(() -> requests.end(holder, "COMMIT"));
    }
    CommitResolution resolution = new CommitResolution(id, Backoff.ofCommit(options), wasUnknown);
    return commitUntilKnown(holder, resolution, timing.nanoTime())
        .whenComplete((result, error) -> endIfWrong(holder, error));
  }

  /** Last writes that are wrong in themselves may not have come so far as to end it. */
  private void endIfWrong(Binding holder, Throwable error) {
    if (lastWrites != null
        && error != null
        && !(Stages.unwrapped(error) instanceof IsoldeException)) {
      CompletionStage<Void> unused = rollBack(holder);
    }
  }

  private CompletionStage<CommitResult> commitUntilKnown(
      Binding holder, CommitResolution resolution, long startNanos) {
    return Stages.of(() -> sendCommit(holder, resolution))
        .exceptionallyCompose(
            error -> {
              CommitResolution.Step step =
                  resolution.afterFailure(
                      Stages.unwrapped(error), timing.since(startNanos), timing.jitter());
              return step.pause().isEmpty()
                  ? CompletableFuture.failedFuture(step.error())
                  : CompletableFuture.runAsync(() -> {}, timing.after(step.pause().get()))
                      .thenCompose(done -> commitUntilKnown(holder, resolution, startNanos));
            });
  }

  /**
   * COMMIT, as often as it takes. To the holder always with the last writes: where the request
   * before was lost on its way, the transaction is still open there, without them. The holder
   * writes them once; other nodes can only tell what is decided.
   */
  private CompletionStage<CommitResult> sendCommit(Binding holder, CommitResolution resolution) {
    Node to = resolution.isElsewhere() ? requests.otherThan(holder.node()) : holder.node();
    BatchStatement last = lastWrites;
    if (last != null && to.equals(holder.node())) { // also if there is no other
      return requests.commit(
          holder,
          last,
          resolution.isToBeResolved() ? opening.startTimestamp() : OptionalLong.empty());
    }
    Binding target = new Binding(id, to);
    return resolution.isToBeResolved()
        ? requests.resolve(target, startTimestamp())
        : requests.end(target, "COMMIT");
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
            || found.code() == ErrorCode.TRANSACTION_ROLLED_BACK
            || found.code() == ErrorCode.NO_TRANSACTION);
  }

  private IllegalStateException ended() {
    return new IllegalStateException(
        "Transaction %s takes no more requests: it is %s.".formatted(id, state.get()));
  }
}
