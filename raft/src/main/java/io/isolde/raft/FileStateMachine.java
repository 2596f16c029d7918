// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft;

import java.io.IOException;
import java.nio.file.Path;

/**
 * A state machine that saves its state in files. A leader sends the newest one to a member that
 * needs what its log does not have any more.
 */
public non-sealed interface FileStateMachine extends StateMachine {
  /**
   * Goes on from a saved state, in the place of what it has: at the start, if there is one, and
   * when a leader has sent its own.
   *
   * @param at the last entry that is in it
   * @param file of the same bytes as when it was finished
   * @throws IOException if it can't; then the replica does not start
   */
  void restore(LogPosition at, Path file) throws IOException;

  /**
   * Called after every few entries: saves the state if it is time for that, in the background.
   *
   * @param at the last entry that is applied
   */
  void saveIfDue(LogPosition at, StateFiles files);
}
