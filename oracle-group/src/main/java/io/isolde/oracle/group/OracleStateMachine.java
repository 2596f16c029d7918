// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import io.isolde.oracle.replica.CommandCodec;
import io.isolde.oracle.replica.LogEntry;
import io.isolde.oracle.replica.OracleReplica;
import io.isolde.oracle.replica.SavedReplica;
import io.isolde.raft.Daemons;
import io.isolde.raft.FileStateMachine;
import io.isolde.raft.LogData;
import io.isolde.raft.LogPosition;
import io.isolde.raft.StateFiles;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Applies the log to the replica, and saves the replica now and then. */
final class OracleStateMachine implements FileStateMachine {
  private static final Logger log = LoggerFactory.getLogger(OracleStateMachine.class);
  private static final int FILE_BUFFER_BYTES = 1 << 16;

  /** Of log, beyond which it is not kept for as long as it should be. */
  private static final long MAX_KEPT_BYTES = 512 << 20;

  /** Of log, after which the state is saved: a start reads no more than this and what is kept. */
  static final long BYTES_PER_SAVE = 256 << 20;

  /** Hears what was applied, in order, on the thread that applies. */
  interface Listener {
    /**
     * An entry was applied.
     *
     * @param message the entry as this member made it; null if another one did
     */
    void onApplied(EntryMessage message, AppliedEntry applied);
  }

  /**
   * A copy of the state that is being saved. It counts, and the log before it goes, only after a
   * while: until then a start begins with the state before, and so comes by all that was decided
   * lately.
   */
  private final class Copy {
    private final LogPosition at;
    private final StateFiles files;
    private final CountDownLatch ripe = new CountDownLatch(1);
    private long entryBytesSince;
    private volatile boolean isAbandoned;

    private Copy(LogPosition at, StateFiles files) {
      this.at = at;
      this.files = files;
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

  /** That is being saved; null if none is. */
  private volatile Copy copy;

  private final ExecutorService saver =
      Executors.newSingleThreadExecutor(Daemons.named("isolde-oracle-save"));

  /** Applied since the state was last copied. Only touched by the thread that applies. */
  private long entriesSinceCopy;

  /** As {@code entriesSinceCopy}. */
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
  public void restore(LogPosition at, Path file) throws IOException {
    abandonCopy();
    try (DataInputStream in =
        new DataInputStream(
            new BufferedInputStream(Files.newInputStream(file), FILE_BUFFER_BYTES))) {
      OracleReplica restored = SavedReplica.read(in);
      recent.restored(restored.last());
      host.restore(restored);
    }
  }

  @Override
  public void apply(LogPosition at, ByteBuffer data, LogData own) {
    int bytes = data.remaining();
    EntryMessage message = (EntryMessage) own;
    LogEntry commands = message == null ? CommandCodec.decodeEntry(data) : message.entry();
    AppliedEntry applied = host.apply(commands);
    recent.applied(at.index(), commands, applied.answers());
    entriesSinceCopy++;
    bytesSinceCopy += bytes;
    Copy saving = copy;
    if (saving != null) {
      saving.grown(bytes);
    }
    listener.onApplied(message, applied);
  }

  /**
   * Copies the state if that is due, and has it written in the background, since nothing is decided
   * meanwhile.
   */
  @Override
  public void saveIfDue(LogPosition at, StateFiles files) {
    if (copy == null && isDue()) {
      entriesSinceCopy = 0;
      bytesSinceCopy = 0;
      Copy begun = new Copy(at, files);
      copy = begun;
      SavedReplica state = host.save();
      saver.execute(() -> save(state, begun));
    }
  }

  private boolean isDue() {
    return entriesSinceCopy >= entriesPerSave || bytesSinceCopy >= BYTES_PER_SAVE;
  }

  private void save(SavedReplica state, Copy as) {
    try {
      write(state, as.files.unfinished(as.at));
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
        as.files.finish(as.at);
      } else {
        Files.deleteIfExists(as.files.unfinished(as.at));
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

  private static void write(SavedReplica state, Path unfinished) throws IOException {
    try (FileOutputStream out = new FileOutputStream(unfinished.toFile())) {
      DataOutputStream data =
          new DataOutputStream(new BufferedOutputStream(out, FILE_BUFFER_BYTES));
      state.writeTo(data);
      data.flush();
      out.getFD().sync();
    }
  }

  private void abandonCopy() {
    Copy saving = copy;
    if (saving != null) {
      saving.abandon();
    }
  }

  @Override
  public void close() {
    abandonCopy();
    saver.shutdown();
  }
}
