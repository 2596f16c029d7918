// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.ratis;

import io.isolde.raft.CopyingStateMachine;
import io.isolde.raft.LogPosition;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.storage.FileInfo;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.statemachine.SnapshotInfo;
import org.apache.ratis.statemachine.SnapshotRetentionPolicy;

/** A state that is durable in a place of its own: for Ratis, snapshots without files. */
final class CopiedSnapshots implements RatisSnapshots {
  private final CopyingStateMachine machine;
  private volatile Path directory;

  /** How far it is durable. */
  private record Mark(LogPosition at) implements SnapshotInfo {
    @Override
    public TermIndex getTermIndex() {
      return RatisTypes.ratis(at);
    }

    @Override
    public List<FileInfo> getFiles() {
      return List.of();
    }
  }

  CopiedSnapshots(CopyingStateMachine machine) {
    this.machine = machine;
  }

  @Override
  public void init(RaftStorage raftStorage) {
    directory = raftStorage.getStorageDir().getStateMachineDir().toPath();
  }

  @Override
  public LogPosition restore() throws IOException {
    return machine.open(directory);
  }

  @Override
  public SnapshotInfo getLatestSnapshot() {
    LogPosition saved = machine.saved();
    return saved.equals(LogPosition.NONE) ? null : new Mark(saved);
  }

  @Override
  public void saveIfDue(LogPosition applied) {
    machine.saveIfDue();
  }

  @Override
  public void format() {}

  /** There is only one state. */
  @Override
  public void cleanupOldSnapshots(SnapshotRetentionPolicy policy) {}
}
