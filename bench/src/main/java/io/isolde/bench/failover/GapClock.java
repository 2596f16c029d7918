// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.failover;

import io.isolde.bench.kit.Workload;
import java.util.OptionalDouble;

/**
 * The longest time between two successes that follow each other, and the time from a mark to the
 * next success. Thread-safe.
 */
public final class GapClock {
  private long lastNanos = System.nanoTime();
  private long longestNanos;

  /** When something happened after which clients are to succeed, if it has. */
  private long markNanos;

  private boolean isMarked;

  /** The first success after the mark, if there was one. */
  private long firstNanos;

  private boolean hasSuccessAfterMark;

  /** Returns the same requests; each that succeeds is counted here. */
  public Workload watched(Workload workload) {
    return () ->
        workload
            .send()
            .whenComplete(
                (done, error) -> {
                  if (error == null) {
                    success();
                  }
                });
  }

  void success() {
    success(System.nanoTime());
  }

  synchronized void success(long nowNanos) {
    if (nowNanos - lastNanos > longestNanos) {
      longestNanos = nowNanos - lastNanos;
    }
    lastNanos = nowNanos;
    if (isMarked && !hasSuccessAfterMark && nowNanos - markNanos >= 0) {
      firstNanos = nowNanos;
      hasSuccessAfterMark = true;
    }
  }

  /** Something has happened just now after which clients are to succeed. */
  synchronized void mark(long nowNanos) {
    markNanos = nowNanos;
    isMarked = true;
    hasSuccessAfterMark = false;
  }

  /** Forgets the gaps and the mark; the gap that is going on counts from now. */
  public synchronized void restart(long nowNanos) {
    lastNanos = nowNanos;
    longestNanos = 0;
    isMarked = false;
    hasSuccessAfterMark = false;
  }

  /** The longest gap since the restart, in milliseconds; one that is going on counts, too. */
  public synchronized double longestMillis(long nowNanos) {
    return Math.max(longestNanos, nowNanos - lastNanos) / 1e6;
  }

  /**
   * From the mark to the first success after it, in milliseconds, or until now if there is none;
   * empty if nothing was marked since the restart.
   */
  synchronized OptionalDouble afterMarkMillis(long nowNanos) {
    return isMarked
        ? OptionalDouble.of(((hasSuccessAfterMark ? firstNanos : nowNanos) - markNanos) / 1e6)
        : OptionalDouble.empty();
  }

  /** Whether there was a success since then. */
  synchronized boolean hasSuccessSince(long nanos) {
    return lastNanos - nanos > 0;
  }
}
