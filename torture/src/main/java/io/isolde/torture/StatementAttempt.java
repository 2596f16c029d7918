// SPDX-License-Identifier: Apache-2.0
package io.isolde.torture;

import com.datastax.oss.driver.api.core.DriverException;
import com.datastax.oss.driver.api.core.NoNodeAvailableException;
import com.datastax.oss.driver.api.core.servererrors.InvalidQueryException;
import com.datastax.oss.driver.api.core.servererrors.OverloadedException;
import com.datastax.oss.driver.api.core.servererrors.UnavailableException;
import io.isolde.client.IsoldeException;
import io.isolde.history.ObservedTransaction.Outcome;
import java.util.function.Supplier;

/**
 * A statement that is no transaction, and what its client was told.
 *
 * @param outcome aborted if the answer says that nothing was done
 * @param answer null unless it was committed, that is, answered
 */
record StatementAttempt<T>(Outcome outcome, T answer, long beginNanos, long endNanos) {
  static <T> StatementAttempt<T> of(Supplier<T> statement, Recorder recorder) {
    long begin = System.nanoTime();
    Outcome outcome;
    DriverException error;
    try {
      T answer = statement.get();
      long end = System.nanoTime();
      recorder.single(Outcome.COMMITTED, end, null);
      return new StatementAttempt<>(Outcome.COMMITTED, answer, begin, end);
    } catch (InvalidQueryException e) {
      outcome = ofIsolde(e);
      error = e;
    } catch (UnavailableException | OverloadedException | NoNodeAvailableException e) {
      outcome = Outcome.ABORTED;
      error = e;
    } catch (DriverException e) {
      outcome = Outcome.UNKNOWN;
      error = e;
    }
    long end = System.nanoTime();
    recorder.single(outcome, end, error);
    return new StatementAttempt<>(outcome, null, begin, end);
  }

  /** What is committed without an answer takes effect, at an unknown time. */
  private static Outcome ofIsolde(InvalidQueryException error) {
    return IsoldeException.find(error)
        .filter(known -> known.outcome() != io.isolde.client.Outcome.NOT_COMMITTED)
        .map(known -> Outcome.UNKNOWN)
        .orElse(Outcome.ABORTED);
  }

  boolean isAnswered() {
    return outcome == Outcome.COMMITTED;
  }
}
