// SPDX-License-Identifier: Apache-2.0
package io.isolde.transaction.barrier;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.cassandra.db.ConsistencyLevel;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.service.paxos.AbstractPaxosRepair;
import org.apache.cassandra.service.paxos.PaxosRepair;
import org.apache.cassandra.service.paxos.PaxosState;
import org.apache.cassandra.service.paxos.uncommitted.UncommittedPaxosKey;
import org.apache.cassandra.utils.CloseableIterator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lightweight transactions of a table that this node has accepted, and of which it does not know
 * that they are committed: their coordinator died, or gave up. The next one on their row, or a
 * repair, would finish them, whenever that is. In a transactional table they would then change what
 * snapshots have seen.
 */
final class UnfinishedPaxos {
  private static final Logger logger = LoggerFactory.getLogger(UnfinishedPaxos.class);

  private UnfinishedPaxos() {}

  /**
   * Finishes them, at a quorum of the replicas of each.
   *
   * @param table on which nobody starts a lightweight transaction meanwhile
   * @return false if that does not succeed in time
   */
  static boolean finish(TableMetadata table, long waitMillis) throws InterruptedException {
    long deadlineNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(waitMillis);
    int finished = 0;
    try (CloseableIterator<UncommittedPaxosKey> keys =
        PaxosState.uncommittedTracker().uncommittedKeyIterator(table.id, List.of())) {
      while (keys.hasNext()) {
        UncommittedPaxosKey key = keys.next();
        if (!finish(table, key, deadlineNanos)) {
          return false;
        }
        finished++;
      }
    }
    if (finished > 0) {
      logger.info("Finished {} lightweight transactions of {}.", finished, table);
    }
    return true;
  }

  private static boolean finish(TableMetadata table, UncommittedPaxosKey key, long deadlineNanos)
      throws InterruptedException {
    ConsistencyLevel level = key.getConsistencyLevel();
    AbstractPaxosRepair repair =
        PaxosRepair.create(
            level == null ? ConsistencyLevel.SERIAL : level, key.getKey(), key.ballot(), table);
    CompletableFuture<AbstractPaxosRepair.Result> done = new CompletableFuture<>();
    repair.addListener(done::complete);
    repair.start();
    try {
      AbstractPaxosRepair.Result result =
          done.get(deadlineNanos - System.nanoTime(), TimeUnit.NANOSECONDS);
      if (!result.wasSuccessful()) {
        logger.warn("A lightweight transaction of {} could not be finished: {}", table, result);
      }
      return result.wasSuccessful();
    } catch (TimeoutException e) {
      repair.cancel();
      return false;
    } catch (ExecutionException e) {
      throw new AssertionError("completed with a result only", e);
    }
  }
}
