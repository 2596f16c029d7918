// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.replica.simulation;

import io.isolde.oracle.replica.Command;
import java.util.UUID;

/** What a coordinator sends to a member. */
sealed interface Request {
  /**
   * Asks for a start timestamp.
   *
   * @param told the largest commit timestamp that any client knew to be successful when this was
   *     sent first
   */
  record Begin(long told) implements Request {}

  /** Answered when it is applied; {@link Command.Applied} when stable has reached it. */
  record Execute(Command command) implements Request {}

  record Renew(long session, long oldestStart) implements Request {}

  /**
   * Asks for the commits that are set aside.
   *
   * @param need an epoch that others have heard of: a leader knows it
   */
  record SetAside(long need) implements Request {}

  record Ask(UUID transactionId) implements Request {}
}
