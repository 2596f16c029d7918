// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.notifications;

import java.util.Arrays;
import java.util.List;

/** What one watcher heard, in the order in which it came. */
final class Inbox {
  /** The ids of a watcher that hears more are no longer kept, and count as lost. */
  static final int MAX_IDS = 1 << 16;

  /** There is no interval before the first notification. */
  static final long NONE = -1;

  /**
   * All of it.
   *
   * @param start commits after it belong to the watch; -1 if it has not begun
   * @param announcedLosses how often it heard that there may be changes nobody knows
   */
  record Heard(long start, List<Long> ids, int announcedLosses) {}

  private long start = -1;
  private long[] ids = new long[16];
  private int count;
  private int announcedLosses;
  private long lastNanos = NONE;

  /** The watch has begun; the first call counts. */
  synchronized void startAfter(long position) {
    if (start < 0) {
      start = position;
    }
  }

  synchronized boolean hasStarted() {
    return start >= 0;
  }

  /** A commit was notified; returns how long after the one before, or {@link #NONE}. */
  synchronized long add(long id, long nowNanos) {
    if (count == ids.length && count < MAX_IDS) {
      ids = Arrays.copyOf(ids, 2 * count);
    }
    if (count < ids.length) {
      ids[count++] = id;
    }
    long interval = lastNanos == NONE ? NONE : nowNanos - lastNanos;
    lastNanos = nowNanos;
    return interval;
  }

  synchronized void lossAnnounced() {
    announcedLosses++;
  }

  /** Whether the last one that it heard of is this one, or a later one. */
  synchronized boolean hasReached(long id) {
    return start >= id || (count > 0 && ids[count - 1] >= id);
  }

  synchronized Heard heard() {
    List<Long> all = Arrays.stream(ids, 0, count).boxed().toList();
    return new Heard(start, all, announcedLosses);
  }
}
