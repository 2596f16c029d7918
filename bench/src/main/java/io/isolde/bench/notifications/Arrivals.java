// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.notifications;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;

/** When notifications of the change under way arrive; called by all event loops. */
final class Arrivals {
  private static final long MAX_MICROS = TimeUnit.MINUTES.toMicros(5);
  private static final int SIGNIFICANT_DIGITS = 3;

  /** From the sending of a change to its arrival at a watcher. */
  private final Histogram latencyMicros = new ConcurrentHistogram(MAX_MICROS, SIGNIFICANT_DIGITS);

  /** Between two arrivals at a watcher. */
  private final Histogram intervalMicros = new ConcurrentHistogram(MAX_MICROS, SIGNIFICANT_DIGITS);

  private volatile long sentNanos;
  private volatile CountDownLatch missing = new CountDownLatch(0);

  /** A change is sent now, to so many watchers. */
  void begin(int watchers) {
    missing = new CountDownLatch(watchers);
    sentNanos = System.nanoTime();
  }

  /** A watcher has been notified. */
  void arrived(Inbox inbox, long commit) {
    long nowNanos = System.nanoTime();
    latencyMicros.recordValue(micros(nowNanos - sentNanos));
    long intervalNanos = inbox.add(commit, nowNanos);
    if (intervalNanos != Inbox.NONE) {
      intervalMicros.recordValue(micros(intervalNanos));
    }
    missing.countDown();
  }

  private static long micros(long nanos) {
    return Math.min(TimeUnit.NANOSECONDS.toMicros(nanos), MAX_MICROS);
  }

  /** Waits until all watchers were notified; false if it takes too long. */
  boolean await(long seconds) throws InterruptedException {
    return missing.await(seconds, TimeUnit.SECONDS);
  }

  /** Of all changes since the last reset; nothing arrives meanwhile. */
  Histogram latencies() {
    return latencyMicros.copy();
  }

  /** Of all changes since the last reset; nothing arrives meanwhile. */
  Histogram intervals() {
    return intervalMicros.copy();
  }

  void reset() {
    latencyMicros.reset();
    intervalMicros.reset();
  }
}
