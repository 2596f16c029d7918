// SPDX-License-Identifier: Apache-2.0
package io.isolde.torture;

import com.datastax.oss.driver.api.core.DriverException;
import io.isolde.client.Isolde;
import io.isolde.client.IsoldeException;
import io.isolde.client.Transaction;
import io.isolde.client.TransactionOptions;
import io.isolde.history.ObservedTransaction;
import io.isolde.history.ObservedTransaction.Outcome;
import io.isolde.history.Operation;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Runs transactions once each, and writes down what their clients saw. Thread-safe. */
final class Recorder {
  /** What a transaction does; adds to the list what was answered. */
  interface Body {
    void run(Transaction tx, List<Operation> done);
  }

  private final List<ObservedTransaction> history = new ArrayList<>();
  private final Map<Outcome, Integer> counts = new EnumMap<>(Outcome.class);
  private final Map<String, Integer> errors = new TreeMap<>();
  private final ThreadLocal<Integer> errorsOfThread = ThreadLocal.withInitial(() -> 0);
  private long lastCommitNanos = System.nanoTime();
  private long longestGapNanos;

  /** Returns whether the transaction is known to be committed. */
  boolean run(Isolde isolde, TransactionOptions options, Body body) {
    long begin = System.nanoTime();
    Transaction tx;
    try {
      tx = isolde.begin(options);
    } catch (IsoldeException | DriverException e) {
      count(e);
      return false;
    }
    List<Operation> done = new ArrayList<>();
    Outcome outcome = outcome(tx, body, done);
    record(done, outcome, begin, System.nanoTime());
    return outcome == Outcome.COMMITTED;
  }

  /**
   * A statement that is no transaction.
   *
   * @param error null if it was answered
   */
  void single(Outcome outcome, long end, RuntimeException error) {
    if (error != null) {
      count(error);
    }
    count(outcome, end);
  }

  /** Writes down what one request has done, which {@link #single} has counted. */
  synchronized void operations(List<Operation> done, Outcome outcome, long begin, long end) {
    history.add(new ObservedTransaction(history.size(), done, outcome, begin, end));
  }

  private Outcome outcome(Transaction tx, Body body, List<Operation> done) {
    try {
      body.run(tx, done);
    } catch (IsoldeException | DriverException e) {
      count(e);
      var unused = tx.rollbackAsync();
      return Outcome.ABORTED;
    }
    try {
      var unused = tx.commit();
      return Outcome.COMMITTED;
    } catch (IsoldeException e) {
      count(e);
      // One that is committed and not applied yet has not ended: others need not see it.
      return e.outcome() == io.isolde.client.Outcome.NOT_COMMITTED
          ? Outcome.ABORTED
          : Outcome.UNKNOWN;
    } catch (DriverException e) {
      count(e);
      return Outcome.UNKNOWN;
    }
  }

  private synchronized void record(List<Operation> done, Outcome outcome, long begin, long end) {
    history.add(new ObservedTransaction(history.size(), done, outcome, begin, end));
    count(outcome, end);
  }

  private synchronized void count(Outcome outcome, long end) {
    counts.merge(outcome, 1, Integer::sum);
    if (outcome == Outcome.COMMITTED) {
      longestGapNanos = Math.max(longestGapNanos, end - lastCommitNanos);
      lastCommitNanos = Math.max(lastCommitNanos, end);
    }
  }

  private void count(RuntimeException error) {
    String name =
        error instanceof IsoldeException e ? e.code().name() : error.getClass().getSimpleName();
    errorsOfThread.set(errorsOfThread.get() + 1);
    synchronized (this) {
      errors.merge(name, 1, Integer::sum);
    }
  }

  /** How many errors the calling thread has met. */
  int errorsOfThisThread() {
    return errorsOfThread.get();
  }

  synchronized List<ObservedTransaction> history() {
    return List.copyOf(history);
  }

  synchronized int count(Outcome outcome) {
    return counts.getOrDefault(outcome, 0);
  }

  /** How often which error came. */
  synchronized Map<String, Integer> errors() {
    return new TreeMap<>(errors);
  }

  /** The longest time in which nobody committed. */
  synchronized long longestGapMillis() {
    return longestGapNanos / 1_000_000;
  }
}
