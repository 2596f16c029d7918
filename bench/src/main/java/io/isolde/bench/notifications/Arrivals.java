// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.notifications;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;

/**
 * When notifications of the change under way arrive; called by all event loops. Those of earlier
 * changes may come late, and count for nothing but the intervals.
 */
final class Arrivals {
  private static final long MAX_MICROS = TimeUnit.MINUTES.toMicros(5);
  private static final int SIGNIFICANT_DIGITS = 3;

  /** From the sending of a change to its arrival at a watcher. */
  private final Histogram latencyMicros = new ConcurrentHistogram(MAX_MICROS, SIGNIFICANT_DIGITS);

  /** Between two arrivals at a watcher. */
  private final Histogram intervalMicros = new ConcurrentHistogram(MAX_MICROS, SIGNIFICANT_DIGITS);

  /**
   * What has arrived since a change was sent. Its id is known only with the writer's answer, so
   * each id has its own.
   */
  private static final class Sent {
    private final int watchers;
    private final long sentNanos = System.nanoTime();
    private final Map<Long, Arrived> byId = new ConcurrentHashMap<>(4);

    private Sent(int watchers) {
      this.watchers = watchers;
    }

    private Arrived of(long id) {
      return byId.computeIfAbsent(id, key -> new Arrived(watchers));
    }
  }

  /** Notifications of one id. */
  private static final class Arrived {
    private final CountDownLatch missing;
    private final AtomicInteger count = new AtomicInteger();

    /** In the order of arrival; what is doubled beyond the watchers is left to the check. */
    private final AtomicLongArray nanos;

    private Arrived(int watchers) {
      missing = new CountDownLatch(watchers);
      nanos = new AtomicLongArray(watchers);
    }

    private void add(long afterNanos) {
      int place = count.getAndIncrement();
      if (place < nanos.length()) {
        nanos.set(place, afterNanos);
      }
      missing.countDown();
    }
  }

  private volatile Sent sent = new Sent(0);

  /** A change is sent now, to so many watchers. */
  void begin(int watchers) {
    sent = new Sent(watchers);
  }

  /** A watcher has been notified. */
  void arrived(Inbox inbox, long commit) {
    long nowNanos = System.nanoTime();
    Sent now = sent;
    now.of(commit).add(nowNanos - now.sentNanos);
    long intervalNanos = inbox.add(commit, nowNanos);
    if (intervalNanos != Inbox.NONE) {
      intervalMicros.recordValue(micros(intervalNanos));
    }
  }

  private static long micros(long nanos) {
    return Math.min(TimeUnit.NANOSECONDS.toMicros(nanos), MAX_MICROS);
  }

  /**
   * Waits until all watchers were notified of the change under way; false if it takes too long.
   * Then their latencies are among {@link #latencies}.
   *
   * @param commit its id
   */
  boolean await(long commit, long seconds) throws InterruptedException {
    Arrived arrived = sent.of(commit);
    boolean areAllThere = arrived.missing.await(seconds, TimeUnit.SECONDS);
    int count = Math.min(arrived.count.get(), arrived.nanos.length());
    for (int i = 0; i < count; i++) {
      latencyMicros.recordValue(micros(arrived.nanos.get(i)));
    }
    return areAllThere;
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
