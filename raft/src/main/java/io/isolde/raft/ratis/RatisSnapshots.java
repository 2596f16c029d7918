// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.ratis;

import io.isolde.raft.CopyingStateMachine;
import io.isolde.raft.FileStateMachine;
import io.isolde.raft.LogPosition;
import io.isolde.raft.StateMachine;
import java.io.IOException;
import org.apache.ratis.statemachine.StateMachineStorage;

/** What a state machine has saved, as Ratis asks for it: its snapshots. */
interface RatisSnapshots extends StateMachineStorage {
  /** That of a state machine. */
  static RatisSnapshots of(StateMachine machine) {
    return machine instanceof FileStateMachine file
        ? new FileSnapshots(file)
        : new CopiedSnapshots((CopyingStateMachine) machine);
  }

  /**
   * Has the state machine go on from what is saved last.
   *
   * @return the last entry that is in it; {@link LogPosition#NONE} if nothing is saved
   */
  LogPosition restore() throws IOException;

  /** See {@link FileStateMachine#saveIfDue} and {@link CopyingStateMachine#saveIfDue}. */
  void saveIfDue(LogPosition applied);
}
