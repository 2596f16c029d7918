// SPDX-License-Identifier: Apache-2.0
package io.isolde.client;

import java.time.Duration;
import java.util.Optional;
import java.util.UUID;

/**
 * Finds out how a COMMIT ended whose answer was an error or got lost.
 *
 * <p>The oracle remembers how transactions were decided, so a repeated COMMIT gets the same answer
 * again. The node that holds the transaction gives it, and, once it is decided, every other node.
 * The client asks another node in turn with the holder, which may be dead or frozen. It must never
 * report NOT_COMMITTED for a transaction that did commit, as the work would then be done twice.
 * Hence the one thing remembered here: once a COMMIT may have arrived, a node that does not know
 * the transaction proves nothing. Its holder may yet get it decided, or have committed and
 * forgotten.
 */
final class CommitResolution {
  private final UUID transaction;
  private final Backoff backoff;
  private int failedAttempts;
  private boolean mayHaveArrived;
  private boolean isToBeResolved;

  /** The report that the commit is decided, if there was one; nothing later takes it back. */
  private IsoldeException committed;

  /**
   * @param mayHaveArrived whether an earlier COMMIT was sent whose outcome is still unknown
   */
  CommitResolution(UUID transaction, Backoff backoff, boolean mayHaveArrived) {
    this.transaction = transaction;
    this.backoff = backoff;
    this.mayHaveArrived = mayHaveArrived;
  }

  /** What to do next: repeat COMMIT after the pause, or report the error if there is no pause. */
  record Step(Optional<Duration> pause, Throwable error) {}

  /**
   * Whether the next COMMIT is to have the transaction aborted if it is not decided. Not at once,
   * as its holder may be about to get it decided: after half of the time. But never not at all, as
   * otherwise nobody might ever know: if time is over before, then once after it.
   */
  boolean isToBeResolved() {
    return isToBeResolved;
  }

  /** Whether the next COMMIT goes to another node than the one that holds the transaction. */
  boolean isElsewhere() {
    return failedAttempts % 2 == 1;
  }

  /**
   * @param error what the latest COMMIT failed with
   * @param elapsed since the first COMMIT was sent
   * @param jitter from 0 to 1, random
   */
  Step afterFailure(Throwable error, Duration elapsed, double jitter) {
    failedAttempts++;
    Step step = next(error, elapsed, jitter);
    return committed == null ? step : new Step(step.pause(), committed);
  }

  private Step next(Throwable error, Duration elapsed, double jitter) {
    Optional<IsoldeException> reported =
        DriverErrors.reported(error).map(found -> found.withTransaction(transaction));
    if (reported.isPresent()) {
      return afterReport(reported.get(), elapsed, jitter);
    }
    boolean provesAbsence = DriverErrors.isNeverSent(error) || DriverErrors.isWrongInItself(error);
    if (provesAbsence && !mayHaveArrived) {
      return report(
          DriverErrors.isNeverSent(error) ? DriverErrors.requestFailed(error, transaction) : error);
    }
    // A node that does not even know the statement, as it may be in an upgrade, proves nothing.
    mayHaveArrived = true;
    return repeatOr(unknown(error), elapsed, jitter);
  }

  private Step afterReport(IsoldeException report, Duration elapsed, double jitter) {
    if (isForgotten(report.code())) {
      // Only COMMIT commits: where none has arrived, whatever became of it is not that.
      return mayHaveArrived
          ? repeatOr(unknown(report), elapsed, jitter)
          : report(report.asNotCommitted());
    }
    switch (report.outcome()) {
      case COMMITTED -> {
        mayHaveArrived = true;
        committed = report;
        return repeatOr(report, elapsed, jitter);
      }
      case UNKNOWN -> {
        mayHaveArrived = true;
        return repeatOr(unknown(report), elapsed, jitter);
      }
      case NOT_COMMITTED -> {
        // That this COMMIT was refused says nothing about one before, unless it says how that
        // ended.
        return mayHaveArrived && !isDecision(report.code())
            ? repeatOr(unknown(report), elapsed, jitter)
            : report(report);
      }
    }
    throw new AssertionError(report.outcome());
  }

  private static boolean isForgotten(ErrorCode code) {
    return code == ErrorCode.TRANSACTION_NOT_FOUND || code == ErrorCode.NO_TRANSACTION;
  }

  private static boolean isDecision(ErrorCode code) {
    return code == ErrorCode.CONFLICT
        || code == ErrorCode.CONFLICT_FORGOTTEN
        || code == ErrorCode.TRANSACTION_ROLLED_BACK;
  }

  private Step repeatOr(Throwable error, Duration elapsed, double jitter) {
    Optional<Duration> pause = backoff.pauseAfter(failedAttempts, elapsed, jitter);
    if (pause.isEmpty() && !isToBeResolved && committed == null) {
      pause = Optional.of(Duration.ZERO);
    }
    if (pause.isPresent()) {
      Duration half = backoff.timeLimit().dividedBy(2);
      isToBeResolved = elapsed.plus(pause.get()).compareTo(half) >= 0;
    }
    return new Step(pause, error);
  }

  private static Step report(Throwable error) {
    return new Step(Optional.empty(), error);
  }

  private IsoldeException unknown(Throwable cause) {
    return IsoldeException.ofClient(
        ErrorCode.OUTCOME_UNKNOWN,
        false,
        Outcome.UNKNOWN,
        transaction,
        "COMMIT was sent, but no node could tell how it ended (attempts: %d, last answer: %s)."
            .formatted(failedAttempts, cause.getMessage()),
        cause);
  }
}
