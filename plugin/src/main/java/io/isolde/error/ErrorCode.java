// SPDX-License-Identifier: Apache-2.0
package io.isolde.error;

/**
 * Every error of Isolde. The names are stable: clients compare them. A retryable error goes away if
 * the whole transaction is run again.
 */
public enum ErrorCode {
  /**
   * What the transaction read (or, at SNAPSHOT, wrote) was changed by another transaction since.
   */
  CONFLICT(true, KnownOutcome.NOT_COMMITTED),
  /** The transaction is older than what the oracle remembers, so a conflict can't be excluded. */
  CONFLICT_FORGOTTEN(true, KnownOutcome.NOT_COMMITTED),
  /** The versions that the snapshot needs are gone. */
  SNAPSHOT_TOO_OLD(true, KnownOutcome.NOT_COMMITTED),
  /** The moment that AS OF names is older than what is kept; a retry would name it again. */
  AS_OF_TOO_OLD(false, KnownOutcome.NOT_COMMITTED),
  /** No transaction with this id is open on this node. */
  TRANSACTION_NOT_FOUND(false, KnownOutcome.UNKNOWN),
  /** The transaction was open for too long, or idle for too long. */
  TRANSACTION_EXPIRED(true, KnownOutcome.NOT_COMMITTED),
  /** The transaction was rolled back before, by ROLLBACK or by an error that ended it. */
  TRANSACTION_ROLLED_BACK(false, KnownOutcome.NOT_COMMITTED),
  /** At COMMIT: the user may no longer write what the transaction has written. */
  PERMISSION_REVOKED(false, KnownOutcome.NOT_COMMITTED),
  /**
   * A statement of the transaction failed, so that nothing of it can be committed; or KILL
   * TRANSACTION has ended it.
   */
  TRANSACTION_ABORTED(false, KnownOutcome.NOT_COMMITTED),
  /** Another transaction with the same id was decided; nothing of this one is committed. */
  TRANSACTION_ID_TAKEN(false, KnownOutcome.NOT_COMMITTED),
  /** START TRANSACTION without an id, on a connection that others may use, too. */
  TRANSACTION_ID_REQUIRED(false, KnownOutcome.NOT_COMMITTED),
  /** START TRANSACTION on a connection, or with an id, that has an open transaction. */
  TRANSACTION_ALREADY_OPEN(false, KnownOutcome.NOT_COMMITTED),
  /** COMMIT or ROLLBACK on a connection that has no open transaction. */
  NO_TRANSACTION(false, KnownOutcome.NOT_COMMITTED),
  /** The node has as many open transactions as it is configured to have. */
  TOO_MANY_TRANSACTIONS(true, KnownOutcome.NOT_COMMITTED),
  /** The transaction reads or writes more than a transaction may. */
  TRANSACTION_TOO_LARGE(false, KnownOutcome.NOT_COMMITTED),
  /** The transaction has no savepoint of this name. */
  SAVEPOINT_NOT_FOUND(false, KnownOutcome.NOT_COMMITTED),
  /** FOR UPDATE: another transaction has the row. The transaction stays open. */
  ROW_LOCKED(true, KnownOutcome.NOT_COMMITTED),
  /** A write in a READ ONLY transaction. */
  READ_ONLY_TRANSACTION(false, KnownOutcome.NOT_COMMITTED),
  /** The table is not transactional. */
  NOT_TRANSACTIONAL(false, KnownOutcome.NOT_COMMITTED),
  /** A statement of Isolde, or a custom payload, that can't be understood; nothing was done. */
  INVALID_REQUEST(false, KnownOutcome.NOT_COMMITTED),
  /** An operator's change of members, leaders or replicas failed; a part of it may be done. */
  CHANGE_FAILED(false, KnownOutcome.UNKNOWN),
  /** AS OF a timestamp in the future, or before 1970. */
  INVALID_TIMESTAMP(false, KnownOutcome.NOT_COMMITTED),
  /** Counters add to whatever is there; a snapshot can't hold still for them. */
  UNSUPPORTED_COUNTER(false, KnownOutcome.NOT_COMMITTED),
  /** USING TIMESTAMP: the commit decides on the timestamp. */
  UNSUPPORTED_TIMESTAMP(false, KnownOutcome.NOT_COMMITTED),
  /** Schema changes, roles and permissions. */
  UNSUPPORTED_DDL(false, KnownOutcome.NOT_COMMITTED),
  /** TRUNCATE in a transaction. */
  UNSUPPORTED_TRUNCATE(false, KnownOutcome.NOT_COMMITTED),
  /** A query that only the newest state of an index can answer. */
  UNSUPPORTED_INDEX_QUERY(false, KnownOutcome.NOT_COMMITTED),
  /** Another row has a value that a unique index allows once. */
  UNIQUE_VIOLATION(false, KnownOutcome.NOT_COMMITTED),
  /** Columns, or a table, that can't have a unique index. */
  UNSUPPORTED_UNIQUE_INDEX(false, KnownOutcome.NOT_COMMITTED),
  /** A unique index depends on it, or keeps it; DROP INDEX comes first. */
  KEPT_BY_UNIQUE_INDEX(false, KnownOutcome.NOT_COMMITTED),
  /** A table that can't be transactional. */
  UNSUPPORTED_TABLE(false, KnownOutcome.NOT_COMMITTED),
  /** A batch on a strong keyspace that more than one replica group would have to write. */
  BATCH_SPANS_GROUPS(false, KnownOutcome.NOT_COMMITTED),
  /** A node does not run an Isolde that can take part, and the change needs all nodes. */
  NODE_WITHOUT_ISOLDE(false, KnownOutcome.NOT_COMMITTED),
  /** What a strong keyspace can't do, or can't be made of. */
  UNSUPPORTED_KEYSPACE(false, KnownOutcome.NOT_COMMITTED),
  /**
   * There is no live quorum for a part of what the transaction writes; or it reads or writes rows
   * of a commit that is decided and could not be applied for long.
   */
  UNAVAILABLE(true, KnownOutcome.NOT_COMMITTED),
  /** As many watches wait on the node as may. */
  TOO_MANY_WATCHES(true, KnownOutcome.NOT_COMMITTED),
  /** The oracle has more undecided work than it may have. */
  ORACLE_OVERLOADED(true, KnownOutcome.NOT_COMMITTED),
  /** No leader of the oracle answered in time. */
  ORACLE_UNAVAILABLE(true, KnownOutcome.NOT_COMMITTED),
  /** The coordinator was cut off for longer than its lease, and may not commit what it began. */
  COORDINATOR_FENCED(true, KnownOutcome.NOT_COMMITTED),
  /** No snapshot of this name, or the table is not in it. */
  SNAPSHOT_NOT_FOUND(false, KnownOutcome.NOT_COMMITTED),
  /** The name is taken. */
  SNAPSHOT_EXISTS(false, KnownOutcome.NOT_COMMITTED),
  /** The snapshot could not be made on all replicas, so it is on none. */
  SNAPSHOT_FAILED(true, KnownOutcome.NOT_COMMITTED),
  /** The snapshot is being made, or writes wait for one. */
  SNAPSHOT_UNAVAILABLE(true, KnownOutcome.NOT_COMMITTED),
  /** A snapshot does not change. */
  SNAPSHOT_READ_ONLY(false, KnownOutcome.NOT_COMMITTED),
  /** Committed, but not yet visible to everybody; it will be. */
  APPLY_PENDING(false, KnownOutcome.COMMITTED),
  /** It could not be found out whether the transaction is committed. */
  OUTCOME_UNKNOWN(false, KnownOutcome.UNKNOWN);

  /** What is known about the transaction when the error is reported. */
  public enum KnownOutcome {
    NOT_COMMITTED,
    COMMITTED,
    UNKNOWN
  }

  private final boolean retryable;
  private final KnownOutcome outcome;

  ErrorCode(boolean retryable, KnownOutcome outcome) {
    this.retryable = retryable;
    this.outcome = outcome;
  }

  public boolean isRetryable() {
    return retryable;
  }

  public KnownOutcome outcome() {
    return outcome;
  }
}
