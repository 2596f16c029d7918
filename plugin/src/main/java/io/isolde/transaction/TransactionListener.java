// SPDX-License-Identifier: Apache-2.0
package io.isolde.transaction;

/** Hears what becomes of this node's transactions. Called by their threads, so it must be quick. */
public interface TransactionListener {
  /**
   * A client has opened a transaction.
   *
   * @param nanos that it took to get the start timestamp
   */
  void begun(long nanos);

  /**
   * Writes are committed and visible: those of a transaction, or of a statement of its own.
   *
   * @param nanos from the request for a decision on
   */
  void committed(long nanos);

  /**
   * Decided writes are on a quorum.
   *
   * @param nanos from the decision on
   */
  void applied(long nanos);

  /** Decided writes are on a quorum: the oracle's leader has brought them there. */
  void appliedByLeader();

  /**
   * Writes that are on a quorum are visible, as all commits before them.
   *
   * @param nanos from when they were on a quorum
   */
  void visible(long nanos);

  /** A transaction that wrote nothing was committed. */
  void committedNothing();

  /** Writes are committed, but the client is told that they are not visible yet. */
  void applyPending();

  /** A statement or a commit needs what is decided and not applied, and waits for it, or fails. */
  void inDoubt();

  void conflicted(SeenConflict conflict);

  /** A statement with IF is decided again, as others have changed what it had read. */
  void decidedAgain();

  void rolledBack();

  void expired();
}
