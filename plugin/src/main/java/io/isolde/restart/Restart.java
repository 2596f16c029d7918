// SPDX-License-Identifier: Apache-2.0
package io.isolde.restart;

import io.isolde.apply.LostWritesApplier;
import io.isolde.apply.StrongTables;
import io.isolde.oracle.group.LostWrites;
import io.isolde.replicated.OracleHost;
import io.isolde.version.NodeVersions;
import io.isolde.version.RestartBarrier;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.cassandra.config.Config.CommitLogSync;
import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.service.StorageService;
import org.apache.cassandra.utils.concurrent.UncheckedInterruptedException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sees to it that a replica that died has again what it had applied, before anybody reads from it.
 * A replica loses commits if its commit log is on disk only later, as with {@code commitlog_sync:
 * periodic}.
 */
/*
 * Every few seconds a mark is made of what is on disk. It is made safe for the next process before
 * that may be counted on: it counts as running from the first moment on.
 */
public final class Restart {
  private static final Logger logger = LoggerFactory.getLogger(Restart.class);

  /** In the directory of the commit log: a mark means nothing without that. */
  private static final String FILE = "isolde-durable-mark";

  private static final long TRY_AGAIN_MILLIS = 500;
  private static final long LOOK_MILLIS = 100;

  /** These two together are less than whoever asks for it waits. */
  private static final long MAX_WAIT_MILLIS = 4_000;

  private static final long MAX_SECURING_MILLIS = 10_000;

  private final DurableCheckpoints checkpoints;
  private final boolean isCheckpointing;
  private final RestartBarrier barrier = RestartBarrier.ofThisNode();

  /** Null until this node has all again that it may have lost. */
  private volatile OracleHost host;

  private volatile long commitsAgain;
  private volatile boolean isIncomplete;

  private Restart() {
    this.checkpoints = new DurableCheckpoints(file());
    this.isCheckpointing = DatabaseDescriptor.getCommitLogSync() == CommitLogSync.periodic;
  }

  /**
   * To be made early in the start of the node, before it takes writes or is read from.
   *
   * @throws UncheckedIOException if the mark can't be read or written; it stops the start
   */
  public static Restart begin() {
    Restart restart = new Restart();
    restart.look();
    return restart;
  }

  private void look() {
    try {
      Optional<DurableCheckpoint> found = checkpoints.begin(isCheckpointing);
      if (found.isPresent() && !found.get().isStopped()) {
        barrier.close();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(
          "The mark in " + file() + " of what is on disk can't be read or written.", e);
    }
  }

  private static Path file() {
    return Path.of(DatabaseDescriptor.getCommitLogLocation(), FILE);
  }

  /** Returns when this replica has all that it may have lost. */
  public void recover(OracleHost host, StrongTables strong) throws InterruptedException {
    if (barrier.isClosed()) {
      while (!StorageService.instance.isNormal()) {
        Thread.sleep(LOOK_MILLIS); // Until then it does not know of which ranges it is a replica.
      }
      LostWritesApplier applier = new LostWritesApplier(strong);
      LostCommits.Source source = source(host);
      logger.info(
          "This node has died; what it may have lost since {} is got back.",
          checkpoints.last().upTo());
      boolean hasComplained = false;
      while (barrier.isClosed()) {
        try {
          recover(source, applier);
        } catch (ExecutionException | RuntimeException e) {
          if (!hasComplained) {
            logger.warn("What this node has lost could not be got back yet; trying again.", e);
          }
          hasComplained = true;
          Thread.sleep(TRY_AGAIN_MILLIS);
        }
      }
    }
    start(host);
  }

  private static LostCommits.Source source(OracleHost host) {
    return new LostCommits.Source() {
      @Override
      public CompletableFuture<Long> issue() {
        return host.session().issueAbove(0);
      }

      @Override
      public CompletableFuture<LostWrites.Page> ask(LostWrites.Question question) {
        return host.client().lostWrites(question);
      }
    };
  }

  private void recover(LostCommits.Source source, LostWritesApplier applier)
      throws InterruptedException, ExecutionException {
    DurableCheckpoint from = checkpoints.last();
    LostCommits.Result result = LostCommits.recover(from, source, applier::apply);
    commitsAgain = result.commits();
    isIncomplete = !result.isWhole();
    if (isIncomplete) {
      logger.warn(
          "The oracle's log does not reach back to {}, when this node had all on its disk: of the"
              + " commits since then it has what its own commit log and the rest of the oracle's log"
              + " have. Run a repair of its transactional tables.",
          from.upTo());
    }
    // Of the versions before that it can't vouch: they may have come in another order.
    NodeVersions.ofThisNode().vouchFrom(source.issue().get());
    barrier.open();
    logger.info("This node has all again, of {} commits; it can be read from.", result.commits());
  }

  private void start(OracleHost ready) {
    if (isCheckpointing) {
      checkpoints.start(ready.session());
    } else {
      checkpoints.end(true, false); // Each write is on disk before it is answered.
    }
    host = ready;
    StorageService.instance.addPostShutdownHook(
        () -> checkpoints.end(isCheckpointing && StorageService.instance.isDrained(), true));
  }

  /**
   * Sees to it that this node, should it die, does not apply a commit again that is at or below a
   * timestamp and applied everywhere. Blocks, for some seconds at most.
   *
   * @return whether that is so
   */
  public boolean secure(long upTo) {
    return isRecovered()
        && (!isCheckpointing || checkpoints.makeAt(upTo, host, MAX_SECURING_MILLIS));
  }

  /** Waits for a node that has just started. */
  private boolean isRecovered() {
    long start = System.nanoTime();
    try {
      while (host == null
          && System.nanoTime() - start < TimeUnit.MILLISECONDS.toNanos(MAX_WAIT_MILLIS)) {
        Thread.sleep(LOOK_MILLIS);
      }
      return host != null;
    } catch (InterruptedException e) {
      throw new UncheckedInterruptedException(e);
    }
  }

  /** Whether this node may lack what it had applied, so that nobody reads from it. */
  public boolean isRecovering() {
    return barrier.isClosed();
  }

  /** How many commits were got back since the start. */
  public long commitsAgain() {
    return commitsAgain;
  }

  /** Whether the oracle's log did not have all that this node may have lost. */
  public boolean isIncomplete() {
    return isIncomplete;
  }
}
