// SPDX-License-Identifier: Apache-2.0
package io.isolde.apply;

import io.isolde.oracle.group.CommitApplier;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.cassandra.db.partitions.PartitionUpdate;

/**
 * Applies commits on the node where the oracle leads, for coordinators elsewhere that ask for it: a
 * commit that the leader would have to be told of takes one round trip less that way.
 */
public final class LeaderApplier implements CommitApplier {
  private static final List<PartitionUpdate> NOTHING = List.of();

  private final MutationApplier applier;

  /**
   * @param strong the tables of strong keyspaces
   * @param queues to the other replicas
   */
  public LeaderApplier(StrongTables strong, OutboundQueues queues) {
    this.applier = new MutationApplier(strong, queues);
  }

  @Override
  public CompletableFuture<Boolean> apply(long commitTimestamp, byte[] writeSet) {
    long askedNanos = System.nanoTime();
    return CompletableFuture.supplyAsync(
            () -> isLate(askedNanos) ? NOTHING : decode(writeSet), ApplyThreads.withoutWaiting())
        .thenCompose(updates -> apply(commitTimestamp, updates, askedNanos));
  }

  /** Nothing if it is not all: what this node has not heard of its coordinator knows. */
  private static List<PartitionUpdate> decode(byte[] writeSet) {
    WriteSetCodec.Decoded writes = WriteSetCodec.decode(writeSet);
    return writes.unknownTables().isEmpty() && writes.unknownColumns().isEmpty()
        ? writes.updates()
        : NOTHING;
  }

  private CompletableFuture<Boolean> apply(
      long commitTimestamp, List<PartitionUpdate> some, long askedNanos) {
    if (some.isEmpty()) {
      return CompletableFuture.completedFuture(false);
    }
    return CompletableFuture.completedFuture(some)
        .thenComposeAsync(
            updates ->
                isLate(askedNanos)
                    ? CompletableFuture.completedFuture(false)
                    : applier.attempt(updates, commitTimestamp, AppliedByOthers.NEVER),
            ApplyThreads.of(some));
  }

  /** Others have applied it meanwhile; this could come after a TRUNCATE. */
  private static boolean isLate(long askedNanos) {
    return System.nanoTime() - askedNanos > TimeUnit.MILLISECONDS.toNanos(MAX_MILLIS);
  }
}
