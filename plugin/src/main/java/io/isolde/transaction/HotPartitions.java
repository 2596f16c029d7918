// SPDX-License-Identifier: Apache-2.0
package io.isolde.transaction;

import io.isolde.statement.BoundWrite;
import java.nio.ByteBuffer;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;
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
   * @param writes the first one whose partition is known says which it is
   */
  Stay enter(Stream<BoundWrite> writes, ClientState client, long deadlineNanos) {
    OptionalInt hash =
        writes
            .map(write -> hash(write, client))
            .filter(OptionalInt::isPresent)
            .findFirst()
            .orElse(OptionalInt.empty());
    if (hash.isEmpty()) {
      return () -> {};
    }
    ReentrantLock place = places[(hash.getAsInt() ^ (hash.getAsInt() >>> 16)) & (PLACES - 1)];
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

  private static OptionalInt hash(BoundWrite write, ClientState client) {
    try {
      ByteBuffer key = write.partitionKey(client);
      return OptionalInt.of(31 * write.statement().metadata().id.hashCode() + key.hashCode());
    } catch (InvalidRequestException | FunctionExecutionException e) {
      return OptionalInt.empty(); // Perhaps it is not carried out; if it is, it is refused then.
    }
  }
}
