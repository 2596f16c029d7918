// SPDX-License-Identifier: Apache-2.0
package io.isolde.restart;

import io.isolde.oracle.InDoubtCommits;
import io.isolde.oracle.group.CoordinatorSession;
import io.isolde.raft.Daemons;
import io.isolde.replicated.OracleHost;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.cassandra.db.commitlog.CommitLog;
import org.apache.cassandra.utils.concurrent.UncheckedInterruptedException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Makes the checkpoints of this node, one after the other. */
/*
 * A checkpoint is the newest snapshot that this node has heard of, and what was in doubt in it. It
 * is written down after the commit log was brought to disk. Each commit at or below that snapshot
 * was applied before, so this node had it before if it was counted. What comes after the checkpoint
 * is in the oracle's log.
 */
final class DurableCheckpoints {
  private static final Logger logger = LoggerFactory.getLogger(DurableCheckpoints.class);
  private static final long CHECKPOINT_SECONDS = 5;

  private final Path file;
  private final ScheduledExecutorService thread =
      Executors.newSingleThreadScheduledExecutor(Daemons.named("isolde-durable-mark"));

  /** On disk, or as good. Guarded by this. */
  private DurableCheckpoint last = DurableCheckpoint.NOTHING;

  /** Guarded by this. */
  private boolean isClosed;

  DurableCheckpoints(Path file) {
    this.file = file;
  }

  /** Returns the mark of the process before; from now on this one counts as running. */
  synchronized Optional<DurableCheckpoint> begin(boolean isCheckpointing) throws IOException {
    Optional<DurableCheckpoint> found = DurableCheckpoint.read(file);
    last = found.orElse(DurableCheckpoint.NOTHING).running();
    if (isCheckpointing) {
      last.write(file);
    }
    return found;
  }

  synchronized DurableCheckpoint last() {
    return last;
  }

  /** Makes one every few seconds. */
  void start(CoordinatorSession session) {
    var unused =
        thread.scheduleWithFixedDelay(() -> make(session), 0, CHECKPOINT_SECONDS, TimeUnit.SECONDS);
  }

  private void make(CoordinatorSession session) {
    try {
      var unused = isMade(session);
    } catch (IOException | RuntimeException e) {
      // The one before still holds.
      logger.warn("What is on disk could not be noted; trying again.", e);
    }
  }

  /** Returns false if there is nothing newer to note, or the node has stopped. */
  private boolean isMade(CoordinatorSession session) throws IOException {
    long upTo = session.newestStable();
    // After the snapshot, so that it has all that is not applied in that.
    InDoubtCommits inDoubt = session.inDoubt();
    List<Long> unsafe =
        inDoubt.commits().keySet().stream().filter(timestamp -> timestamp <= upTo).toList();
    DurableCheckpoint next = new DurableCheckpoint(false, upTo, unsafe);
    if (upTo < last().upTo() || next.equals(last())) {
      return next.equals(last());
    }
    CommitLog.instance.sync(true);
    return write(next);
  }

  /**
   * Makes one that has no commit at or below a timestamp in doubt that is applied by now.
   *
   * @return whether it is on disk in time
   */
  boolean makeAt(long upTo, OracleHost host, long maxMillis) {
    long deadlineNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(maxMillis);
    try {
      host.session().awaitStable(upTo).get(leftNanos(deadlineNanos), TimeUnit.NANOSECONDS);
      // What this node has heard of before may have been applied since.
      var unused =
          host.client().latestInDoubt().get(leftNanos(deadlineNanos), TimeUnit.NANOSECONDS);
      // In the thread that makes them all, so that none is replaced by an earlier one.
      return thread
          .submit(() -> isMade(host.session()) && last().upTo() >= upTo)
          .get(leftNanos(deadlineNanos), TimeUnit.NANOSECONDS);
    } catch (ExecutionException | TimeoutException | RejectedExecutionException e) {
      logger.warn("What is on disk up to {} could not be noted.", upTo, e);
      return false;
    } catch (InterruptedException e) {
      throw new UncheckedInterruptedException(e);
    }
  }

  private static long leftNanos(long deadlineNanos) {
    return Math.max(0, deadlineNanos - System.nanoTime());
  }

  private synchronized boolean write(DurableCheckpoint next) throws IOException {
    if (!isClosed) {
      next.write(file);
      last = next;
    }
    return !isClosed;
  }

  /**
   * All that this node has applied is on disk, and it makes no more marks.
   *
   * @param isStopping whether the node stops, so that nothing may be noted later
   */
  synchronized void end(boolean isAllOnDisk, boolean isStopping) {
    try {
      if (isAllOnDisk) {
        var unused = write(last.stopped());
      }
    } catch (IOException e) {
      logger.warn("What is on disk could not be noted: the next start takes longer.", e);
    }
    if (isStopping) {
      isClosed = true;
      thread.shutdown();
    }
  }
}
