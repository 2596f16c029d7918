// SPDX-License-Identifier: Apache-2.0
package io.isolde.version;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.apache.cassandra.utils.concurrent.UncheckedInterruptedException;

/**
 * Keeps readers of transactional tables from this replica while it may lack what it had applied. An
 * answer of such a replica would count as one of a quorum and not be one.
 */
public final class RestartBarrier {
  private static final RestartBarrier OF_THIS_NODE = new RestartBarrier();

  /** Then the reader is refused, so that it can turn to others. */
  private static final long PATIENCE_MILLIS = 1_000;

  /** The others are refused at once: all reads of the node share their threads. */
  private static final int MAX_WAITING = 16;

  private final Semaphore places = new Semaphore(MAX_WAITING);

  /** Null if it is open. */
  private volatile CountDownLatch closed;

  RestartBarrier() {}

  /** There is one, as Cassandra makes the readers itself. */
  public static RestartBarrier ofThisNode() {
    return OF_THIS_NODE;
  }

  public void close() {
    closed = new CountDownLatch(1);
  }

  public void open() {
    CountDownLatch opened = closed;
    closed = null;
    opened.countDown();
  }

  public boolean isClosed() {
    return closed != null;
  }

  /**
   * Returns when it is open.
   *
   * @throws SnapshotTooOldException if that takes too long
   */
  void pass(long asOf) {
    CountDownLatch barrier = closed;
    if (barrier != null && !isOpened(barrier)) {
      throw SnapshotTooOldException.afterDeath(asOf);
    }
  }

  private boolean isOpened(CountDownLatch barrier) {
    if (!places.tryAcquire()) {
      return false;
    }
    try {
      return barrier.await(PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      throw new UncheckedInterruptedException(e);
    } finally {
      places.release();
    }
  }
}
