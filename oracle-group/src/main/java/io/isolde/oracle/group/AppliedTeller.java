// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import io.isolde.oracle.group.OracleRequestException.Reason;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;

/** Tells the oracle what is applied, for as long as it takes. Thread-safe. */
final class AppliedTeller {
  private static final long TELL_AGAIN_MILLIS = 100;

  private final OracleClient client;
  private final ToldApplied told;
  private final ScheduledExecutorService timer;
  private final LongConsumer onStable;
  private final Runnable renew;

  /**
   * @param told where it is kept until the log knows it
   * @param onStable hears of snapshots
   * @param renew tells all again, and asks what the log knows
   */
  AppliedTeller(
      OracleClient client,
      ToldApplied told,
      ScheduledExecutorService timer,
      LongConsumer onStable,
      Runnable renew) {
    this.client = client;
    this.told = told;
    this.timer = timer;
    this.onStable = onStable;
    this.renew = renew;
  }

  /** Completes when the commit is visible to all who begin. */
  CompletableFuture<Void> tell(long commitTimestamp) {
    CompletableFuture<Void> visible = new CompletableFuture<>();
    tell(commitTimestamp, visible);
    return visible;
  }

  /**
   * As {@link #tell}, of a commit that the leader has heard of in another way.
   *
   * @param stable what was stable at the leader then
   */
  CompletableFuture<Void> told(long commitTimestamp, Stable stable) {
    boolean isVisible = stable.timestamp() >= commitTimestamp;
    return isVisible && told.add(commitTimestamp, renew)
        ? client
            .known(stable)
            .thenAccept(onStable::accept)
            .exceptionallyCompose(error -> tell(commitTimestamp))
        : tell(commitTimestamp);
  }

  private void tell(long commitTimestamp, CompletableFuture<Void> visible) {
    boolean isKept = told.add(commitTimestamp, renew);
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
                tellLater(commitTimestamp, visible);
              }
            });
  }

  private void tellLater(long commitTimestamp, CompletableFuture<Void> visible) {
    try {
      var unused =
          timer.schedule(
              () -> tell(commitTimestamp, visible), TELL_AGAIN_MILLIS, TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException e) {
      visible.completeExceptionally(e);
    }
  }

  private static boolean isClosed(Throwable error) {
    Throwable cause = error instanceof CompletionException ? error.getCause() : error;
    return cause instanceof OracleRequestException e && e.reason() == Reason.CLOSED;
  }
}
