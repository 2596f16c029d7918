// SPDX-License-Identifier: Apache-2.0
package io.isolde.transaction;

import com.google.common.util.concurrent.ThreadFactoryBuilder;
import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.db.ConsistencyLevel;
import org.apache.cassandra.db.Keyspace;
import org.apache.cassandra.db.Mutation;
import org.apache.cassandra.db.MutationExceededMaxSizeException;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.exceptions.RequestExecutionException;
import org.apache.cassandra.locator.ReplicaPlans;
import org.apache.cassandra.net.MessagingService;
import org.apache.cassandra.schema.Schema;
import org.apache.cassandra.schema.TableId;
import org.apache.cassandra.service.StorageProxy;
import org.apache.cassandra.transport.Dispatcher;
import org.apache.cassandra.utils.concurrent.UncheckedInterruptedException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings decided commits to the replicas. If this node dies meanwhile, {@link Recovery} does it,
 * or, where the oracle keeps no writes, Cassandra's batch log: with the same timestamps.
 */
final class MutationApplier {
  private static final Logger logger = LoggerFactory.getLogger(MutationApplier.class);

  private static final long FIRST_PAUSE_MILLIS = 20;
  private static final long LONGEST_PAUSE_MILLIS = 1000;

  /** A thread of its own: a commit that can't be applied must not hold up anybody else's tasks. */
  private final ScheduledExecutorService background =
      Executors.newSingleThreadScheduledExecutor(
          new ThreadFactoryBuilder().setNameFormat("IsoldeApply").setDaemon(true).build());

  private final boolean throughBatchLog;

  /**
   * @param throughBatchLog whether nobody but Cassandra can finish a commit of several partitions
   *     if this node dies
   */
  MutationApplier(boolean throughBatchLog) {
    this.throughBatchLog = throughBatchLog;
  }

  /** Below this a mutation is certainly small enough, and need not be measured. */
  private static final long SURELY_FITS_BYTES = 256 << 10;

  /**
   * Refuses what could not be applied, before the decision: a decided commit that can't be applied
   * holds up everybody.
   *
   * @throws IsoldeException TRANSACTION_TOO_LARGE
   * @throws org.apache.cassandra.exceptions.UnavailableException if there is no quorum for a part
   */
  void check(Collection<PartitionUpdate> updates) {
    for (PartitionUpdate update : updates) {
      var unused =
          ReplicaPlans.forWrite(
              Keyspace.open(update.metadata().keyspace),
              ConsistencyLevel.QUORUM,
              update.partitionKey().getToken(),
              ReplicaPlans.writeNormal);
    }
    checkSizes(updates);
  }

  private static void checkSizes(Collection<PartitionUpdate> updates) {
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
      List<Mutation> present = ofTablesThatExist(mutations);
      if (!present.isEmpty()) {
        StorageProxy.mutateWithTriggers(
            present,
            ConsistencyLevel.QUORUM,
            throughBatchLog && present.size() > 1,
            Dispatcher.RequestTime.forImmediateExecution());
      }
      return true;
    } catch (RequestExecutionException e) {
      // Also applied in part it may be applied again: the same cells with the same timestamps.
      logger.warn("A committed transaction could not be applied yet: {}", e.getMessage());
      return false;
    } catch (RuntimeException e) {
      // Whatever it is, the transaction is committed: it must be tried until it works.
      logger.error("A committed transaction could not be applied yet.", e);
      return false;
    }
  }

  /** What a table held is gone with it, also if it was dropped after the decision. */
  private static List<Mutation> ofTablesThatExist(List<Mutation> mutations) {
    List<Mutation> present = new ArrayList<>(mutations.size());
    for (Mutation mutation : mutations) {
      Set<TableId> dropped = new HashSet<>();
      for (TableId table : mutation.getTableIds()) {
        if (Schema.instance.getTableMetadata(table) == null) {
          dropped.add(table);
        }
      }
      Mutation rest = dropped.isEmpty() ? mutation : mutation.without(dropped);
      if (!rest.isEmpty()) {
        present.add(rest);
      }
    }
    return present;
  }

  /**
   * Tries for as long as it takes. Bounded by the oracle, which takes no more commits when too many
   * are not applied.
   *
   * @param mayStart whether commits that must be applied before are
   */
  void applyInBackground(BooleanSupplier mayStart, List<Mutation> mutations, Runnable whenApplied) {
    var unused =
        background.schedule(
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
