// SPDX-License-Identifier: Apache-2.0
package io.isolde.transaction;

import io.isolde.statement.BoundWrite;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.cassandra.exceptions.FunctionExecutionException;
import org.apache.cassandra.exceptions.InvalidRequestException;
import org.apache.cassandra.service.ClientState;
import org.apache.cassandra.utils.concurrent.UncheckedInterruptedException;

/**
 * Statements with IF and blocks that come to this node for the same partition go one after the
 * other, in their order. Else all would decide as of the same snapshot, and all but one in vain. It
 * is a courtesy: whoever waits for too long, or finds too many, goes on without, and the oracle
 * finds the conflict.
 */
final class HotPartitions {
  /** A power of two; partitions that share a place only wait for one another. */
  private static final int PLACES = 1024;

  /** Each holds a thread of the node's. */
  private static final int MAX_WAITING = 32;

  private final ReentrantLock[] places = new ReentrantLock[PLACES];

  HotPartitions() {
    for (int i = 0; i < PLACES; i++) {
      places[i] = new ReentrantLock(true);
    }
  }

  /** Leaves the partition to the next one. */
  interface Stay extends AutoCloseable {
    @Override
    void close();
  }

  /**
   * Waits until the others are through, or until a time.
   *
   * @param write whose partition it is
   */
  Stay enter(BoundWrite write, ClientState client, long deadlineNanos) {
    ByteBuffer key;
    try {
      key = write.partitionKey(client);
    } catch (InvalidRequestException | FunctionExecutionException e) {
      return () -> {}; // Perhaps it is not carried out; if it is, it is refused then.
    }
    int hash = 31 * write.statement().metadata().id.hashCode() + key.hashCode();
    ReentrantLock place = places[(hash ^ (hash >>> 16)) & (PLACES - 1)];
    if (place.getQueueLength() >= MAX_WAITING) {
      return () -> {};
    }
    try {
      boolean isEntered = place.tryLock(deadlineNanos - System.nanoTime(), TimeUnit.NANOSECONDS);
      return isEntered ? place::unlock : () -> {};
    } catch (InterruptedException e) {
      throw new UncheckedInterruptedException(e);
    }
  }
}
