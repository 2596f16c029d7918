// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import io.isolde.oracle.replica.CommandCodec;
import io.isolde.oracle.replica.LogEntry;
import io.isolde.oracle.replica.OracleReplica;
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
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.io.MD5Hash;
import org.apache.ratis.proto.RaftProtos.StateMachineLogEntryProto;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.raftlog.RaftLog;
import org.apache.ratis.server.storage.FileInfo;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.statemachine.SnapshotRetentionPolicy;
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

  /** Of log, beyond which it is not kept for as long as it should be. */
  private static final long MAX_KEPT_BYTES = 512 << 20;

  /** Of log, after which the state is saved: a start reads no more than this and what is kept. */
  static final long BYTES_PER_SAVE = 256 << 20;

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

  /** Looks for old files only when there is a new one, and not after each entry. */
  private final class Storage extends SimpleStateMachineStorage {
    @Override
    public void cleanupOldSnapshots(SnapshotRetentionPolicy policy) throws IOException {
      if (isNewer) {
        super.cleanupOldSnapshots(policy);
      }
    }
  }

  /**
   * A copy of the state that is being saved. It counts, and the log before it goes, only after a
   * while: until then a start begins with the state before, and so comes by all that was decided
   * lately.
   */
  private final class Copy {
    private final TermIndex at;
    private final CountDownLatch ripe = new CountDownLatch(1);
    private long entryBytesSince;
    private volatile boolean isAbandoned;

    private Copy(TermIndex at) {
      this.at = at;
    }

    private void grown(int entryBytes) {
      entryBytesSince += entryBytes;
      if (entryBytesSince >= MAX_KEPT_BYTES) {
        ripe.countDown();
      }
    }

    private void abandon() {
      isAbandoned = true;
      ripe.countDown();
    }

    /** Returns whether it shall count. */
    private boolean awaitRipe() {
      try {
        var unused = ripe.await(keepMillis, TimeUnit.MILLISECONDS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return false;
      }
      return !isAbandoned;
    }
  }

  private final ReplicaHost host;
  private final RecentWrites recent;
  private final long keepMillis;
  private final long entriesPerSave;
  private final Listener listener;
  private final SimpleStateMachineStorage storage = new Storage();

  /** That is being saved; null if none is. */
  private volatile Copy copy;

  private final ExecutorService saver =
      Executors.newSingleThreadExecutor(
          task -> {
            Thread thread = new Thread(task, "isolde-oracle-save");
            thread.setDaemon(true);
            return thread;
          });

  /** Up to where Ratis knows that the state is saved. Only touched on the thread that applies. */
  private long reported = RaftLog.INVALID_LOG_INDEX;

  /** Whether that was news. As {@code reported}. */
  private boolean isNewer;

  /** Applied since the state was last copied. As {@code reported}. */
  private long entriesSinceCopy;

  private long bytesSinceCopy;

  /**
   * @param keepMillis how long the log is kept when the state after it is saved
   * @param entriesPerSave how many entries are applied before the state is saved, if these do not
   *     have {@link #BYTES_PER_SAVE} before
   */
  OracleStateMachine(
      ReplicaHost host,
      RecentWrites recent,
      long keepMillis,
      long entriesPerSave,
      Listener listener) {
    this.host = host;
    this.recent = recent;
    this.keepMillis = keepMillis;
    this.entriesPerSave = entriesPerSave;
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
    abandonCopy();
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
      OracleReplica restored = SavedReplica.read(in);
      recent.restored(restored.last());
      host.restore(restored);
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
    LogEntry commands = entry(transaction, message);
    ReplicaHost.Applied applied = host.apply(commands);
    var entry = transaction.getLogEntry();
    recent.applied(entry.getIndex(), commands, applied.answers());
    updateLastAppliedTermIndex(entry.getTerm(), entry.getIndex());
    int bytes = entry.getStateMachineLogEntry().getLogData().size();
    entriesSinceCopy++;
    bytesSinceCopy += bytes;
    Copy saving = copy;
    if (saving != null) {
      saving.grown(bytes);
    }
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
   * Copies the state if that is due, and has it written in the background, since nothing is decided
   * meanwhile. Ratis calls this after every few entries: what is reported, and lets the log go, is
   * what is written and counts.
   */
  @Override
  public long takeSnapshot() {
    SingleFileSnapshotInfo written = storage.getLatestSnapshot();
    long index = written == null ? RaftLog.INVALID_LOG_INDEX : written.getIndex();
    isNewer = index > reported;
    if (isNewer) {
      reported = index;
      return index;
    }
    if (copy == null && isDue()) {
      entriesSinceCopy = 0;
      bytesSinceCopy = 0;
      Copy begun = new Copy(getLastAppliedTermIndex());
      copy = begun;
      SavedReplica state = host.save();
      saver.execute(() -> save(state, begun));
    }
    return RaftLog.INVALID_LOG_INDEX;
  }

  private boolean isDue() {
    return entriesSinceCopy >= entriesPerSave || bytesSinceCopy >= BYTES_PER_SAVE;
  }

  private void save(SavedReplica state, Copy as) {
    try {
      write(state, unfinished(as.at));
      if (!as.isAbandoned) {
        saver.execute(() -> finishWhenRipe(as)); // Not here, as that would hold on to the copy.
        return;
      }
    } catch (IOException | RuntimeException e) {
      notSaved(as, e);
    }
    copy = null;
  }

  private void finishWhenRipe(Copy as) {
    try {
      if (as.awaitRipe()) {
        finish(as.at);
      } else {
        Files.deleteIfExists(unfinished(as.at).toPath());
      }
    } catch (IOException | RuntimeException e) {
      notSaved(as, e);
    } finally {
      copy = null;
    }
  }

  private static void notSaved(Copy copy, Exception why) {
    log.error("The oracle's state at {} could not be saved; its log is kept", copy.at, why);
  }

  private File file(TermIndex at) {
    return storage.getSnapshotFile(at.getTerm(), at.getIndex());
  }

  private File unfinished(TermIndex at) {
    File file = file(at);
    return new File(file.getParentFile(), file.getName() + UNFINISHED);
  }

  private static void write(SavedReplica state, File unfinished) throws IOException {
    try (FileOutputStream out = new FileOutputStream(unfinished)) {
      DataOutputStream data =
          new DataOutputStream(new BufferedOutputStream(out, FILE_BUFFER_BYTES));
      state.writeTo(data);
      data.flush();
      out.getFD().sync();
    }
  }

  private void finish(TermIndex at) throws IOException {
    File unfinished = unfinished(at);
    File file = file(at);
    MD5Hash checksum = MD5FileUtil.computeMd5ForFile(unfinished);
    // Before the file has its name: one without a checksum counts as unfinished.
    MD5FileUtil.saveMD5File(file, checksum);
    DurableFile.rename(unfinished.toPath(), file.toPath());
    storage.updateLatestSnapshot(
        new SingleFileSnapshotInfo(new FileInfo(file.toPath(), checksum), at));
  }

  private void abandonCopy() {
    Copy saving = copy;
    if (saving != null) {
      saving.abandon();
    }
  }

  @Override
  public void close() throws IOException {
    abandonCopy();
    saver.shutdown();
    super.close();
  }
}
