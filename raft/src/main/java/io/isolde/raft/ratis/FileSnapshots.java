// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.ratis;

import io.isolde.raft.DurableFile;
import io.isolde.raft.FileStateMachine;
import io.isolde.raft.LogPosition;
import io.isolde.raft.StateFiles;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.ratis.io.MD5Hash;
import org.apache.ratis.server.storage.FileInfo;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.statemachine.SnapshotRetentionPolicy;
import org.apache.ratis.statemachine.impl.SimpleStateMachineStorage;
import org.apache.ratis.statemachine.impl.SingleFileSnapshotInfo;
import org.apache.ratis.util.MD5FileUtil;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** States in files with checksums beside them, as Ratis sends and receives them. */
final class FileSnapshots extends SimpleStateMachineStorage implements RatisSnapshots, StateFiles {
  private static final Logger log = LoggerFactory.getLogger(FileSnapshots.class);

  private static final String UNFINISHED = ".unfinished";
  private static final String CHECKSUM = ".md5";

  private final FileStateMachine machine;

  /** Whether a file has come since old ones were looked for. */
  private volatile boolean hasNew;

  FileSnapshots(FileStateMachine machine) {
    this.machine = machine;
  }

  @Override
  public void init(RaftStorage raftStorage) throws IOException {
    deleteUnfinished(raftStorage.getStorageDir().getStateMachineDir().toPath());
    super.init(raftStorage);
  }

  /** What has no checksum was not written to its end, and the log that it stands for is there. */
  private static void deleteUnfinished(Path directory) throws IOException {
    try (var files = Files.list(directory)) {
      for (Path file : files.toList()) {
        String name = file.getFileName().toString();
        boolean isState = SNAPSHOT_REGEX.matcher(name).matches();
        boolean isUnfinished =
            name.endsWith(UNFINISHED)
                || (isState && !Files.exists(file.resolveSibling(name + CHECKSUM)));
        if (isUnfinished) {
          log.warn("Deleting {}, which was not written to its end", file);
          Files.delete(file);
        }
      }
    }
  }

  /** The leader may have sent a newer one than is known. */
  @Override
  public LogPosition restore() throws IOException {
    loadLatestSnapshot();
    SingleFileSnapshotInfo saved = getLatestSnapshot();
    if (saved == null) {
      return LogPosition.NONE;
    }
    File file = saved.getFile().getPath().toFile();
    if (!MD5FileUtil.computeMd5ForFile(file).equals(saved.getFile().getFileDigest())) {
      throw new IOException(
          "The saved state in "
              + file
              + " is damaged, and the log before it is gone. Delete this member's directory, remove"
              + " the member from the group and add it again.");
    }
    hasNew = true;
    LogPosition at = RatisTypes.position(saved.getTermIndex());
    machine.restore(at, file.toPath());
    return at;
  }

  @Override
  public void saveIfDue(LogPosition applied) {
    machine.saveIfDue(applied, this);
  }

  /** Ratis calls this after each few entries, and there is seldom something new. */
  @Override
  public void cleanupOldSnapshots(SnapshotRetentionPolicy policy) throws IOException {
    if (hasNew) {
      hasNew = false;
      super.cleanupOldSnapshots(policy);
    }
  }

  @Override
  public Path unfinished(LogPosition at) {
    File file = file(at);
    return file.toPath().resolveSibling(file.getName() + UNFINISHED);
  }

  private File file(LogPosition at) {
    return getSnapshotFile(at.term(), at.index());
  }

  @Override
  public void finish(LogPosition at) throws IOException {
    Path unfinished = unfinished(at);
    File file = file(at);
    MD5Hash checksum = MD5FileUtil.computeMd5ForFile(unfinished.toFile());
    // Before the file has its name: one without a checksum counts as unfinished.
    MD5FileUtil.saveMD5File(file, checksum);
    DurableFile.rename(unfinished, file.toPath());
    updateLatestSnapshot(
        new SingleFileSnapshotInfo(new FileInfo(file.toPath(), checksum), RatisTypes.ratis(at)));
    hasNew = true;
  }
}
