// SPDX-License-Identifier: Apache-2.0
package io.isolde.transaction;

import com.google.common.collect.Iterables;
import io.isolde.conflict.ReadSet;
import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import io.isolde.oracle.IsolationLevel;
import io.isolde.read.ReadRecorder;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.utils.concurrent.UncheckedInterruptedException;

/** An open transaction of a client of this node. Its statements may run side by side. */
public final class Transaction {
  private final UUID id;
  private final Transactions.Options options;
  private final String startedBy;
  private final LongSupplier nowMillis;
  private final long startedAtMillis;
  private final ReadSet reads;
  private final WriteBuffer writes;
  private final Savepoints savepoints;

  /** Held shared by statements, and exclusively by whatever ends the transaction. */
  private final ReadWriteLock inUse = new ReentrantReadWriteLock();

  /** Held by the statement that writes. */
  private final Lock writing = new ReentrantLock();

  /** Held by the statement that locks rows, which may wait for them. */
  private final ReentrantLock locking = new ReentrantLock(true);

  private volatile long lastUsedMillis;

  /** Why it can't commit any more, though it may still be open because a statement runs. */
  private final AtomicReference<EndedTransactions.End> doom = new AtomicReference<>();

  /** A statement has failed. Until it goes back to a savepoint, it can't commit. */
  private final AtomicReference<EndedTransactions.End> failure = new AtomicReference<>();

  /** What it sees; and by which time it judges what has expired. */
  private record Moment(long timestamp, long nowInSeconds) {}

  private volatile Moment moment;

  /** How many statements it has had; guarded by this. */
  private int statements;

  /** Guarded by inUse. No statement is accepted any more. */
  private boolean ended;

  /** Guarded by inUse. Null until COMMIT has begun; completes with its answer. */
  private CompletableFuture<Transactions.Result> commit;

  /**
   * @param nowInSeconds since 1970: by it is judged what has expired
   * @param nowMillis the clock of its age, from an arbitrary beginning
   */
  Transaction(
      UUID id,
      Transactions.Options options,
      long startTimestamp,
      long nowInSeconds,
      String startedBy,
      LongSupplier nowMillis,
      ReadSet reads,
      WriteBuffer writes) {
    this.id = id;
    this.options = options;
    this.moment = new Moment(startTimestamp, nowInSeconds);
    this.startedBy = startedBy;
    this.nowMillis = nowMillis;
    this.startedAtMillis = nowMillis.getAsLong();
    this.lastUsedMillis = startedAtMillis;
    this.reads = reads;
    this.writes = writes;
    this.savepoints = new Savepoints(id, writes);
  }

  public UUID id() {
    return id;
  }

  public IsolationLevel level() {
    return options.level();
  }

  /** What its client asked for when it started it. */
  Transactions.Options options() {
    return options;
  }

  /** Microseconds; what the transaction sees. It stays, unless the first statement locks rows. */
  public long startTimestamp() {
    return moment.timestamp;
  }

  public boolean isReadOnly() {
    return options.readOnly();
  }

  /** Whether its client named the moment that it reads. */
  boolean isAsOf() {
    return options.asOf().isPresent();
  }

  /** The user who may use it. */
  public String startedBy() {
    return startedBy;
  }

  /**
   * One time for all statements of the transaction: what has expired does not change in between.
   */
  public long nowInSeconds() {
    return moment.nowInSeconds;
  }

  public long ageMillis() {
    return nowMillis.getAsLong() - startedAtMillis;
  }

  /** For how long its client has asked for nothing; means nothing while a statement runs. */
  public long idleMillis() {
    return nowMillis.getAsLong() - lastUsedMillis;
  }

  /** Its client is not idle. */
  void use() {
    lastUsedMillis = nowMillis.getAsLong();
  }

  /**
   * Begins a statement; {@link #leave} ends it.
   *
   * @throws IsoldeException TRANSACTION_NOT_FOUND, if it has ended, or why it can't go on
   */
  void enter() {
    inUse.readLock().lock();
    countStatement();
    try {
      requireOpen(false);
    } catch (IsoldeException e) {
      inUse.readLock().unlock();
      throw e;
    }
  }

  /**
   * Begins a statement that locks rows: one at a time. {@link #leaveLocking} ends it.
   *
   * @param waitNanos for another one
   * @return false if that is still there
   */
  boolean enterLocking(long waitNanos) {
    try {
      if (!locking.tryLock(waitNanos, TimeUnit.NANOSECONDS)) {
        return false;
      }
    } catch (InterruptedException e) {
      throw new UncheckedInterruptedException(e);
    }
    try {
      enter();
      return true;
    } catch (RuntimeException | Error e) {
      locking.unlock();
      throw e;
    }
  }

  /**
   * Ends a statement that locks rows.
   *
   * @param isAnswered if not, nobody has seen anything of it, and the next one may be the first
   */
  void leaveLocking(boolean isAnswered) {
    if (!isAnswered) {
      synchronized (this) {
        statements--;
      }
    }
    locking.unlock();
    leave();
  }

  private synchronized void countStatement() {
    statements++;
  }

  /**
   * Sees what is newer from now on, if the statement that asks for it is the first.
   *
   * @param snapshot in microseconds, not below the start timestamp
   * @return whether it is the first
   */
  synchronized boolean advanceTo(long snapshot) {
    if (statements > 1) {
      return false;
    }
    assert snapshot >= moment.timestamp : "a transaction does not go back in time";
    long seconds = TimeUnit.MICROSECONDS.toSeconds(snapshot);
    moment = new Moment(snapshot, Math.max(moment.nowInSeconds, seconds));
    return true;
  }

  synchronized boolean isFirstStatement() {
    return statements <= 1;
  }

  private void requireOpen(boolean evenIfFailed) {
    boolean isDoomed = evenIfFailed ? isLost() : doom().isPresent();
    // While it commits, no answer may say that nothing of it can be committed.
    if (commit == null && isDoomed) {
      throw doom().orElseThrow().toException(id);
    }
    if (ended) {
      throw IsoldeException.of(
          ErrorCode.TRANSACTION_NOT_FOUND,
          "The transaction " + id + " has ended meanwhile.",
          "transaction",
          id);
    }
  }

  /**
   * As {@link #enter}, for a statement that writes: one at a time, so that those that read first
   * see all that was written before. {@link #leaveWriting} ends it.
   */
  void enterWriting() {
    enter();
    writing.lock();
  }

  void leaveWriting() {
    writing.unlock();
    leave();
  }

  /** Only now its client begins to be idle: the statement may have run for long. */
  void leave() {
    use();
    inUse.readLock().unlock();
  }

  /** Only what may conflict is recorded. */
  ReadRecorder recorder() {
    return isReadOnly() || level() == IsolationLevel.SNAPSHOT ? ReadRecorder.NONE : reads;
  }

  /** What it has written to, and what it has read as far as that is recorded. */
  Set<TableMetadata> tables() {
    Set<TableMetadata> tables = reads.tables();
    tables.addAll(writtenTables());
    return tables;
  }

  /** What it has written to. */
  public Set<TableMetadata> writtenTables() {
    return Tables.distinct(Iterables.transform(writes.all(), PartitionUpdate::metadata));
  }

  ReadSet reads() {
    return reads;
  }

  WriteBuffer writes() {
    return writes;
  }

  public int readCount() {
    return reads.size();
  }

  /** How many statements have written something. */
  public int writeCount() {
    return writes.statements();
  }

  public long writeBytes() {
    return writes.bytes();
  }

  ReadWriteLock inUse() {
    return inUse;
  }

  /** Whether it has had a statement. */
  synchronized boolean isUsed() {
    return statements > 0;
  }

  /** From now on nothing can be committed. The first reason is the one that is told. */
  void doom(EndedTransactions.End why) {
    doom.compareAndSet(null, why);
  }

  /**
   * A statement has failed: nothing can be committed any more, unless the transaction goes back to
   * a savepoint. The first reason is the one that is reported.
   */
  void fail(EndedTransactions.End why) {
    failure.compareAndSet(null, why);
  }

  /** Why it can't commit, if it can't. */
  Optional<EndedTransactions.End> doom() {
    EndedTransactions.End why = doom.get();
    return Optional.ofNullable(why != null ? why : failure.get());
  }

  /** Whether no savepoint can save it any more. */
  boolean isLost() {
    return doom.get() != null || (failure.get() != null && savepoints.isEmpty());
  }

  /**
   * Sets, releases or goes back to a savepoint, while no statement runs.
   *
   * @param forgetsFailure whether what has failed is taken back by it
   */
  void atSavepoints(Consumer<Savepoints> change, boolean forgetsFailure) {
    inUse.writeLock().lock();
    try {
      requireOpen(forgetsFailure);
      change.accept(savepoints);
      if (forgetsFailure) {
        failure.set(null);
      }
      use();
    } finally {
      inUse.writeLock().unlock();
    }
  }

  boolean hasEnded() {
    return ended;
  }

  void markEnded() {
    ended = true;
    writes.release();
  }

  /** The answer of its COMMIT, if that has begun. */
  Optional<CompletableFuture<Transactions.Result>> commit() {
    return Optional.ofNullable(commit);
  }

  void commits(CompletableFuture<Transactions.Result> newCommit) {
    commit = newCommit;
  }
}
