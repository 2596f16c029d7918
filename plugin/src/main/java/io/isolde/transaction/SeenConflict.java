// SPDX-License-Identifier: Apache-2.0
package io.isolde.transaction;

import io.isolde.oracle.Conflict;
import java.util.UUID;

/**
 * Why a transaction of this node was aborted, in words that people understand.
 *
 * @param seenAtMillis since 1970
 * @param keyspace null, as are table and key, if it is not known what the conflict is about
 * @param key the primary key as far as it is known; * for a part of the table
 * @param transaction the one that was aborted
 * @param by the other one; null if it is not known, or was a single statement
 * @param committedAt when the other one was committed, in microseconds; for FORGOTTEN an upper
 *     bound; 0 for REQUESTED
 */
public record SeenConflict(
    long seenAtMillis,
    Conflict.Kind kind,
    String keyspace,
    String table,
    String key,
    UUID transaction,
    UUID by,
    long committedAt) {

  /** Whether another transaction is known to be in the way. */
  public boolean isTrueConflict() {
    return kind == Conflict.Kind.READ_WRITE || kind == Conflict.Kind.WRITE_WRITE;
  }
}
