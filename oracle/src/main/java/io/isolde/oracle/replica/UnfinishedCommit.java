// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.replica;

import io.isolde.oracle.PendingCommit;
import java.util.List;

/**
 * A decided commit whose coordinator is gone, or has not got it applied in time, with all that it
 * takes to finish it.
 *
 * @param isOrphan whether its coordinator is gone; else that may be applying it just now
 * @param applyAfter its writes may be applied when it is their turn, as {@link
 *     io.isolde.oracle.Decision.Committed#applyAfter} says
 * @param writeSet as its coordinator gave it, in parts: one byte string, cut; empty if it gave
 *     none, so that nobody can finish it
 */
public record UnfinishedCommit(
    PendingCommit commit, boolean isOrphan, long applyAfter, List<byte[]> writeSet) {
  public UnfinishedCommit {
    writeSet = List.copyOf(writeSet);
  }
}
