// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.replica;

import io.isolde.oracle.PendingCommit;

/**
 * A decided commit whose coordinator is gone, or has not got it applied in time, with all that it
 * takes to finish it.
 *
 * @param isOrphan whether its coordinator is gone; else that may be applying it just now
 * @param applyAfter its writes may be applied when it is their turn, as {@link
 *     io.isolde.oracle.Decision.Committed#applyAfter} says
 * @param writeSet as its coordinator gave it; empty if it gave none, so that nobody can finish it
 */
@SuppressWarnings("ArrayRecordComponent") // opaque; never compared
public record UnfinishedCommit(
    PendingCommit commit, boolean isOrphan, long applyAfter, byte[] writeSet) {}
