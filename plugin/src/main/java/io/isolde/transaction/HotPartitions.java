// SPDX-License-Identifier: Apache-2.0
package io.isolde.transaction;

import io.isolde.conflict.RowIds;
import io.isolde.rowlock.RowLocks;
import io.isolde.statement.BoundWrite;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;
import org.apache.cassandra.db.Clustering;
import org.apache.cassandra.db.DecoratedKey;
import org.apache.cassandra.exceptions.FunctionExecutionException;
import org.apache.cassandra.exceptions.InvalidRequestException;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.service.ClientState;
import org.apache.cassandra.utils.concurrent.UncheckedInterruptedException;

/**
 * Statements with IF and blocks that come to this node for the same partition go one after the
 * other, in their order. Else all would decide as of the same snapshot, and all but one in vain. If
 * one has a conflict nevertheless, others come over other nodes: it, and those that follow it for a
 * second, lock the partition in the cluster.
 *
 * <p>It is a courtesy: whoever waits for too long, or finds too many, goes on without, and the
 * oracle finds the conflict.
 */
final class HotPartitions {
  /** A power of two; partitions that share a place only wait for one another. */
  private static final int PLACES = 1024;

  /** Each holds a thread of the node's. */
  private static final int MAX_WAITING = 32;

  private static final long HOT_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final RowLocks locks;
  private final ReentrantLock[] places = new ReentrantLock[PLACES];

  /** By place: until when partitions are locked in the cluster. */
  private final AtomicLongArray hotUntilNanos = new AtomicLongArray(PLACES);

  HotPartitions(RowLocks locks) {
    this.locks = locks;
    long now = System.nanoTime();
    for (int i = 0; i < PLACES; i++) {
      places[i] = new ReentrantLock(true);
      hotUntilNanos.set(i, now);
    }
  }

  /** Until it is closed, others wait. */
  interface Stay extends AutoCloseable {
    /** Of a request whose partition is not known, or too many want. */
    Stay NONE =
        new Stay() {
          @Override
          public void conflicted() {}

          @Override
          public void close() {}
        };

    /** Others write to the partition over other nodes. Waits for them. */
    void conflicted();

    /** Leaves the partition to the next one. */
    @Override
    void close();
  }

  /**
   * Waits until the others are through, or until a time.
   *
   * @param writes the first one whose partition is known says which it is
   */
  Stay enter(Stream<BoundWrite> writes, ClientState client, long deadlineNanos) {
    OptionalLong id =
        writes
            .map(write -> id(write, client))
            .filter(OptionalLong::isPresent)
            .findFirst()
            .orElse(OptionalLong.empty());
    if (id.isEmpty()) {
      return Stay.NONE;
    }
    int place = (int) id.getAsLong() & (PLACES - 1);
    if (places[place].getQueueLength() >= MAX_WAITING) {
      return Stay.NONE;
    }
    try {
      if (!places[place].tryLock(deadlineNanos - System.nanoTime(), TimeUnit.NANOSECONDS)) {
        return Stay.NONE;
      }
    } catch (InterruptedException e) {
      throw new UncheckedInterruptedException(e);
    }
    InPlace stay = new InPlace(place, id.getAsLong(), deadlineNanos);
    try {
      if (hotUntilNanos.get(place) - System.nanoTime() > 0) {
        stay.lock();
      }
      return stay;
    } catch (RuntimeException | Error e) {
      stay.close();
      throw e;
    }
  }

  /** Has the place of a partition on this node, and perhaps its lock in the cluster. */
  private final class InPlace implements Stay {
    private final int place;
    private final long id;
    private final long deadlineNanos;
    private UUID locker;

    InPlace(int place, long id, long deadlineNanos) {
      this.place = place;
      this.id = id;
      this.deadlineNanos = deadlineNanos;
    }

    @Override
    public void conflicted() {
      hotUntilNanos.set(place, System.nanoTime() + HOT_NANOS);
      lock();
    }

    private void lock() {
      if (locker == null) {
        locker = UUID.randomUUID();
        long now = System.nanoTime(); // Time is left to go on without.
        locks.lockIfPossible(locker, id, now + (deadlineNanos - now) / 2);
      }
    }

    @Override
    public void close() {
      places[place].unlock();
      if (locker != null) {
        locks.release(locker);
      }
    }
  }

  /** As FOR UPDATE knows it, if the partition is a row. */
  private static OptionalLong id(BoundWrite write, ClientState client) {
    TableMetadata table = write.statement().metadata();
    try {
      DecoratedKey key = table.partitioner.decorateKey(write.partitionKey(client));
      return OptionalLong.of(
          table.clusteringColumns().isEmpty()
              ? RowIds.row(table, key, Clustering.EMPTY)
              : RowIds.partition(table, key));
    } catch (InvalidRequestException | FunctionExecutionException e) {
      return OptionalLong.empty(); // Perhaps it is not carried out; if it is, it is refused then.
    }
  }
}
