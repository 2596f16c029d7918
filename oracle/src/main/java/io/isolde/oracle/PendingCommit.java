// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle;

import java.util.UUID;

/**
 * A commit that is decided but not yet applied.
 *
 * @param transactionId null if the request had none
 * @param session who is to apply it, as told with the request; {@link #NO_SESSION} is nobody in
 *     particular
 */
public record PendingCommit(UUID transactionId, long commitTimestamp, long session) {
  /** The session of a commit that nobody in particular is to apply. */
  public static final long NO_SESSION = 0;
}
