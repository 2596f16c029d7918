// SPDX-License-Identifier: Apache-2.0
package io.isolde.replicated;

import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import io.isolde.oracle.CommitRequest;
import io.isolde.oracle.InDoubtCommits;
import io.isolde.oracle.Outcome;
import io.isolde.oracle.group.Decided;
import io.isolde.oracle.group.Stable;
import io.isolde.oracle.replica.Command;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;

/**
 * The status oracle as coordinators use it; see {@link io.isolde.oracle.StatusOracle} for what each
 * call promises. Thread-safe. Timestamps are microseconds.
 */
public interface Oracle {
  /**
   * Opens a transaction and gives its start timestamp.
   *
   * @return may be completed by a thread that must not block; fails with {@link IsoldeException},
   *     with TRANSACTION_ALREADY_OPEN if one of this id is decided: a commit would only get the
   *     answer of that one
   */
  CompletableFuture<Long> begin(UUID transactionId);

  /**
   * A newer snapshot for a transaction that is open. What it has begun with stays registered.
   *
   * @throws IsoldeException TRANSACTION_ALREADY_OPEN if it is decided: somebody has aborted it
   */
  long beginAgain(UUID transactionId);

  static IsoldeException alreadyDecided(UUID transactionId) {
    return IsoldeException.of(
        ErrorCode.TRANSACTION_ALREADY_OPEN,
        "The transaction " + transactionId + " has ended already; take a fresh id.",
        "transaction",
        transactionId);
  }

  /** Opens a reader of the past. */
  void beginAt(UUID transactionId, long snapshot);

  /**
   * Asks for a decision.
   *
   * @param writeSet what others need to finish the commit if this node can't
   * @param isToBeApplied whether the oracle's leader is asked to apply the commit at once; it may
   *     leave that to the coordinator
   * @return may be completed by a thread that must not block; fails with {@link IsoldeException}
   */
  CompletableFuture<Decided> commit(CommitRequest request, byte[] writeSet, boolean isToBeApplied);

  /**
   * Brings a part of the writes of a large commit into the oracle's log.
   *
   * @param staging names the writes: a fresh one for each attempt
   * @param number from 0; the part before has been answered
   * @param totalBytes of all parts
   * @return may be completed by a thread that must not block; fails with {@link IsoldeException},
   *     with ORACLE_OVERLOADED if there is no room now, and TRANSACTION_TOO_LARGE if there never is
   */
  CompletableFuture<Void> stage(UUID staging, int number, int totalBytes, byte[] part);

  /** No commit will take these writes. Does not wait. */
  void unstage(UUID staging);

  /**
   * As {@link #commit}, of writes that were {@linkplain #stage staged}. The commit is {@linkplain
   * #inDoubt() in doubt} until it is applied.
   */
  CompletableFuture<Decided> commitStaged(CommitRequest request, Command.Staged staged);

  /** How large a commit may be, ids and writes that are not staged, in bytes. */
  int maxCommitBytes();

  /**
   * Tells that the commit is on a quorum of every replica set.
   *
   * @param byLeader what was stable at the oracle's leader when it had applied the commit itself;
   *     empty if others have applied it
   * @return as {@link #whenStable}, for the commit
   */
  CompletableFuture<Void> applied(long commitTimestamp, Optional<Stable> byLeader);

  /** Ends a transaction that does not ask for a decision. */
  void end(UUID transactionId);

  /**
   * Completes when every commit up to this timestamp is applied, or {@linkplain #inDoubt() set
   * aside}. Who gives up waiting, cancels.
   */
  CompletableFuture<Void> whenStable(long timestamp);

  /**
   * As {@link #whenStable}, but not before the oracle would know it after a failure, too, so that
   * nobody applies any of these commits again.
   */
  CompletableFuture<Void> whenLogged(long timestamp);

  /**
   * The commits that are not applied although snapshots above them are given out, as far as this
   * node has heard. Asked after any snapshot, it has all that are at or below that. Costs nothing.
   */
  InDoubtCommits inDoubt();

  /**
   * The same, as the oracle has it now.
   *
   * @return may be completed by a thread that must not block; fails if nobody tells in time
   */
  CompletableFuture<InDoubtCommits> latestInDoubt();

  /** The newest snapshot that can be read. */
  long stable();

  /** The newest snapshot that this node has heard of. Costs nothing. */
  long stableSoFar();

  /** A fresh timestamp, above all in use. */
  long next();

  /** Nothing at or below this timestamp will be given out any more. */
  void advanceTo(long timestamp);

  Optional<Outcome> outcome(UUID transactionId);

  /**
   * How a transaction was decided; if it was not, it is aborted, so that it never will be
   * committed.
   *
   * @param startTimestamp of the transaction
   * @return empty if that can't be told
   */
  Optional<Outcome> resolve(UUID transactionId, long startTimestamp);
}
