// SPDX-License-Identifier: Apache-2.0
package io.isolde.config;

/**
 * Of the transactions whose coordinator is this node.
 *
 * @param maxOpen {@code max_open_transactions}. Default 10000. Too small: clients get
 *     TOO_MANY_TRANSACTIONS under load. Too big: abandoned transactions take memory until they idle
 *     out.
 * @param maxAgeMillis {@code transaction_max_age}: after this a transaction is ended, whatever it
 *     does. Default 5m. Too small: long exports fail. Too big: one forgotten busy reader holds old
 *     versions for as long.
 * @param maxIdleMillis {@code transaction_max_idle}: after this without a statement a transaction
 *     is ended. Default 60s. Too small: a client that thinks loses its transaction. Too big:
 *     abandoned transactions hold old versions for as long.
 * @param maxWriteBytes {@code transaction_max_write_size}: of the buffered writes of one
 *     transaction. Default a 64th of the heap, 4MiB to 64MiB, and at most 64MiB. Too small:
 *     TRANSACTION_TOO_LARGE for bulk loads. Too big: one transaction may take all the memory that
 *     the node, and each member of the oracle, has for writes.
 * @param maxReads {@code transaction_max_reads}: rows and ranges that a serializable transaction
 *     may have read. Default 100000. Too small: TRANSACTION_TOO_LARGE for large readers (READ ONLY
 *     ones are not counted). Too big: memory, and a slow commit.
 * @param commitTimeoutMillis {@code commit_timeout}: how long COMMIT waits until the commit is
 *     applied and visible. Default 10s. Too small: APPLY_PENDING under load. Too big: clients give
 *     up first and have to ask for the outcome.
 * @param conflictLogSize {@code conflict_log_size}: of the last conflicts, shown in {@code
 *     isolde.conflicts}. Default 1000. Too small: the conflict that you look for is gone already.
 *     Too big: memory, half a kilobyte each.
 * @param maxTimestampLeadMicros {@code max_timestamp_lead}: how far in the future the data of a
 *     table may lie that becomes transactional; new timestamps start above it. Default 60s. Too
 *     small: tables written by a client with a fast clock are refused. Too big: timestamps run
 *     ahead of the wall clock.
 */
public record TransactionSettings(
    int maxOpen,
    long maxAgeMillis,
    long maxIdleMillis,
    long maxWriteBytes,
    int maxReads,
    long commitTimeoutMillis,
    int conflictLogSize,
    long maxTimestampLeadMicros) {
  private static final int MAX_CONFLICTS = 1_000_000;
  private static final long MAX_WRITE_BYTES = 64 * IsoldeConfig.MIB;

  public TransactionSettings {
    IsoldeConfig.require(maxOpen >= 1, "max_open_transactions must be at least 1.");
    IsoldeConfig.require(maxAgeMillis >= 1000, "transaction_max_age must be at least 1s.");
    IsoldeConfig.require(maxIdleMillis >= 100, "transaction_max_idle must be at least 100ms.");
    IsoldeConfig.require(
        maxIdleMillis <= maxAgeMillis,
        "transaction_max_idle must not be longer than transaction_max_age.");
    IsoldeConfig.require(
        maxWriteBytes >= 1024, "transaction_max_write_size must be at least 1KiB.");
    IsoldeConfig.require(
        maxWriteBytes <= MAX_WRITE_BYTES,
        "transaction_max_write_size must be at most 64MiB: the oracle's members keep what is"
            + " committed in memory until it is applied.");
    IsoldeConfig.require(maxReads >= 1, "transaction_max_reads must be at least 1.");
    IsoldeConfig.require(commitTimeoutMillis >= 100, "commit_timeout must be at least 100ms.");
    IsoldeConfig.require(
        conflictLogSize >= 1 && conflictLogSize <= MAX_CONFLICTS,
        "conflict_log_size must be between 1 and 1000000.");
    IsoldeConfig.require(maxTimestampLeadMicros >= 0, "max_timestamp_lead must not be negative.");
  }

  static TransactionSettings of(IsoldeYaml file, HeapBudget heap) {
    return new TransactionSettings(
        file.count("max_open_transactions", 10_000),
        file.millis("transaction_max_age", "5m"),
        file.millis("transaction_max_idle", "60s"),
        file.bytes("transaction_max_write_size", heap.transactionBytes()),
        file.count("transaction_max_reads", 100_000),
        file.millis("commit_timeout", "10s"),
        file.count("conflict_log_size", 1000),
        file.micros("max_timestamp_lead", "60s"));
  }
}
