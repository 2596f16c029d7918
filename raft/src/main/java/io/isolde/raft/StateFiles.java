// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft;

import java.io.IOException;
import java.nio.file.Path;

/** Where one member saves the states of a {@link FileStateMachine}. Thread-safe. */
public interface StateFiles {
  /**
   * The file to write a state to. It counts for nothing before it is finished: a start deletes it.
   */
  Path unfinished(LogPosition at);

  /**
   * From now on the state at this position counts, and the log up to there may go. Its file must be
   * on disk; that it counts is so when this returns.
   */
  void finish(LogPosition at) throws IOException;
}
