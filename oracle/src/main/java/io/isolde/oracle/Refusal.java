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
   * It would replace, or has read, what a commit writes that is {@linkplain StatusOracle#inDoubt in
   * doubt}. The request may be sent again when that one is applied.
   */
  IN_DOUBT,
  /**
   * Another request has the same transaction id, and was decided; nothing of this one is committed.
   * Sending it again doesn't help.
   */
  ID_TAKEN
}
