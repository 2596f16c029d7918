// SPDX-License-Identifier: Apache-2.0
package io.isolde.transaction;

import io.isolde.oracle.group.CommitApplier;
import io.isolde.transaction.lane.ApplyLanes;
import java.util.concurrent.CompletableFuture;

/**
 * Applies commits on the node where the oracle leads, for coordinators elsewhere that ask for it: a
 * commit that the leader would have to be told of takes one round trip less that way.
 */
public final class LeaderApplier implements CommitApplier {
  private final MutationApplier applier;

  /**
   * @param strong the tables of strong keyspaces
   * @param lanes to the other replicas
   */
  public LeaderApplier(StrongTables strong, ApplyLanes lanes) {
    this.applier = new MutationApplier(strong, false, lanes);
  }

  @Override
  public CompletableFuture<Boolean> apply(long commitTimestamp, byte[] writeSet) {
    return CompletableFuture.supplyAsync(
            () -> WriteSetCodec.decode(writeSet), ApplyThreads.withoutWaiting())
        .thenCompose(writes -> apply(commitTimestamp, writes));
  }

  /** What this node has not heard of may have been dropped or not: the coordinator knows. */
  private CompletableFuture<Boolean> apply(long commitTimestamp, WriteSetCodec.Decoded writes) {
    if (!writes.unknownTables().isEmpty() || !writes.unknownColumns().isEmpty()) {
      return CompletableFuture.completedFuture(false);
    }
    return CompletableFuture.completedFuture(writes.updates())
        .thenComposeAsync(
            updates -> applier.attempt(Stamp.mutations(updates, commitTimestamp), commitTimestamp),
            ApplyThreads.of(writes.updates()))
        .thenApply(Attempt::isApplied);
  }
}
