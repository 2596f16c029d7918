// SPDX-License-Identifier: Apache-2.0
package io.isolde.version;

import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The memory of all version stores of a node: who goes first when versions are no longer needed, or
 * when there is no more room. Writers add and leave at once; they never wait for room. At the bound
 * the oldest versions go and take their readers' horizon with them.
 */
final class VersionBudget {
  /**
   * Versions that a writer frees for each one that it adds: a backlog shrinks, a write stays short.
   */
  private static final int EVICTIONS_PER_ADDITION = 4;

  private final long maxBytes;
  private final VersionClock clock;
  private final AtomicLong bytes = new AtomicLong();
  private final AtomicLong count = new AtomicLong();
  private final AtomicLong evictedNeeded = new AtomicLong();
  private final ConcurrentLinkedQueue<Version> oldestFirst = new ConcurrentLinkedQueue<>();
  private final ReentrantLock evicting = new ReentrantLock();

  VersionBudget(long maxBytes, VersionClock clock) {
    this.maxBytes = maxBytes;
    this.clock = clock;
  }

  /** Versions take more than they did when they were added. */
  void grown(long moreBytes) {
    bytes.addAndGet(moreBytes);
  }

  void added(Version version, long addedBytes) {
    bytes.addAndGet(addedBytes);
    count.incrementAndGet();
    oldestFirst.add(version);
    // Somebody else is at it: they see this version too.
    if (evicting.tryLock()) {
      try {
        evict(EVICTIONS_PER_ADDITION);
      } finally {
        evicting.unlock();
      }
    }
  }

  /** Frees all that nobody needs; called from time to time, so that an idle table is freed too. */
  void sweep() {
    evicting.lock();
    try {
      evict(Long.MAX_VALUE);
    } finally {
      evicting.unlock();
    }
  }

  private void evict(long maxUnneeded) {
    long lowWatermark = clock.lowWatermark();
    long unneeded = 0;
    while (true) {
      Version oldest = oldestFirst.peek();
      if (oldest == null) {
        return;
      }
      if (!oldest.isDecided(clock)) {
        return; // In a moment it is; to go, it has to tell from when on it is not missed.
      }
      boolean needed = oldest.supersededAt() > lowWatermark;
      boolean full = bytes.get() > maxBytes;
      if (!full && (needed || unneeded++ >= maxUnneeded)) {
        return;
      }
      if (needed) {
        evictedNeeded.incrementAndGet();
      }
      remove(oldestFirst.poll());
    }
  }

  private void remove(Version version) {
    // The horizon first: a reader that no longer finds the version must find the horizon.
    version.partition.store.horizon().raise(version.supersededAt());
    bytes.addAndGet(-version.partition.store.remove(version));
    count.decrementAndGet();
  }

  long bytes() {
    return bytes.get();
  }

  long maxBytes() {
    return maxBytes;
  }

  long count() {
    return count.get();
  }

  /** Versions given up for lack of room although a reader might have asked for them. */
  long evictedNeeded() {
    return evictedNeeded.get();
  }
}
