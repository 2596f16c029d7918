// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.replica.simulation;

import io.isolde.oracle.replica.Command;
import java.util.List;
import java.util.UUID;

/** What a coordinator sends to a member. */
sealed interface Request {
  /**
   * Asks for a start timestamp.
   *
   * @param seen the largest commit timestamp that any client knew to be successful when this was
   *     sent first
   */
  record Begin(long seen) implements Request {}

  /**
   * Answered when the log has it.
   *
   * @param isToBeApplied whether the leader is to apply the commit, too
   */
  record Execute(Command command, boolean isToBeApplied) implements Request {}

  /**
   * A commit is applied.
   *
   * @param waits whether it is answered when stable has reached it, or at once
   */
  record Applied(long commitTimestamp, boolean waits) implements Request {}

  /**
   * A coordinator lives.
   *
   * @param applied commits that the log may not know to be applied
   */
  record Renew(long session, long oldestStart, List<Long> applied) implements Request {}

  /**
   * Asks for the commits in doubt.
   *
   * @param need an epoch that others have heard of: a leader knows it
   */
  record DeclareInDoubt(long need) implements Request {}

  record Ask(UUID transactionId) implements Request {}
}
