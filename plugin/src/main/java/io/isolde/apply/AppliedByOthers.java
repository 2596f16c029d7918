// SPDX-License-Identifier: Apache-2.0
package io.isolde.apply;

import io.isolde.replicated.Oracle;
import java.util.concurrent.CompletableFuture;

/**
 * Whether others have applied a commit meanwhile. What is written after that could come after a
 * TRUNCATE.
 */
@FunctionalInterface
public interface AppliedByOthers {
  /** Nobody else applies it. */
  AppliedByOthers NEVER = () -> false;

  /** As far as this node has heard. Costs nothing. */
  boolean isKnown();

  /**
   * The same, after a question to whoever knows.
   *
   * @return does not fail: without an answer, what is known counts
   */
  default CompletableFuture<Boolean> ask() {
    return CompletableFuture.completedFuture(isKnown());
  }

  /** What the oracle says of a commit that is decided. */
  static AppliedByOthers of(Oracle oracle, long commitTimestamp) {
    return new AppliedByOthers() {
      @Override
      public boolean isKnown() {
        // In this order: the set is to be of the snapshot or later.
        return oracle.stableSoFar() >= commitTimestamp
            && !oracle.inDoubt().contains(commitTimestamp);
      }

      @Override
      public CompletableFuture<Boolean> ask() {
        return oracle.latestInDoubt().handle((set, failure) -> isKnown());
      }
    };
  }
}
