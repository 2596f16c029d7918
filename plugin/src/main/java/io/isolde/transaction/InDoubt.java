// SPDX-License-Identifier: Apache-2.0
package io.isolde.transaction;

import io.isolde.conflict.Granule;
import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import io.isolde.oracle.InDoubtCommits;
import io.isolde.replicated.Oracle;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongFunction;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.apache.cassandra.utils.concurrent.UncheckedInterruptedException;

/**
 * Waits for commits that the oracle has in doubt, where somebody needs what they write: they are
 * below the newest snapshot and not applied. Thread-safe.
 *
 * <p>A timestamp that is asked about here is at or below a snapshot that this node has been given.
 */
final class InDoubt {
  private static final long LOOK_AGAIN_MILLIS = 50;

  /** A quarter of the threads that serve clients: further ones are refused at once. */
  static final int MAX_WAITING = 32;

  private static final CompletableFuture<InDoubtCommits> NOTHING =
      CompletableFuture.completedFuture(InDoubtCommits.NONE);

  /** Runs something after a pause. */
  interface Later {
    void run(long pauseMillis, Runnable task);
  }

  private final Oracle oracle;
  private final Later later;
  private final LongSupplier longestWaitMillis;
  private final TransactionListener listener;
  private final Semaphore waiting = new Semaphore(MAX_WAITING);

  /**
   * @param longestWaitMillis of a thread that serves a client
   */
  InDoubt(
      Oracle oracle, Later later, LongSupplier longestWaitMillis, TransactionListener listener) {
    this.oracle = oracle;
    this.later = later;
    this.longestWaitMillis = longestWaitMillis;
    this.listener = listener;
  }

  /** Whether anything is in doubt at all. Costs nothing. */
  boolean isPossible() {
    return !oracle.inDoubt().isEmpty();
  }

  /**
   * Returns when all commits at or below a timestamp that write one of these ids are applied; at
   * once, as a rule.
   *
   * @param naming says what an id stands for
   * @param transactionId null if it is a single statement that waits
   * @return whether it had to wait
   * @throws IsoldeException UNAVAILABLE, if that takes too long or too many wait already
   */
  boolean await(long[] ids, long upTo, LongFunction<Granule> naming, UUID transactionId) {
    Optional<InDoubtCommits.Doubt> doubt = oracle.inDoubt().find(ids, upTo);
    if (doubt.isEmpty()) {
      return false;
    }
    listener.inDoubt();
    if (!waiting.tryAcquire()) {
      throw unavailable(doubt.get(), naming, transactionId);
    }
    try {
      long deadline =
          System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(longestWaitMillis.getAsLong());
      while (true) {
        lookAgain();
        doubt = oracle.inDoubt().find(ids, upTo);
        if (doubt.isEmpty()) {
          return true;
        }
        if (System.nanoTime() - deadline >= 0) {
          throw unavailable(doubt.get(), naming, transactionId);
        }
        Thread.sleep(LOOK_AGAIN_MILLIS);
      }
    } catch (InterruptedException e) {
      throw new UncheckedInterruptedException(e);
    } finally {
      waiting.release();
    }
  }

  /** How many wait now. */
  int waiting() {
    return MAX_WAITING - waiting.availablePermits();
  }

  /** Asks the oracle what is in doubt now. If it does not tell in time, nothing new is known. */
  void lookAgain() {
    try {
      var unused = oracle.latestInDoubt().get(longestWaitMillis.getAsLong(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException | TimeoutException e) {
      // What was known before is not wrong, only perhaps too much.
    } catch (InterruptedException e) {
      throw new UncheckedInterruptedException(e);
    }
  }

  /** What a statement or transaction is told that needs what is in doubt. */
  static IsoldeException unavailable(
      InDoubtCommits.Doubt doubt, LongFunction<Granule> naming, UUID transactionId) {
    Granule granule = naming.apply(doubt.id());
    return IsoldeException.of(
        ErrorCode.UNAVAILABLE,
        "A commit to "
            + granule.tableName()
            + " "
            + granule.keyName()
            + " is decided but not applied yet, as its replicas or its coordinator do not answer;"
            + " try again. Nothing was done.",
        "table",
        granule.tableName(),
        "key",
        granule.keyName(),
        "in_doubt",
        doubt.commitTimestamp(),
        "transaction",
        transactionId);
  }

  /**
   * Completes when all commits at or below a timestamp are applied that write one of these ids,
   * however long that takes. Who gives up waiting, cancels.
   */
  CompletableFuture<Void> whenApplied(long[] ids, long upTo) {
    return when(upTo, set -> set.find(ids, upTo).isEmpty());
  }

  /** The same for one commit. */
  CompletableFuture<Void> whenApplied(long commitTimestamp) {
    return when(commitTimestamp, set -> !set.contains(commitTimestamp));
  }

  private CompletableFuture<Void> when(long stable, Predicate<InDoubtCommits> isClear) {
    // In this order: the set is to be of the snapshot or later.
    if (oracle.stableSoFar() >= stable && isClear.test(oracle.inDoubt())) {
      return CompletableFuture.completedFuture(null);
    }
    return new Wait(stable, isClear).begin();
  }

  /** Looks again and again. */
  private final class Wait {
    private final long stable;
    private final Predicate<InDoubtCommits> isClear;
    private final CompletableFuture<Void> end = new CompletableFuture<>();

    /** What is waited for now. */
    private volatile CompletableFuture<Void> step;

    private Wait(long stable, Predicate<InDoubtCommits> isClear) {
      this.stable = stable;
      this.isClear = isClear;
    }

    private CompletableFuture<Void> begin() {
      look();
      var unused = end.whenComplete((done, cancelled) -> step.cancel(false));
      return end;
    }

    private void look() {
      if (end.isDone()) {
        return;
      }
      CompletableFuture<Void> next = oracle.whenStable(stable);
      step = next;
      var unused =
          next.thenCompose(reached -> isClear() ? NOTHING : oracle.latestInDoubt())
              .whenComplete((looked, error) -> decide(error == null && isClear()));
    }

    private boolean isClear() {
      return isClear.test(oracle.inDoubt());
    }

    private void decide(boolean isOver) {
      if (isOver) {
        end.complete(null);
      } else if (!end.isDone()) {
        later.run(2 * LOOK_AGAIN_MILLIS, this::look);
      }
    }
  }
}
