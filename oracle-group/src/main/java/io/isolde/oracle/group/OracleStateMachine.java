// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import io.isolde.oracle.replica.CommandCodec;
import io.isolde.oracle.replica.LogEntry;
import io.isolde.oracle.replica.SavedReplica;
import io.isolde.raft.DurableFile;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.ratis.io.MD5Hash;
import org.apache.ratis.proto.RaftProtos.StateMachineLogEntryProto;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.raftlog.RaftLog;
import org.apache.ratis.server.storage.FileInfo;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.statemachine.StateMachineStorage;
import org.apache.ratis.statemachine.TransactionContext;
import org.apache.ratis.statemachine.impl.BaseStateMachine;
import org.apache.ratis.statemachine.impl.SimpleStateMachineStorage;
import org.apache.ratis.statemachine.impl.SingleFileSnapshotInfo;
import org.apache.ratis.util.LifeCycle;
import org.apache.ratis.util.MD5FileUtil;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Applies the log to the replica, and saves the replica now and then. */
final class OracleStateMachine extends BaseStateMachine {
  private static final Logger log = LoggerFactory.getLogger(OracleStateMachine.class);
  private static final int FILE_BUFFER_BYTES = 1 << 16;
  private static final String UNFINISHED = ".unfinished";
  private static final String CHECKSUM = ".md5";

  /** Hears what was applied, in order, on the thread that applies. */
  interface Listener {
    /**
     * An entry was applied.
     *
     * @param message the entry as this member made it; null if another one did
     */
    void onApplied(EntryMessage message, ReplicaHost.Applied applied);
  }

  private final ReplicaHost host;
  private final Listener listener;
  private final SimpleStateMachineStorage storage = new SimpleStateMachineStorage();
  private final AtomicBoolean isSaving = new AtomicBoolean();
  private final ExecutorService saver =
      Executors.newSingleThreadExecutor(
          task -> {
            Thread thread = new Thread(task, "isolde-oracle-save");
            thread.setDaemon(true);
            return thread;
          });

  /** Up to where Ratis knows that the state is saved. Only touched on the thread that applies. */
  private long reported = RaftLog.INVALID_LOG_INDEX;

  OracleStateMachine(ReplicaHost host, Listener listener) {
    this.host = host;
    this.listener = listener;
  }

  @Override
  public void initialize(RaftServer server, RaftGroupId group, RaftStorage raftStorage)
      throws IOException {
    super.initialize(server, group, raftStorage);
    storage.init(raftStorage);
    deleteUnfinished(raftStorage.getStorageDir().getStateMachineDir().toPath());
    getLifeCycle().startAndTransition(this::restore, IOException.class);
  }

  /** What has no checksum was not written to its end, and the log that it stands for is there. */
  private static void deleteUnfinished(Path directory) throws IOException {
    try (var files = Files.list(directory)) {
      for (Path file : files.toList()) {
        String name = file.getFileName().toString();
        boolean isState = SimpleStateMachineStorage.SNAPSHOT_REGEX.matcher(name).matches();
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

  /** The leader is about to send its state. */
  @Override
  public void pause() {
    getLifeCycle().transition(LifeCycle.State.PAUSING);
    getLifeCycle().transition(LifeCycle.State.PAUSED);
  }

  /** After the leader has sent its state. */
  @Override
  public void reinitialize() throws IOException {
    storage.loadLatestSnapshot();
    getLifeCycle().startAndTransition(this::restore, IOException.class);
  }

  private void restore() throws IOException {
    SingleFileSnapshotInfo saved = storage.getLatestSnapshot();
    if (saved == null) {
      return;
    }
    File file = saved.getFile().getPath().toFile();
    if (!MD5FileUtil.computeMd5ForFile(file).equals(saved.getFile().getFileDigest())) {
      throw new IOException(
          "The oracle's saved state in "
              + file
              + " is damaged, and the log before it is gone. Delete this member's directory, remove"
              + " the member from the group and add it again.");
    }
    try (DataInputStream in =
        new DataInputStream(
            new BufferedInputStream(Files.newInputStream(file.toPath()), FILE_BUFFER_BYTES))) {
      host.restore(SavedReplica.read(in));
    }
    setLastAppliedTermIndex(saved.getTermIndex());
    log.info("The oracle's state of {} is restored", saved.getTermIndex());
  }

  @Override
  public StateMachineStorage getStateMachineStorage() {
    return storage;
  }

  @Override
  public SingleFileSnapshotInfo getLatestSnapshot() {
    return storage.getLatestSnapshot();
  }

  @Override
  public CompletableFuture<Message> applyTransaction(TransactionContext transaction) {
    EntryMessage message = ofThisMember(transaction);
    ReplicaHost.Applied applied = host.apply(entry(transaction, message));
    var entry = transaction.getLogEntry();
    updateLastAppliedTermIndex(entry.getTerm(), entry.getIndex());
    listener.onApplied(message, applied);
    return CompletableFuture.completedFuture(Message.EMPTY);
  }

  private static EntryMessage ofThisMember(TransactionContext transaction) {
    var request = transaction.getClientRequest();
    return request != null && request.getMessage() instanceof EntryMessage message ? message : null;
  }

  private static LogEntry entry(TransactionContext transaction, EntryMessage message) {
    if (message != null) {
      return message.entry();
    }
    StateMachineLogEntryProto proto = transaction.getStateMachineLogEntry();
    if (proto == null) {
      proto = transaction.getLogEntry().getStateMachineLogEntry();
    }
    return CommandCodec.decodeEntry(proto.getLogData().asReadOnlyByteBuffer());
  }

  /**
   * Copies the state and has it written in the background, since nothing is decided meanwhile. So
   * this is called twice for each: what is reported, and lets the log go, is what is written.
   */
  @Override
  public long takeSnapshot() {
    SingleFileSnapshotInfo written = storage.getLatestSnapshot();
    long index = written == null ? RaftLog.INVALID_LOG_INDEX : written.getIndex();
    boolean isNews = index > reported;
    reported = index;
    if (!isNews && isSaving.compareAndSet(false, true)) {
      TermIndex at = getLastAppliedTermIndex();
      SavedReplica state = host.save();
      saver.execute(() -> save(state, at));
    }
    return index;
  }

  private void save(SavedReplica state, TermIndex at) {
    try {
      File file = storage.getSnapshotFile(at.getTerm(), at.getIndex());
      File unfinished = new File(file.getParentFile(), file.getName() + UNFINISHED);
      try (FileOutputStream out = new FileOutputStream(unfinished)) {
        DataOutputStream data =
            new DataOutputStream(new BufferedOutputStream(out, FILE_BUFFER_BYTES));
        state.writeTo(data);
        data.flush();
        out.getFD().sync();
      }
      MD5Hash checksum = MD5FileUtil.computeMd5ForFile(unfinished);
      // Before the file has its name: one without a checksum counts as unfinished.
      MD5FileUtil.saveMD5File(file, checksum);
      DurableFile.rename(unfinished.toPath(), file.toPath());
      storage.updateLatestSnapshot(
          new SingleFileSnapshotInfo(new FileInfo(file.toPath(), checksum), at));
    } catch (IOException | RuntimeException e) {
      log.error("The oracle's state at {} could not be saved; its log is kept", at, e);
    } finally {
      isSaving.set(false);
    }
  }

  @Override
  public void close() throws IOException {
    saver.shutdown();
    super.close();
  }
}
