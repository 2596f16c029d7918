// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.failover;

import io.isolde.bench.kit.Workload;

/** The longest time between two successes that follow each other. Thread-safe. */
public final class GapClock {
  private long lastNanos = System.nanoTime();
  private long longestNanos;
  private long longestEndNanos = lastNanos;

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
      longestEndNanos = nowNanos;
    }
    lastNanos = nowNanos;
  }

  /** Forgets the gaps so far; the one that is going on counts from now. */
  public synchronized void restart(long nowNanos) {
    lastNanos = nowNanos;
    longestNanos = 0;
    longestEndNanos = nowNanos;
  }

  /** The longest gap since the restart, in milliseconds; one that is going on counts, too. */
  public synchronized double longestMillis(long nowNanos) {
    return Math.max(longestNanos, nowNanos - lastNanos) / 1e6;
  }

  /** When the longest gap since the restart ended, by {@link System#nanoTime}. */
  synchronized long longestEndNanos() {
    return longestEndNanos;
  }

  /** Whether there was a success since then. */
  synchronized boolean hasSuccessSince(long nanos) {
    return lastNanos - nanos > 0;
  }
}
