// SPDX-License-Identifier: Apache-2.0
package io.isolde.restart;

import io.isolde.oracle.SetAsideCommits;
import io.isolde.oracle.group.CoordinatorSession;
import io.isolde.oracle.group.LostWrites;
import io.isolde.replicated.OracleHost;
import io.isolde.transaction.LostWritesApplier;
import io.isolde.transaction.StrongTables;
import io.isolde.version.NodeVersions;
import io.isolde.version.RestartGate;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.apache.cassandra.config.Config.CommitLogSync;
import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.db.commitlog.CommitLog;
import org.apache.cassandra.service.StorageService;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sees to it that a replica whose commit log is on disk only later, as with {@code commitlog_sync:
 * periodic}, has again what it had applied when it died, before anybody reads from it.
 */
/*
 * Every few seconds a mark is made: the newest snapshot that this node has heard of and what was set
 * aside in it, written down after the commit log was brought to disk. Each commit at or below that
 * snapshot was applied before, so this node had it before if it was counted. What comes after the
 * mark is in the oracle's log. The mark is made safe for the next process before that may be
 * counted on: it counts as running from the first moment on.
 */
public final class Restart {
  private static final Logger logger = LoggerFactory.getLogger(Restart.class);

  /** In the directory of the commit log: a mark means nothing without that. */
  private static final String FILE = "isolde-durable-mark";

  private static final long MARK_SECONDS = 5;
  private static final long TRY_AGAIN_MILLIS = 500;
  private static final long LOOK_MILLIS = 100;

  private final Path file;
  private final boolean isMarking;
  private final RestartGate gate = RestartGate.ofThisNode();
  private final ScheduledExecutorService marks =
      Executors.newSingleThreadScheduledExecutor(
          task -> {
            Thread thread = new Thread(task, "isolde-durable-mark");
            thread.setDaemon(true);
            return thread;
          });

  /** What is on disk. Guarded by this. */
  private DurableMark mark = DurableMark.NOTHING;

  /** Guarded by this. */
  private boolean isClosed;

  private volatile long commitsAgain;
  private volatile boolean isIncomplete;

  private Restart(Path file, boolean isMarking) {
    this.file = file;
    this.isMarking = isMarking;
  }

  /**
   * To be made early in the start of the node, before it takes writes or is read from.
   *
   * @param isOracleReplicated whether there is a log to get anything from
   * @throws UncheckedIOException if the mark can't be read or written; it stops the start
   */
  public static Restart begin(boolean isOracleReplicated) {
    Restart restart =
        new Restart(
            Path.of(DatabaseDescriptor.getCommitLogLocation(), FILE),
            isOracleReplicated && DatabaseDescriptor.getCommitLogSync() == CommitLogSync.periodic);
    if (isOracleReplicated) {
      restart.look();
    }
    return restart;
  }

  private synchronized void look() {
    try {
      Optional<DurableMark> found = DurableMark.read(file);
      mark = found.orElse(DurableMark.NOTHING).running();
      if (found.isPresent() && !found.get().isStopped()) {
        gate.close();
      }
      if (isMarking) {
        mark.write(file);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(
          "The mark in " + file + " of what is on disk can't be read or written.", e);
    }
  }

  /** Returns when this replica has all that it may have lost. */
  public void recover(OracleHost host, StrongTables strong) throws InterruptedException {
    if (gate.isClosed()) {
      while (!StorageService.instance.isNormal()) {
        Thread.sleep(LOOK_MILLIS); // Until then it does not know of which ranges it is a replica.
      }
      LostWritesApplier applier = new LostWritesApplier(strong);
      LostCommits.Source source = source(host);
      logger.info("This node has died; what it may have lost since {} is got back.", mark().upTo());
      boolean hasComplained = false;
      while (gate.isClosed()) {
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
    start(host.session());
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
    DurableMark from = mark();
    LostCommits.Result result =
        LostCommits.recover(
            from, source, commit -> applier.apply(commit.commitTimestamp(), commit.bytes()));
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
    gate.open();
    logger.info("This node has all again, of {} commits; it can be read from.", result.commits());
  }

  private synchronized DurableMark mark() {
    return mark;
  }

  private void start(CoordinatorSession session) {
    if (isMarking) {
      var unused =
          marks.scheduleWithFixedDelay(() -> makeMark(session), 0, MARK_SECONDS, TimeUnit.SECONDS);
    } else {
      forget();
    }
    StorageService.instance.addPostShutdownHook(this::close);
  }

  private void makeMark(CoordinatorSession session) {
    try {
      long upTo = session.newestStable();
      // After the snapshot, so that it has all that is not applied in that.
      SetAsideCommits setAside = session.setAside();
      List<Long> unsafe =
          setAside.commits().keySet().stream().filter(timestamp -> timestamp <= upTo).toList();
      if (upTo > mark().upTo()) {
        CommitLog.instance.sync(true);
        write(new DurableMark(false, upTo, unsafe));
      }
    } catch (IOException | RuntimeException e) {
      // The one before still holds.
      logger.warn("What is on disk could not be noted; trying again.", e);
    }
  }

  private synchronized void write(DurableMark next) throws IOException {
    if (!isClosed) {
      next.write(file);
      mark = next;
    }
  }

  /** Each write is on disk before it is answered, so nothing can be lost. */
  private void forget() {
    try {
      write(mark().stopped());
    } catch (IOException e) {
      logger.warn("What is on disk could not be noted: the next start takes longer.", e);
    }
  }

  /** When the node has stopped. */
  private synchronized void close() {
    try {
      if (isMarking && StorageService.instance.isDrained()) {
        write(mark.stopped());
      }
    } catch (IOException e) {
      logger.warn("What is on disk could not be noted: the next start takes longer.", e);
    }
    isClosed = true;
    marks.shutdown();
  }

  /** Whether this node may lack what it had applied, so that nobody reads from it. */
  public boolean isRecovering() {
    return gate.isClosed();
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
