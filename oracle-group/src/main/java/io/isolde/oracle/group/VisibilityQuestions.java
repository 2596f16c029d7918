// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.LongConsumer;
import java.util.function.LongFunction;

/**
 * Finds out when commits are visible that somebody waits for on a member that does not lead. The
 * log says so as well, but only when the leader has more to say, or some time later. One question
 * is under way at a time. If it fails, the log has to do until the next commit. Thread-safe.
 */
final class VisibilityQuestions {
  private final LongFunction<CompletableFuture<Long>> leader;
  private final LongConsumer visible;
  private final Executor executor;

  /** Guarded by this, as is the next. */
  private long wanted;

  private boolean isAsking;

  /**
   * @param leader answers when all commits up to a timestamp are visible
   * @param visible hears of it
   * @param executor asks, and hears of answers
   */
  VisibilityQuestions(
      LongFunction<CompletableFuture<Long>> leader, LongConsumer visible, Executor executor) {
    this.leader = leader;
    this.visible = visible;
    this.executor = executor;
  }

  /** Somebody waits for a commit that this member has applied, and all before it. */
  void want(long commitTimestamp) {
    synchronized (this) {
      wanted = Math.max(wanted, commitTimestamp);
      if (isAsking) {
        return;
      }
      isAsking = true;
    }
    try {
      executor.execute(this::ask);
    } catch (RejectedExecutionException e) {
      stop(); // It is being closed.
    }
  }

  private void ask() {
    long asked = wanted();
    CompletableFuture<Long> answer;
    try {
      answer = leader.apply(asked);
    } catch (RuntimeException | Error e) {
      answer = CompletableFuture.failedFuture(e);
    }
    var unused = answer.whenCompleteAsync((stable, failure) -> answered(asked, failure), executor);
  }

  /** The answer may be above what was asked, which this member has perhaps not applied yet. */
  private void answered(long asked, Throwable failure) {
    try {
      if (failure == null) {
        visible.accept(asked);
      }
    } finally {
      if (hasMore(asked)) {
        ask();
      }
    }
  }

  /** Whether to go on. If not, whoever wants something next asks. */
  private synchronized boolean hasMore(long asked) {
    isAsking = wanted > asked;
    return isAsking;
  }

  private synchronized long wanted() {
    return wanted;
  }

  private synchronized void stop() {
    isAsking = false;
  }
}
