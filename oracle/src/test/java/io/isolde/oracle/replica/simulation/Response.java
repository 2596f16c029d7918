// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.replica.simulation;

import io.isolde.oracle.InDoubtCommits;
import io.isolde.oracle.Outcome;
import io.isolde.oracle.replica.Answer;
import java.util.List;
import java.util.Optional;

/** What a member sends back. */
sealed interface Response {
  /** Ask another; perhaps it was done nevertheless. */
  record NotLeader() implements Response {}

  record Started(long startTimestamp, long epoch) implements Response {}

  /**
   * To a command.
   *
   * @param isApplied whether the leader has applied the commit, and what is stable is of a moment
   *     after that
   */
  record Answered(Answer answer, long stable, long epoch, boolean isApplied) implements Response {}

  record Stable(long stable, long epoch) implements Response {}

  /**
   * Of a lease, and of what was told with it.
   *
   * @param unlogged those of which the log does not know that they are applied
   */
  record RenewedLease(boolean isOpen, long stable, long epoch, List<Long> unlogged)
      implements Response {}

  record DeclareInDoubt(InDoubtCommits set) implements Response {}

  record Known(Optional<Outcome> outcome) implements Response {}
}
