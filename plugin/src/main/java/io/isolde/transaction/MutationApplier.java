// SPDX-License-Identifier: Apache-2.0
package io.isolde.transaction;

import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.apache.cassandra.concurrent.ScheduledExecutors;
import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.db.ConsistencyLevel;
import org.apache.cassandra.db.Mutation;
import org.apache.cassandra.db.MutationExceededMaxSizeException;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.exceptions.RequestExecutionException;
import org.apache.cassandra.net.MessagingService;
import org.apache.cassandra.service.StorageProxy;
import org.apache.cassandra.transport.Dispatcher;
import org.apache.cassandra.utils.concurrent.UncheckedInterruptedException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings decided commits to the replicas. A commit of several partitions goes through Cassandra's
 * batch log: after a crash in the middle the rest is replayed, with the same timestamps.
 */
final class MutationApplier {
  private static final Logger logger = LoggerFactory.getLogger(MutationApplier.class);

  private static final long FIRST_PAUSE_MILLIS = 20;
  private static final long LONGEST_PAUSE_MILLIS = 1000;

  /** Below this a mutation is certainly small enough, and need not be measured. */
  private static final long SURELY_FITS_BYTES = 256 << 10;

  /**
   * Refuses what the commit log would refuse, before the decision: a decided commit must fit.
   *
   * @throws IsoldeException TRANSACTION_TOO_LARGE
   */
  void checkSizes(Collection<PartitionUpdate> updates) {
    long dataBytes = updates.stream().mapToLong(PartitionUpdate::dataSize).sum();
    if (dataBytes < Math.min(SURELY_FITS_BYTES, DatabaseDescriptor.getMaxMutationSize() / 4)) {
      return;
    }
    try {
      for (Mutation mutation : Stamp.mutations(updates, 0)) {
        mutation.validateSize(MessagingService.current_version, 0);
      }
    } catch (MutationExceededMaxSizeException e) {
      throw IsoldeException.of(
          ErrorCode.TRANSACTION_TOO_LARGE,
          "The transaction writes more to one partition than Cassandra's commit log takes: "
              + e.getMessage(),
          "limit",
          "max_mutation_size");
    }
  }

  /** Returns whether the mutations were applied at QUORUM before the deadline; tries until then. */
  boolean applyUntil(List<Mutation> mutations, long deadlineNanos) {
    long pauseMillis = FIRST_PAUSE_MILLIS;
    while (!apply(mutations)) {
      if (System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(pauseMillis) > deadlineNanos) {
        return false;
      }
      try {
        Thread.sleep(pauseMillis);
      } catch (InterruptedException e) {
        throw new UncheckedInterruptedException(e);
      }
      pauseMillis = Math.min(2 * pauseMillis, LONGEST_PAUSE_MILLIS);
    }
    return true;
  }

  private boolean apply(List<Mutation> mutations) {
    try {
      StorageProxy.mutateWithTriggers(
          mutations,
          ConsistencyLevel.QUORUM,
          mutations.size() > 1,
          Dispatcher.RequestTime.forImmediateExecution());
      return true;
    } catch (RequestExecutionException e) {
      // Also applied in part it may be applied again: the same cells with the same timestamps.
      logger.warn("A committed transaction could not be applied yet: {}", e.getMessage());
      return false;
    }
  }

  /**
   * Tries for as long as it takes. Bounded by the oracle, which takes no more commits when too many
   * are not applied.
   *
   * @param mayStart whether commits that must be applied before are
   */
  void applyInBackground(BooleanSupplier mayStart, List<Mutation> mutations, Runnable whenApplied) {
    var unused =
        ScheduledExecutors.nonPeriodicTasks.schedule(
            () -> {
              if (mayStart.getAsBoolean() && apply(mutations)) {
                whenApplied.run();
              } else {
                applyInBackground(mayStart, mutations, whenApplied);
              }
            },
            LONGEST_PAUSE_MILLIS,
            TimeUnit.MILLISECONDS);
  }
}
