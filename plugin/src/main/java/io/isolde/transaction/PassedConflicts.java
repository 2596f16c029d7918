// SPDX-License-Identifier: Apache-2.0
package io.isolde.transaction;

import io.isolde.answer.Answers;
import io.isolde.oracle.Conflict;
import io.isolde.replicated.Oracle;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;

/** Waits until what was in the way of a commit is visible, before its client gets the error. */
final class PassedConflicts {
  /** What can't be applied for a second is in doubt, so that others pass it. */
  private static final long MAX_PASSING_MILLIS = 1_500;

  /** So many clients wait for what was in their way; further ones get their error at once. */
  private static final int MAX_PASSING = 32;

  private final Oracle oracle;
  private final long commitTimeoutMillis;
  private final Semaphore passing = new Semaphore(MAX_PASSING);

  PassedConflicts(Oracle oracle, long commitTimeoutMillis) {
    this.oracle = oracle;
    this.commitTimeoutMillis = commitTimeoutMillis;
  }

  /**
   * Whoever tries again is to see what was in the way: until that is stable, each attempt would
   * begin below it and could only have the same conflict. Completes then, or when that takes long.
   */
  CompletableFuture<Boolean> passed(Conflict conflict) {
    boolean isKnown =
        conflict.kind() == Conflict.Kind.READ_WRITE || conflict.kind() == Conflict.Kind.WRITE_WRITE;
    if (!isKnown || !passing.tryAcquire()) {
      return CompletableFuture.completedFuture(false);
    }
    CompletableFuture<Void> passed = oracle.whenStable(conflict.committedAt());
    return Answers.inTime(passed, Math.min(commitTimeoutMillis, MAX_PASSING_MILLIS))
        .whenComplete(
            (isPassed, failure) -> {
              passed.cancel(false);
              passing.release();
            });
  }
}
