// SPDX-License-Identifier: Apache-2.0
package io.isolde.transaction;

import io.isolde.conflict.Granule;
import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import io.isolde.oracle.Conflict;
import io.isolde.oracle.Refusal;
import java.util.UUID;

/** The errors of commits, as their clients get them. */
final class CommitErrors {
  private CommitErrors() {}

  /** Committed, but not visible in time. */
  static IsoldeException pending(UUID transactionId, long commitTimestamp) {
    return IsoldeException.of(
        ErrorCode.APPLY_PENDING,
        "The transaction is committed but not visible to all yet, it will be; do not run it"
            + " again.",
        "transaction",
        transactionId,
        "commit_timestamp",
        commitTimestamp);
  }

  /** Not committed, for a reason of the oracle's. */
  static IsoldeException refused(UUID transactionId, Refusal reason) {
    return switch (reason) {
      case TOO_MANY_PENDING ->
          IsoldeException.of(
              ErrorCode.ORACLE_OVERLOADED,
              "Too many commits are waiting to be applied; nothing was committed, try again.",
              "transaction",
              transactionId);
      case IN_DOUBT ->
          IsoldeException.of(
              ErrorCode.UNAVAILABLE,
              "It writes rows of another commit that is decided but not applied yet, as its"
                  + " replicas or its coordinator do not answer; nothing was committed, try again.",
              "transaction",
              transactionId);
      case ID_TAKEN -> Transactions.idTaken(transactionId);
    };
  }

  /**
   * Aborted because of a conflict.
   *
   * @param granule what it is about; null if that is not known
   */
  static IsoldeException conflict(UUID transactionId, Conflict conflict, Granule granule) {
    if (conflict.kind() == Conflict.Kind.FORGOTTEN) {
      return IsoldeException.of(
          ErrorCode.CONFLICT_FORGOTTEN,
          "The transaction started before the oldest commit that is remembered, so a conflict"
              + " cannot be excluded; run it again.",
          "transaction",
          transactionId);
    }
    if (conflict.kind() == Conflict.Kind.REQUESTED) {
      return IsoldeException.of(
          ErrorCode.CONFLICT,
          "The transaction was aborted on request, to make sure that it is decided; run it again.",
          "transaction",
          transactionId);
    }
    assert granule != null : "the oracle reports an id that it was given";
    boolean isOfReads = conflict.kind() == Conflict.Kind.READ_WRITE;
    return IsoldeException.of(
        ErrorCode.CONFLICT,
        "The transaction "
            + (isOfReads ? "read " : "writes ")
            + granule.tableName()
            + " "
            + granule.keyName()
            + ", which another transaction has written since; run it again.",
        "transaction",
        transactionId,
        "table",
        granule.tableName(),
        "key",
        granule.keyName(),
        "kind",
        isOfReads ? "read_write" : "write_write",
        "committed_at",
        conflict.committedAt(),
        "by",
        conflict.by());
  }
}
