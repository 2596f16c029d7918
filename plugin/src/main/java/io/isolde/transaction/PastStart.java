// SPDX-License-Identifier: Apache-2.0
package io.isolde.transaction;

import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import io.isolde.replicated.Oracle;
import java.util.UUID;

/** The start of a transaction that reads the past. */
final class PastStart {
  private PastStart() {}

  /**
   * Begins to hold what is visible at a timestamp, and returns the timestamp of that.
   *
   * @throws IsoldeException INVALID_TIMESTAMP if it is not in the past; TRANSACTION_ALREADY_OPEN if
   *     the transaction is decided
   */
  static long begin(Oracle oracle, UUID id, long asOfMicros) {
    if (oracle.outcome(id).isPresent()) {
      throw Oracle.alreadyDecided(id);
    }
    // Commits have even timestamps: the odd one in between sees the same.
    long asOf = asOfMicros & ~1L;
    long stable = oracle.stable();
    if (asOf > stable && asOf <= oracle.next()) {
      stable = oracle.stable(); // It had stood still, as nobody had begun anything.
    }
    if (asOf > stable || asOf < 0) {
      throw IsoldeException.of(
          ErrorCode.INVALID_TIMESTAMP,
          "AS OF takes microseconds since 1970, up to "
              + stable
              + " by now; "
              + asOfMicros
              + (asOf < 0 ? " is before 1970." : " is not in the past."),
          "as_of",
          asOfMicros,
          "stable",
          stable);
    }
    oracle.beginAt(id, asOf);
    return asOf;
  }
}
