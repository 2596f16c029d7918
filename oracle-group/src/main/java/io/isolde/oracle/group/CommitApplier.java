// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import java.util.concurrent.CompletableFuture;

/** Applies decided commits on the node where the oracle leads, for their coordinators. */
@FunctionalInterface
public interface CommitApplier {
  /**
   * What takes longer is of no use: its coordinator has been told to do it. Less than what makes
   * coordinators look for another leader ({@link OracleClientConfig#suspicionMillis}).
   */
  long MAX_MILLIS = 150;

  /** Leaves all to their coordinators. */
  CommitApplier NONE =
      (commitTimestamp, writeSet) -> CompletableFuture.completedFuture(Boolean.FALSE);

  /**
   * Tries once to bring the writes of a commit to where every reader will find them. Its
   * coordinator may do the same meanwhile. Called by the thread that applies the log: must not
   * block.
   *
   * @param writeSet as its coordinator gave it to the oracle
   * @return whether all of it is there; false also if it can't be applied here
   */
  CompletableFuture<Boolean> apply(long commitTimestamp, byte[] writeSet);
}
