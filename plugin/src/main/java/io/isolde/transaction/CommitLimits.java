// SPDX-License-Identifier: Apache-2.0
package io.isolde.transaction;

import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import io.isolde.oracle.CommitRequest;
import io.isolde.oracle.InDoubtCommits;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

/**
 * How large a commit may be, and how long it may take. What is more is refused here, where it is
 * known that nothing is committed, and why.
 *
 * @param entryBytes what an entry of the oracle's log takes: the ids, and writes that are not large
 * @param writeBytes {@code transaction_max_write_size}
 * @param commitTimeoutMillis {@code commit_timeout}, of a small one
 */
record CommitLimits(int entryBytes, long writeBytes, long commitTimeoutMillis) {
  /** A commit may take a second longer to apply for each of so many bytes. */
  private static final long BYTES_PER_SECOND_MORE = 4 << 20;

  /** What an entry takes besides many ids. */
  private static final long MAX_BYTES_OF_MANY_ROWS = 4 << 20;

  /**
   * A transaction's statements are refused earlier; a statement of its own is not.
   *
   * @throws IsoldeException TRANSACTION_TOO_LARGE
   */
  void checkSize(UUID transactionId, long bytes) {
    if (bytes > writeBytes) {
      throw IsoldeException.of(
          ErrorCode.TRANSACTION_TOO_LARGE,
          "The commit writes "
              + bytes
              + " bytes; write less in one, or raise transaction_max_write_size.",
          "transaction",
          transactionId,
          "limit",
          "transaction_max_write_size",
          "limit_bytes",
          writeBytes);
    }
  }

  /** How long a commit may take to be visible, and to be staged before that if it is large. */
  long timeoutMillis(long bytes) {
    return commitTimeoutMillis + TimeUnit.SECONDS.toMillis(1) * bytes / BYTES_PER_SECOND_MORE;
  }

  /**
   * Whether the writes are staged before the decision. The set of what is in doubt must have room
   * for the ids then; small writes of more rows go with the decision, and hold up others.
   *
   * @throws IsoldeException TRANSACTION_TOO_LARGE
   */
  boolean isLarge(CommitRequest request, long bytes) {
    boolean isOfMany = request.writes().length > InDoubtCommits.MAX_LARGE_IDS;
    if (isOfMany && bytes > MAX_BYTES_OF_MANY_ROWS) {
      throw IsoldeException.of(
          ErrorCode.TRANSACTION_TOO_LARGE,
          "The commit writes to too many rows (or cells, where conflicts are by cell) and"
              + " partitions, "
              + request.writes().length
              + "; write to fewer in one.",
          "transaction",
          request.transactionId(),
          "limit_rows_and_partitions",
          InDoubtCommits.MAX_LARGE_IDS);
    }
    return bytes >= LargeCommits.LARGE_BYTES && !isOfMany;
  }

  /**
   * Whatever goes with the decision must fit into an entry.
   *
   * @throws IsoldeException TRANSACTION_TOO_LARGE
   */
  void checkFits(CommitRequest request, byte[] writeSet) {
    long ids =
        (long) request.reads().length + request.overwrites().length + request.writes().length;
    long bytes = writeSet.length + Long.BYTES * ids;
    if (bytes > entryBytes) {
      throw IsoldeException.of(
          ErrorCode.TRANSACTION_TOO_LARGE,
          "The commit takes "
              + bytes
              + " bytes, more than an entry of the oracle's log; read and write fewer rows in one.",
          "transaction",
          request.transactionId(),
          "limit_bytes",
          entryBytes);
    }
  }
}
