// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle;

/** Why a commit request was not decided. */
public enum Refusal {
  /**
   * {@link OracleConfig#maxPendingCommits} are decided but not applied. The request may be sent
   * again.
   */
  TOO_MANY_PENDING,
  /**
   * It would replace, or has read, what a commit writes that is {@linkplain StatusOracle#setAside
   * set aside}. The request may be sent again when that one is applied.
   */
  IN_DOUBT,
  /**
   * The transaction is not open, and so old that an earlier request of it may have been decided and
   * {@linkplain OracleConfig#maxOutcomes forgotten}. Deciding it again could commit it twice, or
   * call aborted what is committed. Sending it again doesn't help: its outcome is unknown, unless
   * the caller knows that it never sent the request before.
   */
  OUTCOME_FORGOTTEN
}
