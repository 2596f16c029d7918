// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft;

import io.isolde.raft.ratis.RaftReplica;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Optional;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.server.raftlog.RaftLog;

/**
 * What a state machine was given before, as long as the log has it: from the state that was saved
 * before the last one on, at least.
 */
public final class LogEntries {
  private final RaftLog log;

  public LogEntries(RaftReplica replica) {
    this.log = replica.division().getRaftLog();
  }

  /**
   * An entry that was applied. May read from disk.
   *
   * @return empty if it is no longer there
   */
  public Optional<ByteBuffer> read(long index) throws IOException {
    if (index < log.getStartIndex()) {
      return Optional.empty();
    }
    LogEntryProto entry = log.get(index);
    return entry == null || !entry.hasStateMachineLogEntry()
        ? Optional.empty()
        : Optional.of(entry.getStateMachineLogEntry().getLogData().asReadOnlyByteBuffer());
  }
}
