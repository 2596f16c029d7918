// SPDX-License-Identifier: Apache-2.0
package io.isolde.client;

import java.time.Duration;
import java.util.Optional;

/**
 * When to try again: exponential back-off with full jitter, as clients that conflicted once should
 * not meet again at the same moment.
 *
 * @param base upper bound of the first pause
 * @param cap upper bound of every pause
 * @param maxAttempts attempts in all, the first one included
 * @param timeLimit no attempt starts later than this after the first one
 */
record Backoff(Duration base, Duration cap, int maxAttempts, Duration timeLimit) {
  /** The limits for running a function again. */
  static Backoff ofAttempts(TransactionOptions options) {
    return new Backoff(
        options.backoffBase(), options.backoffCap(), options.maxAttempts(), options.timeLimit());
  }

  /** The limits for repeating a COMMIT, where only time counts. */
  static Backoff ofCommit(TransactionOptions options) {
    return new Backoff(
        options.backoffBase(), options.backoffCap(), Integer.MAX_VALUE, options.timeLimit());
  }

  /**
   * The pause before the next attempt; empty if there should be none.
   *
   * @param failedAttempts at least 1
   * @param elapsed since the first attempt began
   * @param jitter from 0 to 1, random
   */
  Optional<Duration> pauseAfter(int failedAttempts, Duration elapsed, double jitter) {
    assert failedAttempts >= 1 && jitter >= 0 && jitter <= 1;
    double bound =
        Math.min((double) cap.toNanos(), base.toNanos() * Math.pow(2, failedAttempts - 1));
    Duration pause = Duration.ofNanos((long) (bound * jitter));
    return failedAttempts < maxAttempts && elapsed.plus(pause).compareTo(timeLimit) < 0
        ? Optional.of(pause)
        : Optional.empty();
  }
}
