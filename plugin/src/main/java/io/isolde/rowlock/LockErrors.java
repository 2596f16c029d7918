// SPDX-License-Identifier: Apache-2.0
package io.isolde.rowlock;

import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import io.isolde.oracle.lock.LockTable;

/** What clients hear if they don't get a lock. */
final class LockErrors {
  private LockErrors() {}

  static IsoldeException locked(RowLocks.Wanted wanted, LockTable.Answer answer) {
    String by = answer.inTheWay().map(other -> " by the transaction " + other).orElse("");
    return IsoldeException.of(
        ErrorCode.ROW_LOCKED,
        switch (answer.outcome()) {
          case DEADLOCK ->
              "%s is locked%s, which waits for this transaction. Roll back, and run it again."
                  .formatted(wanted.name(), by);
          case WAITS ->
              "%s is still locked%s after the wait. The transaction is open: try again, or roll back."
                  .formatted(wanted.name(), by);
          default ->
              "%s is locked%s. The transaction is open: try again, or roll back."
                  .formatted(wanted.name(), by);
        },
        "transaction",
        wanted.transaction());
  }

  static IsoldeException tooMany(RowLocks.Wanted wanted) {
    return IsoldeException.of(
        ErrorCode.TRANSACTION_TOO_LARGE,
        "A transaction locks "
            + LockTable.MAX_ROWS_EACH
            + " rows at most, and all together some 200,000; lock fewer.",
        "transaction",
        wanted.transaction());
  }

  static IsoldeException unavailable(RowLocks.Wanted wanted) {
    return IsoldeException.of(
        ErrorCode.ORACLE_UNAVAILABLE,
        "No leader of the oracle answers, which keeps the locks. Try again.",
        "transaction",
        wanted.transaction());
  }
}
