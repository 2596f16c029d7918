// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.replica.simulation;

import io.isolde.oracle.replica.Command;
import io.isolde.oracle.replica.LogEntry;
import java.util.List;
import java.util.function.Consumer;

/**
 * An entry as the member that made it knows it.
 *
 * @param entry as its leadership made it
 */
record Proposal(LeaderState leaderState, LogEntry entry, List<Item> items) {

  /**
   * A command, and who wants the answer.
   *
   * @param isToBeApplied whether the leader is to apply it, if it is a commit
   */
  record Item(Command command, boolean isToBeApplied, Consumer<Response> reply) {}
}
