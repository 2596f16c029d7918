// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle;

import static java.util.Objects.requireNonNull;

import java.util.UUID;

/**
 * Why a transaction was aborted.
 *
 * @param kind what was found
 * @param id the read or overwritten id that is in conflict
 * @param committedAt the commit timestamp of the other transaction, in microseconds; for {@link
 *     Kind#FORGOTTEN} an upper bound of it
 * @param by the other transaction; null if it is no longer known
 */
public record Conflict(Kind kind, long id, long committedAt, UUID by) {

  /** What an abort is due to. */
  public enum Kind {
    /** An id that was read has been committed since (SERIALIZABLE). */
    READ_WRITE,
    /** An id that was to be replaced has been committed since (SNAPSHOT). */
    WRITE_WRITE,
    /** The oracle no longer knows whether there is a conflict: the transaction is too old. */
    FORGOTTEN
  }

  public Conflict {
    requireNonNull(kind);
  }
}
