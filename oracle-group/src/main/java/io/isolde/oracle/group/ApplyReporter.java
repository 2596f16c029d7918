// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import io.isolde.raft.GroupFailure;
import io.isolde.raft.GroupFailure.Reason;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;

/** Tells the oracle what is applied, for as long as it takes. Thread-safe. */
final class ApplyReporter {
  private static final long REPORT_AGAIN_MILLIS = 100;

  private final OracleClient client;
  private final ReportedApplies reported;
  private final ScheduledExecutorService timer;
  private final LongConsumer onStable;
  private final Runnable renew;

  /**
   * @param reported where it is kept until the log knows it
   * @param onStable hears of snapshots
   * @param renew tells all again, and asks what the log knows
   */
  ApplyReporter(
      OracleClient client,
      ReportedApplies reported,
      ScheduledExecutorService timer,
      LongConsumer onStable,
      Runnable renew) {
    this.client = client;
    this.reported = reported;
    this.timer = timer;
    this.onStable = onStable;
    this.renew = renew;
  }

  /** Completes when the commit is visible to all who begin. */
  CompletableFuture<Void> report(long commitTimestamp) {
    CompletableFuture<Void> visible = new CompletableFuture<>();
    report(commitTimestamp, visible);
    return visible;
  }

  /**
   * As {@link #report}, of a commit that the leader has heard of in another way.
   *
   * @param stable what was stable at the leader then
   */
  CompletableFuture<Void> reported(long commitTimestamp, Stable stable) {
    boolean isVisible = stable.timestamp() >= commitTimestamp;
    return isVisible && reported.add(commitTimestamp, renew)
        ? client
            .known(stable)
            .thenAccept(onStable::accept)
            .exceptionallyCompose(error -> report(commitTimestamp))
        : report(commitTimestamp);
  }

  private void report(long commitTimestamp, CompletableFuture<Void> visible) {
    boolean isKept = reported.add(commitTimestamp, renew);
    CompletableFuture<Long> answer =
        isKept ? client.applied(commitTimestamp) : client.logApplied(commitTimestamp);
    var unused =
        answer.whenComplete(
            (stable, error) -> {
              if (error == null) {
                onStable.accept(stable);
                visible.complete(null);
              } else if (isClosed(error)) {
                visible.completeExceptionally(error);
              } else {
                reportLater(commitTimestamp, visible);
              }
            });
  }

  private void reportLater(long commitTimestamp, CompletableFuture<Void> visible) {
    try {
      var unused =
          timer.schedule(
              () -> report(commitTimestamp, visible), REPORT_AGAIN_MILLIS, TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException e) {
      visible.completeExceptionally(e);
    }
  }

  private static boolean isClosed(Throwable error) {
    Throwable cause = error instanceof CompletionException ? error.getCause() : error;
    return cause instanceof GroupFailure e && e.reason() == Reason.CLOSED;
  }
}
