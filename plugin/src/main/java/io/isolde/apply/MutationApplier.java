// SPDX-License-Identifier: Apache-2.0
package io.isolde.apply;

import com.google.common.util.concurrent.ThreadFactoryBuilder;
import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.apache.cassandra.concurrent.Stage;
import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.db.ConsistencyLevel;
import org.apache.cassandra.db.Keyspace;
import org.apache.cassandra.db.Mutation;
import org.apache.cassandra.db.MutationExceededMaxSizeException;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.locator.ReplicaPlans;
import org.apache.cassandra.net.MessagingService;
import org.apache.cassandra.tracing.Tracing;
import org.apache.cassandra.utils.JVMStabilityInspector;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings decided commits to the replicas. If this node dies meanwhile, or does not reach them,
 * {@link Recovery} does it, with the same timestamps.
 */
public final class MutationApplier {
  private static final Logger logger = LoggerFactory.getLogger(MutationApplier.class);
  private static final long FIRST_PAUSE_MILLIS = 20;
  private static final long MAX_PAUSE_MILLIS = 1000;

  /** Below this a mutation is certainly small enough, and need not be measured. */
  private static final long SURELY_FITS_BYTES = 256 << 10;

  /** So much of a commit is on its way to the replicas at a time, and one partition more. */
  private static final long SLICE_BYTES = 1 << 20;

  /** Only starts what runs elsewhere. */
  private final ScheduledExecutorService pauses =
      Executors.newSingleThreadScheduledExecutor(
          new ThreadFactoryBuilder().setNameFormat("IsoldeApplyAgain").setDaemon(true).build());

  private final StrongTables strong;
  private final OutboundQueues queues;
  private final QuorumWrite quorum;

  /**
   * @param queues to the other replicas
   */
  public MutationApplier(StrongTables strong, OutboundQueues queues) {
    this.strong = strong;
    this.queues = queues;
    this.quorum = new QuorumWrite(queues);
  }

  /**
   * Refuses what could not be applied, before the decision: a decided commit that can't be applied
   * holds up everybody.
   *
   * @throws IsoldeException TRANSACTION_TOO_LARGE
   * @throws org.apache.cassandra.exceptions.UnavailableException if there is no quorum for a part
   * @throws org.apache.cassandra.exceptions.InvalidRequestException if the operator has denied a
   *     partition
   */
  public void check(Collection<PartitionUpdate> updates) {
    Denylist.checkWrites(updates); // It may have been denied since it was written to.
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

  private void checkSizes(Collection<PartitionUpdate> updates) {
    long dataBytes = updates.stream().mapToLong(PartitionUpdate::dataSize).sum();
    if (dataBytes < Math.min(SURELY_FITS_BYTES, DatabaseDescriptor.getMaxMutationSize() / 4)) {
      return;
    }
    try {
      for (Mutation mutation : Stamp.mutations(updates, 0)) {
        mutation.validateSize(MessagingService.current_version, 0);
        checkFitsIntoLog(mutation);
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

  private void checkFitsIntoLog(Mutation mutation) {
    String keyspace = mutation.getKeyspaceName();
    if (!strong.isStrong(keyspace)) {
      return;
    }
    long bytes = Mutation.serializer.serializedSize(mutation, MessagingService.current_version);
    int maxBytes = strong.maxMutationBytes(keyspace);
    if (bytes > maxBytes) {
      throw IsoldeException.of(
          ErrorCode.TRANSACTION_TOO_LARGE,
          "The transaction writes "
              + bytes
              + " bytes to one partition, more than an entry in the log of a strong keyspace.",
          "keyspace",
          keyspace,
          "limit_bytes",
          maxBytes);
    }
  }

  /**
   * Whether a coordinator asks the oracle's leader to apply a commit. If it applied the commit
   * itself, it would have to report that to the leader, which takes a round trip more.
   *
   * @param bytes of the write set
   */
  public boolean isLeaderAsked(int bytes) {
    return bytes <= OutboundQueues.MAX_ITEM_BYTES
        && queues.isLeaderElsewhere()
        && !Tracing.isTracing();
  }

  /**
   * Applies everywhere, again and again until it has worked. Bounded by the oracle, which takes no
   * more commits when too many are not applied.
   *
   * @param updates that are not stamped yet
   * @param others looked at before each attempt, and asked within a large one
   * @return completes when it has worked; does not fail
   */
  public CompletableFuture<Void> apply(
      Collection<PartitionUpdate> updates, long commitTimestamp, AppliedByOthers others) {
    CompletableFuture<Void> applied = new CompletableFuture<>();
    apply(updates, commitTimestamp, others, applied, FIRST_PAUSE_MILLIS);
    return applied;
  }

  private void apply(
      Collection<PartitionUpdate> updates,
      long commitTimestamp,
      AppliedByOthers others,
      CompletableFuture<Void> applied,
      long pauseMillis) {
    if (others.isKnown()) {
      applied.complete(null);
      return;
    }
    long nextMillis = Math.min(2 * pauseMillis, MAX_PAUSE_MILLIS);
    Runnable again = () -> apply(updates, commitTimestamp, others, applied, nextMillis);
    var unused =
        attempt(updates, commitTimestamp, others)
            .thenAccept(
                isApplied -> {
                  if (isApplied) {
                    applied.complete(null);
                  } else {
                    later(pauseMillis, again);
                  }
                });
  }

  /**
   * Tries once to apply all that a commit writes, at QUORUM or in the logs of strong keyspaces.
   * What is large goes slice by slice: others have to pass, and the way to the replicas is bounded.
   *
   * @param others asked before each further slice
   * @return whether all of it is applied; does not fail
   */
  CompletableFuture<Boolean> attempt(
      Collection<PartitionUpdate> updates, long commitTimestamp, AppliedByOthers others) {
    return attempt(slices(updates).iterator(), commitTimestamp, others)
        .exceptionally(MutationApplier::notYet);
  }

  private CompletableFuture<Boolean> attempt(
      Iterator<List<PartitionUpdate>> slices, long commitTimestamp, AppliedByOthers others) {
    CompletableFuture<Boolean> first;
    try {
      first = attempt(Stamp.mutations(slices.next(), commitTimestamp));
    } catch (RuntimeException | Error e) {
      JVMStabilityInspector.inspectThrowable(e);
      return CompletableFuture.completedFuture(notYet(e));
    }
    return slices.hasNext()
        ? first.thenCompose(isApplied -> goOn(isApplied, slices, commitTimestamp, others))
        : first;
  }

  private CompletableFuture<Boolean> goOn(
      boolean isApplied,
      Iterator<List<PartitionUpdate>> slices,
      long commitTimestamp,
      AppliedByOthers others) {
    return isApplied
        ? others
            .ask()
            .thenComposeAsync(
                byOthers ->
                    byOthers
                        ? CompletableFuture.completedFuture(true)
                        : attempt(slices, commitTimestamp, others),
                Stage.MUTATION.executor())
        : CompletableFuture.completedFuture(false);
  }

  private static List<List<PartitionUpdate>> slices(Collection<PartitionUpdate> updates) {
    List<List<PartitionUpdate>> slices = new ArrayList<>(1);
    List<PartitionUpdate> slice = new ArrayList<>(updates.size());
    long bytes = 0;
    for (PartitionUpdate update : updates) {
      slice.add(update);
      bytes += update.dataSize();
      if (bytes >= SLICE_BYTES) {
        slices.add(slice);
        slice = new ArrayList<>();
        bytes = 0;
      }
    }
    if (!slice.isEmpty() || slices.isEmpty()) {
      slices.add(slice);
    }
    return slices;
  }

  private CompletableFuture<Boolean> attempt(List<Mutation> mutations) {
    List<Mutation> ofGroups = new ArrayList<>();
    List<Mutation> others = new ArrayList<>(mutations.size());
    for (Mutation mutation : TablesThatExist.of(mutations)) {
      (strong.isStrong(mutation.getKeyspaceName()) ? ofGroups : others).add(mutation);
    }
    return quorum.attempt(others).thenCombine(inLogs(ofGroups), Boolean::logicalAnd);
  }

  private CompletableFuture<Boolean> inLogs(List<Mutation> mutations) {
    try {
      return CompletableFuture.allOf(
              mutations.stream().map(strong::apply).toArray(CompletableFuture[]::new))
          .handle((done, failure) -> failure == null || notYet(failure));
    } catch (RuntimeException | Error e) {
      JVMStabilityInspector.inspectThrowable(e);
      return CompletableFuture.completedFuture(notYet(e));
    }
  }

  /** Whatever it is, the transaction is committed: it must be tried until it works. */
  private static boolean notYet(Throwable failure) {
    logger.warn("A committed transaction could not be applied yet: {}", failure.getMessage());
    return false;
  }

  /** Runs something that may block for as long as a local write does, after a pause. */
  public void later(long pauseMillis, Runnable task) {
    var unused =
        pauses.schedule(() -> Stage.MUTATION.execute(task), pauseMillis, TimeUnit.MILLISECONDS);
  }
}
