// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle;

import static java.util.Objects.requireNonNull;

import java.util.UUID;

/**
 * Asks the oracle to decide a transaction. Ids are 64-bit hashes of rows, or of coarser things such
 * as partitions and token ranges; the oracle sees no difference. The three sets are the caller's
 * choice: it decides which coarse ids a statement reads, replaces or touches. Repeated ids do no
 * harm.
 *
 * <p>The arrays are not copied; the caller leaves them alone afterwards.
 *
 * @param transactionId used for one transaction only; null for one that nobody will ask about, such
 *     as a single statement, whose decision is not kept
 * @param level what to check
 * @param startTimestamp the snapshot that the transaction read, in microseconds
 * @param reads ids that nobody may have changed since the snapshot; checked at both levels. At
 *     {@link IsolationLevel#SERIALIZABLE} all that was read, also where nothing was found. At
 *     {@link IsolationLevel#SNAPSHOT} what conditions (IF) have read
 * @param overwrites ids whose earlier commits this one replaces; checked at {@link
 *     IsolationLevel#SNAPSHOT}, and the reason for {@link Decision.Committed#applyAfter()}
 * @param writes ids that count as changed by this commit; never empty, since a transaction that
 *     wrote nothing needs no decision (section 4.1)
 */
@SuppressWarnings("ArrayRecordComponent") // for speed; requests are never compared
public record CommitRequest(
    UUID transactionId,
    IsolationLevel level,
    long startTimestamp,
    long[] reads,
    long[] overwrites,
    long[] writes) {

  public CommitRequest {
    requireNonNull(level, "A commit request needs an isolation level.");
    requireNonNull(reads, "A commit request needs its reads; they may be empty.");
    requireNonNull(overwrites, "A commit request needs its overwrites; they may be empty.");
    if (writes.length == 0) {
      throw new IllegalArgumentException(
          "Transaction " + transactionId + " wrote nothing, so there is nothing to commit.");
    }
  }
}
