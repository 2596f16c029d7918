// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * When the next log entry may be proposed. An entry costs the members far more than a command in
 * it, so entries should be large; but a command that waits for the entry before waits twice as
 * long. So while entries are under way the next one waits until it is as large as the last: with
 * few requests in flight several small entries are under way, with many there are few large ones.
 *
 * <p>Thread-safe.
 */
final class EntryPace {
  /** More of them were not seen to bring anything. */
  private static final int MAX_UNDER_WAY = 3;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private int underWay;
  private boolean isHeld;

  /** What must be waiting while others are under way; {@link Integer#MAX_VALUE} if nobody waits. */
  private volatile int awaited = Integer.MAX_VALUE;

  private int lastSize = 1;

  /** How many commands wait to be put into an entry. */
  interface Waiting {
    int count();
  }

  /**
   * Waits until an entry may be proposed; then it counts as under way.
   *
   * @param waiting how many commands there would be for it
   */
  void awaitPermit(Waiting waiting) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      awaited = lastSize;
      while (!mayGo(waiting)) {
        changed.await();
      }
      underWay++;
    } finally {
      awaited = Integer.MAX_VALUE;
      lock.unlock();
    }
  }

  private boolean mayGo(Waiting waiting) {
    return !isHeld && (underWay == 0 || (underWay < MAX_UNDER_WAY && waiting.count() >= lastSize));
  }

  /** How large the entry is that has its turn. */
  void proposed(int commands) {
    lock.lock();
    try {
      lastSize = commands;
    } finally {
      lock.unlock();
    }
  }

  /** More commands wait than before; cheap unless that makes a difference. */
  void arrived(Waiting waiting) {
    int needed = awaited;
    if (needed != Integer.MAX_VALUE && waiting.count() >= needed) {
      lock.lock();
      try {
        changed.signalAll();
      } finally {
        lock.unlock();
      }
    }
  }

  /** An entry is no longer under way. */
  void ended() {
    lock.lock();
    try {
      assert underWay > 0 : "it was under way";
      underWay--;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** An entry that need not wait for others, unless all is held. */
  boolean tryPermit() {
    lock.lock();
    try {
      if (isHeld || underWay >= MAX_UNDER_WAY) {
        return false;
      }
      underWay++;
      return true;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Lets no further entry go and waits until none is under way.
   *
   * @return false if that did not happen in time; then nothing is held
   */
  boolean hold(long timeoutMillis) throws InterruptedException {
    long leftNanos = TimeUnit.MILLISECONDS.toNanos(timeoutMillis);
    lock.lockInterruptibly();
    try {
      while (isHeld && leftNanos > 0) {
        leftNanos = changed.awaitNanos(leftNanos);
      }
      if (isHeld) {
        return false;
      }
      isHeld = true;
      try {
        while (underWay > 0 && leftNanos > 0) {
          leftNanos = changed.awaitNanos(leftNanos);
        }
      } finally {
        if (underWay > 0) {
          release();
        }
      }
      return isHeld;
    } finally {
      lock.unlock();
    }
  }

  /** As {@link #hold(long)}, for as long as it takes. */
  void holdUninterruptibly() {
    lock.lock();
    try {
      while (isHeld) {
        changed.awaitUninterruptibly();
      }
      isHeld = true;
      while (underWay > 0) {
        changed.awaitUninterruptibly();
      }
    } finally {
      lock.unlock();
    }
  }

  /**
   * Ends {@link #hold}.
   *
   * @param entries that are under way from now on
   */
  void goOn(int entries) {
    lock.lock();
    try {
      underWay += entries;
      release();
    } finally {
      lock.unlock();
    }
  }

  private void release() {
    isHeld = false;
    changed.signalAll();
  }
}
