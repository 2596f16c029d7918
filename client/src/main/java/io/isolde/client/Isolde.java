// SPDX-License-Identifier: Apache-2.0
package io.isolde.client;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.DriverException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.function.Function;

/**
 * Transactions over a session of the Cassandra driver:
 *
 * <pre>{@code
 * Isolde isolde = Isolde.on(session);
 * long left = isolde.run(tx -> {
 *   long balance = tx.execute("SELECT balance FROM bank.accounts WHERE id = ?", 7).one().getLong(0);
 *   tx.execute("UPDATE bank.accounts SET balance = ? WHERE id = ?", balance - 10, 7);
 *   return balance - 10;
 * });
 * }</pre>
 *
 * <p>The session stays the caller's: it is shared by all threads, and not closed here. The same
 * holds for this object.
 */
public final class Isolde {
  private final CqlSession session;
  private final TransactionRequests requests;
  private final Timing timing;

  /** Null if changes are asked for. */
  private final PushClients push;

  private final ConflictQueue conflicts = new ConflictQueue();

  /** Transactions without a session, which watches need. */
  Isolde(TransactionRequests requests, Timing timing) {
    this(null, requests, timing, null);
  }

  private Isolde(
      CqlSession session, TransactionRequests requests, Timing timing, PushClients push) {
    this.session = session;
    this.requests = requests;
    this.timing = timing;
    this.push = push;
  }

  /** Transactions over the given session. */
  public static Isolde on(CqlSession session) {
    return new Isolde(
        Objects.requireNonNull(session, "session"),
        new SessionRequests(session),
        Timing.SYSTEM,
        null);
  }

  /**
   * The same, but nodes push the changes that are {@linkplain #watch watched}, over a port of their
   * own. All watches of the returned object share a connection. Nodes that have more watchers than
   * others ask it to move, which nobody notices. Where nodes have no such port ({@code push_port}),
   * watches ask as without this.
   */
  public Isolde withPush(PushOptions options) {
    PushClients clients = new PushClients(options, new PushNodes.OfSession(session), timing);
    return new Isolde(session, requests, timing, clients);
  }

  /**
   * Watches what a SELECT reads, from now on:
   *
   * <pre>{@code
   * Watch watch = isolde.watch(
   *     "SELECT CHANGES FROM bank.accounts WHERE id = ?", List.of(7), listener);
   * }</pre>
   *
   * <p>"Now" is when the first answer comes, and the watch has a {@linkplain Watch#position
   * position}. Whoever reads what is watched first, and must not miss what comes in between, names
   * the timestamp of that read.
   *
   * @param select a statement that starts with SELECT CHANGES FROM, without AFTER
   * @param values for its question marks
   * @param listener hears of each commit that changes it
   */
  public Watch watch(String select, List<?> values, WatchListener listener) {
    return watch(select, values, OptionalLong.empty(), listener);
  }

  /**
   * As {@link #watch(String, List, WatchListener)}, after a timestamp: of the transaction that has
   * read what is watched ({@link Transaction#startTimestamp}), or of the {@linkplain Watch#position
   * position} of a watch before. Nothing that was committed since is missed.
   *
   * @param after in microseconds on the oracle's scale; empty for from now on
   */
  public Watch watch(String select, List<?> values, OptionalLong after, WatchListener listener) {
    return watch(select, values, after, listener, Watch.COMMON);
  }

  /**
   * As {@link #watch(String, List, OptionalLong, WatchListener)}.
   *
   * @param executor runs the listener; on the common pool a slow one holds up others
   */
  public Watch watch(
      String select,
      List<?> values,
      OptionalLong after,
      WatchListener listener,
      Executor executor) {
    WatchRequests.OfSession asked =
        new WatchRequests.OfSession(session, select, new ArrayList<>(values));
    return Watch.start(
        push == null ? asked : new PushedRequests(push, asked), timing, after, listener, executor);
  }

  /**
   * Reads the cluster's configuration: nodes, replica groups and their leaders, all of one version.
   * It is the newest one of a moment during the call, whichever node answers. The user needs SELECT
   * on {@code isolde.ring} and {@code isolde.groups}.
   *
   * @throws IsoldeException ORACLE_UNAVAILABLE or ORACLE_OVERLOADED if the oracle does not answer
   */
  public ClusterConfiguration configuration() {
    return ConfigurationRead.by(session);
  }

  /** {@link #run(TransactionOptions, TransactionFunction)} with the default options. */
  public <T, X extends Exception> T run(TransactionFunction<T, X> fn) throws X {
    return run(TransactionOptions.defaults(), fn);
  }

  /**
   * Begins a transaction, runs the function in it, commits, and returns what the function returned.
   * START TRANSACTION goes with the function's first statement: the transaction sees what was
   * committed until then, and has no start timestamp before.
   *
   * <p><b>The function may run more than once</b>: when the transaction failed without committing
   * and a retry may help, for example after a conflict, all of it is done again. It starts in a new
   * transaction after a pause, within the limits of the options; after a conflict those of this
   * object that had one over the same row run again one after the other. Never is it run again when
   * the transaction committed or may have committed. A lost answer of COMMIT is looked up, see
   * {@link Transaction#commit()}.
   *
   * <p>The function need not commit, but may, as its last act, to learn the commit timestamp; if it
   * rolls back, its value is returned and nothing is committed. If it throws, the transaction is
   * rolled back and the exception rethrown, unless a retryable error of this transaction is among
   * its causes. Rollbacks are sent without waiting for the answer.
   *
   * @throws IsoldeException if the transaction did not commit, or if that is not known. Also if it
   *     committed and the data could not be brought to its replicas in time: look at {@link
   *     IsoldeException#outcome()}. The details tell the {@code attempts}.
   * @throws X if the function does
   */
  public <T, X extends Exception> T run(TransactionOptions options, TransactionFunction<T, X> fn)
      throws X {
    Backoff backoff = Backoff.ofAttempts(options);
    long startNanos = timing.nanoTime();
    ConflictQueue.Permit permit = ConflictQueue.Permit.NONE;
    for (int attempt = 1; ; attempt++) {
      Transaction tx = null;
      try {
        tx = new Transaction(requests, timing, options);
        return runWith(permit, tx, fn);
      } catch (Throwable error) {
        Failure failure = failure(tx, error, backoff, startNanos, attempt);
        Optional<ConflictQueue.Permit> next = nextPermit(failure);
        if (next.isEmpty()) {
          if (failure.replacement().isPresent()) {
            throw failure.replacement().get();
          }
          throw error;
        }
        permit = next.get();
      }
    }
  }

  private static <T, X extends Exception> T runWith(
      ConflictQueue.Permit permit, Transaction tx, TransactionFunction<T, X> fn) throws X {
    try (permit) {
      T value = fn.apply(tx);
      if (tx.isOpen()) {
        tx.commit();
      }
      return value;
    }
  }

  /** {@link #runVoid(TransactionOptions, TransactionBody)} with the default options. */
  public <X extends Exception> void runVoid(TransactionBody<X> body) throws X {
    runVoid(TransactionOptions.defaults(), body);
  }

  /** {@link #run(TransactionOptions, TransactionFunction)} for work without a result. */
  public <X extends Exception> void runVoid(TransactionOptions options, TransactionBody<X> body)
      throws X {
    Object unused =
        this.<Object, X>run(
            options,
            tx -> {
              body.accept(tx);
              return null;
            });
  }

  /** {@link #runAsync(TransactionOptions, Function)} with the default options. */
  public <T> CompletionStage<T> runAsync(Function<Transaction, ? extends CompletionStage<T>> fn) {
    return runAsync(TransactionOptions.defaults(), fn);
  }

  /**
   * {@link #run(TransactionOptions, TransactionFunction)} without waiting: the transaction is
   * committed when the stage that the function returns has completed.
   *
   * <p>The function is called by threads of the driver, and for further attempts by those of the
   * common pool; it must not block, and use only the asynchronous calls of {@link Transaction}.
   */
  public <T> CompletionStage<T> runAsync(
      TransactionOptions options, Function<Transaction, ? extends CompletionStage<T>> fn) {
    return attemptAsync(options, fn, timing.nanoTime(), 1, ConflictQueue.Permit.NONE);
  }

  /** {@link #begin(TransactionOptions)} with the default options. */
  public Transaction begin() {
    return begin(TransactionOptions.defaults());
  }

  /**
   * Begins a transaction that the caller commits or rolls back; nothing is retried but a COMMIT
   * whose answer was lost. Of the options, the limits of attempts and back-off play no role.
   *
   * @throws IsoldeException if it could not be begun
   */
  public Transaction begin(TransactionOptions options) {
    return Stages.await(beginAsync(options));
  }

  /** As {@link #begin(TransactionOptions)}, without waiting for it. */
  public CompletionStage<Transaction> beginAsync(TransactionOptions options) {
    return new Transaction(requests, timing, options).begin();
  }

  private <T> CompletionStage<T> attemptAsync(
      TransactionOptions options,
      Function<Transaction, ? extends CompletionStage<T>> fn,
      long startNanos,
      int attempt,
      ConflictQueue.Permit permit) {
    Transaction tx = new Transaction(requests, timing, options);
    return Stages.of(() -> fn.apply(tx).thenCompose(value -> committed(tx, value)))
        .whenComplete((value, error) -> permit.close())
        .exceptionallyCompose(
            wrapped -> {
              Throwable error = Stages.unwrapped(wrapped);
              Backoff backoff = Backoff.ofAttempts(options);
              Failure failure = failure(tx, error, backoff, startNanos, attempt);
              if (failure.pause().isEmpty()) {
                return CompletableFuture.failedFuture(
                    failure.replacement().isPresent() ? failure.replacement().get() : error);
              }
              return CompletableFuture.runAsync(() -> {}, timing.after(failure.pause().get()))
                  .thenCompose(done -> onPool(failure.permit(conflicts)))
                  .thenCompose(next -> attemptAsync(options, fn, startNanos, attempt + 1, next));
            });
  }

  private static <T> CompletionStage<T> committed(Transaction tx, T value) {
    return tx.isOpen()
        ? tx.commitAsync().thenApply(result -> value)
        : CompletableFuture.completedFuture(value);
  }

  /**
   * What to do after an attempt that failed.
   *
   * @param pause before another attempt; empty if there should be none
   * @param replacement what the caller gets instead of the error; empty if that is the
   *     application's
   * @param contendedRow what there was a conflict over
   * @param timeLeft for further attempts, before the pause
   */
  private record Failure(
      Optional<Duration> pause,
      Optional<IsoldeException> replacement,
      Optional<String> contendedRow,
      Duration timeLeft) {

    /** After the pause: when those who had a conflict over the same row have tried again. */
    CompletableFuture<ConflictQueue.Permit> permit(ConflictQueue conflicts) {
      return contendedRow
          .map(row -> conflicts.take(row, timeLeft.minus(pause.orElseThrow())))
          .orElse(CompletableFuture.completedFuture(ConflictQueue.Permit.NONE));
    }
  }

  /**
   * Ends the attempt and decides on another.
   *
   * @param tx null if it could not be begun
   */
  private Failure failure(
      Transaction tx, Throwable error, Backoff backoff, long startNanos, int attempt) {
    abandon(tx);
    boolean mayHaveCommitted = tx != null && tx.mayHaveCommitted();
    Optional<IsoldeException> ofTransaction = errorOf(tx, error);
    return new Failure(
        ofTransaction
            .filter(found -> found.isSafeToRunAgain() && !mayHaveCommitted)
            .flatMap(
                found -> backoff.pauseAfter(attempt, timing.since(startNanos), timing.jitter())),
        ofTransaction
            .filter(found -> error instanceof IsoldeException || error instanceof DriverException)
            .map(found -> found.afterAttempts(attempt)),
        ofTransaction.flatMap(IsoldeException::contendedRow),
        backoff.timeLimit().minus(timing.since(startNanos)));
  }

  /** Rolls back what is still open, without waiting and whatever comes of it. */
  private static void abandon(Transaction tx) {
    if (tx != null) {
      CompletionStage<Void> unused = tx.rollbackAsync();
    }
  }

  /**
   * The error of this very transaction among the causes of what was thrown. Another transaction's
   * error is none of ours: who ran that one has retried it.
   *
   * @param tx null if it could not be begun
   */
  private static Optional<IsoldeException> errorOf(Transaction tx, Throwable thrown) {
    if (tx == null) {
      return thrown instanceof IsoldeException found ? Optional.of(found) : Optional.empty();
    }
    return DriverErrors.ofTransaction(tx.id(), thrown);
  }

  /**
   * Waits; empty if there should be no other attempt, or the thread was interrupted and stays so.
   */
  private Optional<ConflictQueue.Permit> nextPermit(Failure failure) {
    if (failure.pause().isEmpty()) {
      return Optional.empty();
    }
    CompletableFuture<ConflictQueue.Permit> permit =
        CompletableFuture.completedFuture(ConflictQueue.Permit.NONE);
    try {
      timing.sleep(failure.pause().get());
      permit = failure.permit(conflicts);
      return Optional.of(permit.get());
    } catch (InterruptedException e) {
      var unused = permit.thenAccept(ConflictQueue.Permit::close); // It may come yet.
      Thread.currentThread().interrupt();
      return Optional.empty();
    } catch (ExecutionException e) {
      throw new AssertionError("Turns don't fail.", e);
    }
  }

  /** Who hands a turn on does not go on with what comes then. */
  private static CompletableFuture<ConflictQueue.Permit> onPool(
      CompletableFuture<ConflictQueue.Permit> permit) {
    return permit.isDone() ? permit : permit.thenApplyAsync(Function.identity());
  }
}
