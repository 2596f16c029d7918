// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import io.isolde.raft.CopyingStateMachine;
import io.isolde.raft.GroupFailure;
import io.isolde.raft.LogData;
import io.isolde.raft.LogPosition;
import io.isolde.raft.Peer;
import io.isolde.raft.group.PositionWaiters;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.LongConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Applies the log to the storage. From time to time it has the storage made durable and lets the
 * log before go; if the leader has let go what this member needs, it copies the leader's storage.
 */
final class GroupStateMachine implements CopyingStateMachine {
  private static final Logger log = LoggerFactory.getLogger(GroupStateMachine.class);
  private static final long FIRST_BACK_OFF_MILLIS = 1_000;
  private static final long MAX_BACK_OFF_MILLIS = 30_000;
  private static final int MAX_WAITERS = 1024;
  private static final byte[] NOTHING = {};

  /** From the failure of an entry until the log's thread has noted it takes some microseconds. */
  private static final long FAILURE_HEARD_MILLIS = 100;

  private final UUID group;
  private final Storage storage;
  private final Function<Peer, CompletableFuture<Checkpoint>> leader;
  private final long maxLogBytes;
  private final LongConsumer onAnswered;

  /** For entries of the log; those who wait have time limits of their own. */
  private final PositionWaiters<CompletableFuture<Boolean>> waiters =
      new PositionWaiters<>(MAX_WAITERS);

  private final AtomicBoolean isFlushing = new AtomicBoolean();

  /**
   * Guards the state, and that {@link #applied} is up to where it is right. Held while an entry is
   * applied, which may take minutes: nobody else waits for it without a bound.
   */
  private final ReentrantLock stateLock = new ReentrantLock();

  /** Whether an entry could not be applied, so that this machine is about to be closed. */
  private volatile boolean hasFailed;

  private final LogState state = new LogState();

  /** Who wants to know how far this replica is, at a moment when no entry is being applied. */
  private final Queue<CompletableFuture<Checkpoint>> asked = new LinkedBlockingQueue<>(MAX_WAITERS);

  private volatile LogPosition applied = LogPosition.NONE;

  /** The last one that was saved, there; null if none was. Written under the lock of this. */
  private volatile Checkpoint checkpoint;

  private volatile Path directory;

  /** Only touched by the thread that applies. */
  private long bytesSinceCheckpoint;

  private volatile long backOffMillis = FIRST_BACK_OFF_MILLIS;
  private volatile boolean isClosed;
  private volatile boolean isCopying;
  private volatile long lastMicros;

  private final LastingProblem problem = new LastingProblem();

  /**
   * A machine for a new replica.
   *
   * @param leader asks a leader how far it is, durably
   * @param maxLogBytes so much is kept of the log before the storage is made durable
   * @param onAnswered hears of the indexes of the entries that this member made, when they are
   *     applied and about to be answered
   */
  GroupStateMachine(
      UUID group,
      Storage storage,
      Function<Peer, CompletableFuture<Checkpoint>> leader,
      long maxLogBytes,
      LongConsumer onAnswered) {
    this.group = group;
    this.storage = storage;
    this.leader = leader;
    this.maxLogBytes = maxLogBytes;
    this.onAnswered = onAnswered;
  }

  @Override
  public LogPosition open(Path newDirectory) throws IOException {
    Checkpoint loaded = load(newDirectory);
    if (loaded == null) {
      // The storage may have been another machine's: all of the log comes again.
      stateLock.lock();
      try {
        storage.restore(NOTHING);
        storage.begin(state.lastMicros());
      } finally {
        release();
      }
      return LogPosition.NONE;
    }
    stateLock.lock();
    try {
      storage.restore(state.restore(loaded.state()));
      applied = loaded.at();
      lastMicros = state.lastMicros();
      storage.begin(lastMicros);
    } finally {
      release();
    }
    bytesSinceCheckpoint = 0;
    reached(loaded.at().index());
    return loaded.at();
  }

  private synchronized Checkpoint load(Path newDirectory) throws IOException {
    directory = newDirectory;
    checkpoint = Checkpoint.load(newDirectory);
    return checkpoint;
  }

  private synchronized void save(Checkpoint newer) throws IOException {
    if (checkpoint == null || newer.at().index() > checkpoint.at().index()) {
      newer.save(directory);
      checkpoint = newer;
    }
  }

  @Override
  public void apply(LogPosition at, ByteBuffer data, LogData own) {
    bytesSinceCheckpoint += data.remaining();
    Entry entry = own == null ? Entry.decode(data) : (Entry) own;
    List<Long> timestamps = new ArrayList<>(entry.items().size());
    stateLock.lock();
    try {
      for (Entry.Item item : entry.items()) {
        timestamps.add(
            item.isOutdated(at.term()) || isRefused(item) ? Entry.OUTDATED : apply(item));
      }
      applied = at;
      lastMicros = state.lastMicros();
    } catch (RuntimeException | Error e) {
      hasFailed = true;
      throw e;
    } finally {
      release();
    }
    entry.applied(timestamps);
    reached(at.index());
    if (own != null) {
      onAnswered.accept(at.index());
    }
  }

  @Override
  public void skip(LogPosition at) {
    stateLock.lock();
    try {
      applied = at;
    } finally {
      release();
    }
    reached(at.index());
  }

  private boolean isRefused(Entry.Item item) {
    return item.isDecided()
        && storage.isRefused(item.payload(), item.decoded(), item.proposedMicros());
  }

  private long apply(Entry.Item item) {
    LogState.Decision decision = state.next(item.id(), item.proposedMicros());
    if (!decision.isRepetition()) {
      state.pass(storage.apply(item.payload(), item.decoded(), decision.timestampMicros()));
    }
    return decision.timestampMicros();
  }

  /** The newest entry that is applied; -1 before the first. */
  long appliedIndex() {
    return applied.index();
  }

  /** See {@link ReplicaGroup#whenApplied}. */
  CompletableFuture<Boolean> whenApplied(long index) {
    if (appliedIndex() >= index) {
      return CompletableFuture.completedFuture(true);
    }
    CompletableFuture<Boolean> answer = new CompletableFuture<>();
    if (!waiters.add(index, answer, Long.MAX_VALUE)) {
      return GroupFailure.future(
          GroupFailure.Reason.OVERLOADED, "More than " + MAX_WAITERS + " wait for entries.");
    }
    reached(appliedIndex()); // It may have been applied meanwhile.
    return answer;
  }

  /** Up to and with this entry all are applied. */
  private void reached(long index) {
    waiters.reached(index).forEach(waiter -> waiter.complete(false));
  }

  /**
   * When a write was applied, if it was and may still be repeated.
   *
   * @throws TimeoutException if an entry is being applied until the deadline
   */
  OptionalLong appliedAt(RequestId id, long deadlineNanos)
      throws InterruptedException, TimeoutException {
    if (!stateLock.tryLock(deadlineNanos - System.nanoTime(), TimeUnit.NANOSECONDS)) {
      throw new TimeoutException();
    }
    try {
      return state.appliedAt(id);
    } finally {
      release();
    }
  }

  /** See {@link Storage#problem}. */
  Optional<String> problem() {
    return storage.problem();
  }

  /** A problem that does not last keeps nobody from leading. */
  @Override
  public boolean canApply() {
    return !problem.lasts(storage.problem().isPresent(), System.nanoTime());
  }

  /**
   * See {@link Storage#stop}. Returns when nothing is being applied, and the log knows it if an
   * entry failed: if it were closed before, it would wait for that entry for ever.
   */
  void stop() {
    storage.stop();
    stateLock.lock();
    release();
    if (hasFailed) {
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(FAILURE_HEARD_MILLIS));
    }
  }

  private Checkpoint now() {
    stateLock.lock();
    try {
      return new Checkpoint(applied, state.save(storage.state()));
    } finally {
      release();
    }
  }

  private void release() {
    stateLock.unlock();
    answerAsked();
  }

  /** By whoever comes when no entry is being applied: who asks, or who has applied one. */
  private void answerAsked() {
    while (!asked.isEmpty() && stateLock.tryLock()) {
      CompletableFuture<Checkpoint> next;
      Checkpoint now;
      try {
        next = asked.poll();
        now = next == null ? null : now();
      } finally {
        stateLock.unlock();
      }
      if (next != null) {
        next.complete(now);
      }
    }
  }

  /**
   * How far this replica is, as soon as the storage has all of that durably. Fails if it can't:
   * what a flush has left out is in no copy, and who goes on after this mark would not get it
   * either. Does not wait while an entry is applied.
   */
  CompletableFuture<Checkpoint> flushedNow() {
    CompletableFuture<Checkpoint> now = new CompletableFuture<>();
    if (!asked.offer(now)) {
      return GroupFailure.future(
          GroupFailure.Reason.OVERLOADED,
          "More than " + MAX_WAITERS + " want to know how far this replica is.");
    }
    answerAsked();
    return now.thenCompose(checkpoint -> storage.flush().thenApply(done -> checkpoint));
  }

  /** For a look from outside: does not wait while an entry is applied. */
  long lastMicros() {
    return lastMicros;
  }

  @Override
  public LogPosition saved() {
    Checkpoint last = checkpoint;
    return last == null ? LogPosition.NONE : last.at();
  }

  boolean isCopying() {
    return isCopying;
  }

  @Override
  public void saveIfDue() {
    if (bytesSinceCheckpoint >= maxLogBytes && isFlushing.compareAndSet(false, true)) {
      bytesSinceCheckpoint = 0;
      Checkpoint now = now();
      var unused = storage.flush().whenComplete((done, failure) -> flushed(now, failure));
    }
  }

  /** What a flush or a copy comes to later is of no use: the log may be another one by then. */
  @Override
  public void close() {
    isClosed = true;
  }

  private void flushed(Checkpoint now, Throwable failure) {
    try {
      if (isClosed) {
        return;
      }
      if (failure != null) {
        log.error("{}: the storage could not be flushed; the log is kept", group, failure);
      } else {
        save(now);
      }
    } catch (IOException e) {
      log.error("{}: no mark could be written; the log is kept", group, e);
    } finally {
      isFlushing.set(false);
    }
  }

  /**
   * This asks for the leader's index before it copies the leader's storage. So nothing is missing,
   * if the storage has all up to there on disk: that is what is copied. What comes twice does no
   * harm. Failures are reported late.
   */
  @Override
  public CompletableFuture<LogPosition> copyFrom(Peer from) {
    log.info("{}: the log that is needed here is gone; copying what {} has", group, from);
    isCopying = true;
    CompletableFuture<LogPosition> result = new CompletableFuture<>();
    CompletableFuture<Checkpoint> copied =
        leader
            .apply(from)
            .thenCompose(
                theirs ->
                    storage.copyFrom(from.address().getHostString()).thenApply(done -> theirs));
    var unused = copied.whenComplete((theirs, failure) -> copied(theirs, failure, result));
    return result;
  }

  private void copied(Checkpoint theirs, Throwable failure, CompletableFuture<LogPosition> result) {
    Throwable problem = isClosed ? new IOException("This replica was stopped.") : failure;
    if (problem == null) {
      try {
        save(theirs);
        backOffMillis = FIRST_BACK_OFF_MILLIS;
        isCopying = false;
        log.info("{}: copied; going on after {}", group, theirs.at());
        result.complete(theirs.at());
        return;
      } catch (IOException e) {
        problem = e;
      }
    }
    log.warn("{}: could not copy; trying again in {} ms", group, backOffMillis, problem);
    Throwable cause = problem;
    CompletableFuture.delayedExecutor(backOffMillis, TimeUnit.MILLISECONDS)
        .execute(() -> result.completeExceptionally(cause));
    backOffMillis = Math.min(2 * backOffMillis, MAX_BACK_OFF_MILLIS);
  }
}
