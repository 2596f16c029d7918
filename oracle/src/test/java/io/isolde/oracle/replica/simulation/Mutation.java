// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.replica.simulation;

/** Mistakes that an adapter or a coordinator could make; some invariant must notice each. */
enum Mutation {
  NONE,
  /** Entries do not carry the largest start timestamp given out. */
  SKIP_FLOOR,
  /** Start timestamps are given before the first entry of the leader is applied. */
  SERVE_BEFORE_FIRST_ENTRY,
  /** Start timestamps are given, up to what is reserved, after another leader's entries came. */
  SERVE_AFTER_THE_NEXT_LEADER,
  /** Start timestamps are given without making sure that the member still leads. */
  SKIP_LEASE_CHECK,
  /** An entry whose fate is unknown is taken for one that will not be applied. */
  DROP_WHAT_MAY_BE_APPLIED,
  /** A commit that is sent again is decided again, as if recent decisions were forgotten. */
  FORGET_RECENT_DECISIONS,
  /** A restarted member begins with a state older than the log that it goes on with. */
  RESTART_WITH_A_GAP,
  /** The oracle is told that writes are applied before they are. */
  TELL_APPLIED_TOO_EARLY,
  /** A coordinator does not tell the next leader again what is applied. */
  TELL_APPLIED_ONCE,
  /** A leader that was replaced takes commits that it has not heard of for logged and applied. */
  TAKE_UNHEARD_OF_FOR_LOGGED,
  /** Start timestamps are given before the leader knows what the one before knew. */
  SERVE_BEFORE_CAUGHT_UP,
  /** The client is told of its success before stable has reached its commit. */
  TELL_SUCCESS_TOO_EARLY,
  /** The leader's word that a commit is applied is taken for its word that it is visible. */
  TAKE_HEARD_FOR_VISIBLE,
  /** Writes do not wait for the earlier commits that they overwrite. */
  SKIP_APPLY_AFTER,
  /**
   * A leader applies a commit for its coordinator though an earlier one that it replaces is not.
   */
  APPLY_OUT_OF_ORDER_AT_THE_LEADER,
  /** A commit request lacks what was read, and what is overwritten. */
  SEND_NO_READS,
  /** At SNAPSHOT, a commit request lacks what conditions have read. */
  SEND_NO_CONDITIONS,
  /** That a condition does not hold is answered as of a snapshot that may be old. */
  ANSWER_FROM_AN_OLD_SNAPSHOT,
  /** The oldest start that a coordinator tells leaves out starts that are under way. */
  FORGET_STARTS_UNDER_WAY,
  /** A coordinator uses a snapshot without having asked what is in doubt below it. */
  USE_SNAPSHOTS_WITHOUT_THEIR_SET,
  /** A leader tells of a snapshot, and of the epoch of a moment before. */
  TELL_AN_EARLIER_EPOCH,
  /** A reader does not wait for what is in doubt. */
  READ_WHAT_IS_IN_DOUBT,
  /** Writes do not wait for the commits that they overwrite if these are in doubt. */
  OVERWRITE_WHAT_IS_IN_DOUBT,
  /** A node notes a snapshot, and not what is in doubt below it. */
  CHECKPOINT_WITHOUT_WHAT_IS_IN_DOUBT,
  /** A coordinator does not wait until all parts of a large commit are there. */
  COMMIT_BEFORE_ALL_PARTS,
  /** A coordinator takes a session that is gone for an abort. */
  TAKE_FENCED_FOR_ABORTED
}
