// SPDX-License-Identifier: Apache-2.0
package io.isolde.client;

/**
 * What went wrong, as a stable code. Whether a retry helps is said by {@link
 * IsoldeException#isRetryable()}, as the server knows better than a table in the client.
 */
public enum ErrorCode {
  /** Another transaction committed a change to a row that this one wrote, or read. */
  CONFLICT,
  /** The oracle no longer remembers enough to rule out a conflict, so it refused the commit. */
  CONFLICT_FORGOTTEN,
  /** The versions that the snapshot needs have been collected. */
  SNAPSHOT_TOO_OLD,
  /** The moment that {@code AS OF} names is older than what is kept: name a later one. */
  AS_OF_TOO_OLD,
  /** The node does not know the transaction: it ended, or the node restarted. */
  TRANSACTION_NOT_FOUND,
  /** The transaction was rolled back because it was idle or open for too long. */
  TRANSACTION_EXPIRED,
  /** A statement of the transaction failed, so that nothing of it can be committed. */
  TRANSACTION_ABORTED,
  /** Another transaction with the same id was decided; nothing of this one is committed. */
  TRANSACTION_ID_TAKEN,
  /** {@code START TRANSACTION} without an id, on a connection that others may use, too. */
  TRANSACTION_ID_REQUIRED,
  /** {@code START TRANSACTION} where a transaction is open already. */
  TRANSACTION_ALREADY_OPEN,
  /** The transaction was rolled back before, and nothing of it is committed. */
  TRANSACTION_ROLLED_BACK,
  /** At COMMIT: the permission to write what the transaction has written was revoked. */
  PERMISSION_REVOKED,
  /** {@code COMMIT} or {@code ROLLBACK} without a transaction. */
  NO_TRANSACTION,
  /** The node has as many open transactions as it allows. */
  TOO_MANY_TRANSACTIONS,
  /** The transaction wrote or read more than it may. */
  TRANSACTION_TOO_LARGE,
  /** The transaction has no savepoint of this name. */
  SAVEPOINT_NOT_FOUND,
  /** {@code FOR UPDATE}: another transaction has the row. The transaction stays open. */
  ROW_LOCKED,
  /** As many watches wait on the node as may. */
  TOO_MANY_WATCHES,
  /** A write in a read-only transaction. */
  READ_ONLY_TRANSACTION,
  /** The table does not take part in transactions. */
  NOT_TRANSACTIONAL,
  /** A statement of Isolde, or a custom payload, that the server can't understand. */
  INVALID_REQUEST,
  /** An operator's change of members, leaders or replicas failed; a part of it may be done. */
  CHANGE_FAILED,
  /** The timestamp of {@code AS OF} lies in the future, or before 1970. */
  INVALID_TIMESTAMP,
  /** Counters can't be used in a transaction. */
  UNSUPPORTED_COUNTER,
  /** {@code USING TIMESTAMP} can't be used in a transaction. */
  UNSUPPORTED_TIMESTAMP,
  /** Schema changes can't be made in a transaction. */
  UNSUPPORTED_DDL,
  /** {@code TRUNCATE} can't be used in a transaction. */
  UNSUPPORTED_TRUNCATE,
  /** The query by index can't be answered in a transaction. */
  UNSUPPORTED_INDEX_QUERY,
  /** Another row has a value that a unique index allows once; the error names index and value. */
  UNIQUE_VIOLATION,
  /** There can't be such a unique index. */
  UNSUPPORTED_UNIQUE_INDEX,
  /** A unique index depends on it, or keeps it; {@code DROP INDEX} comes first. */
  KEPT_BY_UNIQUE_INDEX,
  /** This kind of table can't take part in transactions. */
  UNSUPPORTED_TABLE,
  /**
   * There is no live quorum of replicas for a part of what the transaction writes; or it reads or
   * writes rows of another one that is committed and could not be applied yet.
   */
  UNAVAILABLE,
  /** A batch on a strong keyspace that more than one replica group would have to write. */
  BATCH_SPANS_GROUPS,
  /** A node does not run an Isolde that can take part, and the change needs all nodes. */
  NODE_WITHOUT_ISOLDE,
  /** What a strong keyspace can't do, or can't be made of. */
  UNSUPPORTED_KEYSPACE,
  /** The oracle has more work than it can take at the moment. */
  ORACLE_OVERLOADED,
  /**
   * No leader of the oracle answered in time: a majority of its members must be up, and all of them
   * when it is founded.
   */
  ORACLE_UNAVAILABLE,
  /** The node was cut off from the oracle for longer than its lease, and may not commit this. */
  COORDINATOR_FENCED,
  /** There is no snapshot of this name, or the table is not in it. */
  SNAPSHOT_NOT_FOUND,
  /** There is a snapshot of this name already. */
  SNAPSHOT_EXISTS,
  /** The snapshot could not be made on all replicas, so nothing of it is left. */
  SNAPSHOT_FAILED,
  /** The snapshot is being made, or writes wait for one; it helps to try again. */
  SNAPSHOT_UNAVAILABLE,
  /** A snapshot does not change. */
  SNAPSHOT_READ_ONLY,
  /** The commit is decided, but its data has not reached enough replicas yet. */
  APPLY_PENDING,
  /** It is not known whether the transaction committed. Comes from servers and from this client. */
  OUTCOME_UNKNOWN,
  /**
   * Made by this client, never sent by a server: a request was not answered in time, its connection
   * broke, or too few replicas answered. The driver's exception is the cause.
   */
  REQUEST_FAILED,
  /** A code that this version of the client does not know; the details have its name. */
  UNKNOWN;

  static ErrorCode parse(String name) {
    for (ErrorCode code : values()) {
      if (code.name().equals(name)) {
        return code;
      }
    }
    return UNKNOWN;
  }
}
