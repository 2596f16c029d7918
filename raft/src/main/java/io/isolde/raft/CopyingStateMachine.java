// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;

/**
 * A state machine whose state has a place of its own, and is durable there up to some entry. A
 * member that needs what the leader's log does not have any more copies the leader's state by
 * itself.
 */
public non-sealed interface CopyingStateMachine extends StateMachine {
  /**
   * Goes on from the state that is durable: at the start, and after {@link #copyFrom}.
   *
   * @param directory of the group, for small files
   * @return as {@link #saved}
   * @throws IOException if it can't; then the replica does not start
   */
  LogPosition open(Path directory) throws IOException;

  /**
   * The last entry of those that are durable in the state. {@link LogPosition#NONE} if there are
   * none. The log up to there may go; it stays until this tells of a later one, for followers that
   * are behind. Any thread may ask, at any time.
   */
  LogPosition saved();

  /** Called after every few entries: makes the state durable if it is time for that, later. */
  void saveIfDue();

  /**
   * The log that this member needs is gone. Copies what the leader has. Entries come to be applied
   * again after {@link #open} only. If it fails, it is asked for again at once.
   *
   * @return completes with the last entry that is in the copy, durably
   */
  CompletableFuture<LogPosition> copyFrom(Peer leader);
}
