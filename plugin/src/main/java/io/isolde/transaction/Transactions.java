// SPDX-License-Identifier: Apache-2.0
package io.isolde.transaction;

import com.google.common.collect.Lists;
import io.isolde.answer.Answers;
import io.isolde.config.TransactionSettings;
import io.isolde.conflict.ReadSet;
import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import io.isolde.oracle.Conflict;
import io.isolde.oracle.IsolationLevel;
import io.isolde.oracle.Outcome;
import io.isolde.replicated.Oracle;
import io.isolde.rowlock.RowLocks;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.utils.concurrent.UncheckedInterruptedException;

/** The open transactions of this node. Thread-safe and bounded. */
public final class Transactions {
  /** For statements that run; longer ones end their transaction by themselves. */
  private static final long MAX_KILL_WAIT_MILLIS = 1000;

  private final TransactionSettings settings;
  private final Oracle oracle;
  private final Committer committer;
  private final CommitMemory memory;
  private final RowLocks locks;
  private final LongSupplier nowMillis;
  private final TransactionListener listener;
  private final Map<UUID, Transaction> open = new ConcurrentHashMap<>();
  private final EndedTransactions ended = new EndedTransactions();

  Transactions(
      TransactionSettings settings,
      Oracle oracle,
      Committer committer,
      CommitMemory memory,
      RowLocks locks,
      LongSupplier nowMillis,
      TransactionListener listener) {
    this.settings = settings;
    this.oracle = oracle;
    this.committer = committer;
    this.memory = memory;
    this.locks = locks;
    this.nowMillis = nowMillis;
    this.listener = listener;
  }

  /** What a client may ask for when it starts a transaction. */
  public record Options(IsolationLevel level, boolean readOnly, OptionalLong asOf) {
    public Options {
      if (asOf.isPresent()) {
        readOnly = true;
      }
    }
  }

  /** How a transaction ended. */
  public record Result(UUID id, boolean committed, OptionalLong commitTimestamp) {}

  /**
   * Opens a transaction; asked for twice with the same id and options by the same user, gives the
   * same. Waits only for one that reads the past. A thread that must not block may complete it.
   *
   * @throws IsoldeException TRANSACTION_ALREADY_OPEN if it is open with other options, or decided;
   *     TRANSACTION_ABORTED, TRANSACTION_EXPIRED if it has ended; TOO_MANY_TRANSACTIONS
   */
  public CompletableFuture<Transaction> begin(UUID id, Options options, String user) {
    Transaction existing = open.get(id);
    if (existing != null) {
      return CompletableFuture.completedFuture(withOptions(checked(existing, user), options));
    }
    requireNotEnded(id, user);
    if (open.size() >= settings.maxOpen()) {
      throw tooMany();
    }
    long askedNanos = System.nanoTime();
    var started =
        options.asOf.isPresent()
            ? CompletableFuture.completedFuture(
                PastStart.begin(oracle, id, options.asOf.getAsLong()))
            : oracle.begin(id);
    return started.thenApply(start -> opened(id, options, start, user, askedNanos));
  }

  private static IsoldeException tooMany() {
    return IsoldeException.of(
        ErrorCode.TOO_MANY_TRANSACTIONS,
        "This node has as many open transactions as it may; try again when some have ended.",
        "limit",
        "max_open_transactions");
  }

  private Transaction opened(UUID id, Options options, long start, String user, long askedNanos) {
    if (!open.containsKey(id) && open.size() >= settings.maxOpen()) {
      oracle.end(id); // Others have begun while it waited.
      throw tooMany();
    }
    Transaction transaction =
        new Transaction(
            id,
            options,
            start,
            TimeUnit.MICROSECONDS.toSeconds(start),
            user,
            nowMillis,
            new ReadSet(settings.maxReads()),
            new WriteBuffer(settings.maxWriteBytes(), memory));
    Transaction raced = open.putIfAbsent(id, transaction);
    if (raced != null) {
      return withOptions(checked(raced, user), options);
    }
    listener.begun(System.nanoTime() - askedNanos);
    return transaction;
  }

  /**
   * Nobody begins again what this node has ended.
   *
   * @throws IsoldeException TRANSACTION_ABORTED, TRANSACTION_EXPIRED
   */
  public void requireNotEnded(UUID id, String user) {
    Optional<EndedTransactions.End> why = ended.of(id, user);
    if (why.isPresent()) {
      throw why.get().toException(id);
    }
  }

  private static Transaction withOptions(Transaction existing, Options options) {
    if (!existing.options().equals(options)) {
      throw openOtherwise(existing.id());
    }
    return existing;
  }

  /** To a START with the id of a transaction that was started otherwise. */
  public static IsoldeException openOtherwise(UUID id) {
    return IsoldeException.of(
        ErrorCode.TRANSACTION_ALREADY_OPEN,
        "The transaction %s is open with other options; take a fresh id for each.".formatted(id),
        "transaction",
        id);
  }

  /**
   * Finds an open transaction.
   *
   * @throws IsoldeException TRANSACTION_ABORTED, TRANSACTION_EXPIRED, TRANSACTION_ROLLED_BACK,
   *     TRANSACTION_NOT_FOUND
   */
  public Transaction find(UUID id, String user) {
    Transaction transaction = open.get(id);
    if (transaction == null) {
      throw notOpen(id, user);
    }
    return checked(transaction, user);
  }

  private Transaction checked(Transaction transaction, String user) {
    if (!transaction.startedBy().equals(user)) {
      throw notOpen(transaction.id(), user); // and not a word about whose it is
    }
    transaction.use();
    return transaction;
  }

  private IsoldeException notOpen(UUID id, String user) {
    return ended
        .of(id, user)
        .map(why -> why.toException(id))
        .orElseGet(
            () ->
                IsoldeException.of(
                    ErrorCode.TRANSACTION_NOT_FOUND,
                    "No transaction %s is open on this node: it ended, or started on another node."
                        .formatted(id),
                    "transaction",
                    id));
  }

  /**
   * Commits, after the last writes of the transaction, if it is open. Nobody finds it with these
   * writes and uncommitted: they are written once, however often this is repeated. If they can't be
   * written it stays open, until {@link #abort}.
   *
   * <p>May be repeated with the same id, also when the answer was lost, and on other nodes. While
   * it is under way, the repeated one gets the same answer, or waits for it.
   *
   * @param startTimestamp if it is given, a transaction that is neither open here nor decided is
   *     aborted. Then the answer is final, wherever its coordinator is and whatever it does
   * @return completes when it is committed and visible; may fail as this method does
   * @throws IsoldeException as {@link Committer#commit}, and as {@link #find}
   */
  public CompletableFuture<Result> commit(
      UUID id, Consumer<Transaction> lastWrites, OptionalLong startTimestamp, String user) {
    Transaction transaction = open.get(id);
    if (transaction == null) {
      return decided(id, startTimestamp, user);
    }
    checked(transaction, user);
    Lock lock = transaction.inUse().writeLock();
    lock.lock();
    try {
      if (transaction.commit().isPresent() && startTimestamp.isEmpty()) {
        return transaction.commit().get();
      }
      if (transaction.hasEnded()) {
        return decidedAfter(transaction, startTimestamp, user);
      }
      if (transaction.doom().isPresent()) {
        endDoomed(transaction);
        throw notOpen(id, user);
      }
      lastWrites.accept(transaction);
      if (transaction.doom().isPresent()) { // Meanwhile: they may have read for long.
        endDoomed(transaction);
        throw notOpen(id, user);
      }
      return commit(transaction);
    } finally {
      lock.unlock();
    }
  }

  /** A final answer waits for the commit that is under way: that may not know how it ends. */
  private CompletableFuture<Result> decidedAfter(
      Transaction transaction, OptionalLong startTimestamp, String user) {
    transaction.commit().ifPresent(commit -> Answers.await(commit.handle((done, failure) -> null)));
    return decided(transaction.id(), startTimestamp, user);
  }

  private CompletableFuture<Result> decided(UUID id, OptionalLong startTimestamp, String user) {
    Result result = decided(id, startTimestamp).orElseThrow(() -> notOpen(id, user));
    return CompletableFuture.completedFuture(result);
  }

  private Optional<Result> decided(UUID id, OptionalLong startTimestamp) {
    Optional<Outcome> outcome = asked(id, startTimestamp);
    if (outcome.isPresent() && outcome.get() instanceof Outcome.Committed committed) {
      committer.awaitVisible(id, committed.commitTimestamp());
      return Optional.of(new Result(id, true, OptionalLong.of(committed.commitTimestamp())));
    }
    if (outcome.isPresent()) {
      boolean isRequested =
          ((Outcome.Aborted) outcome.get()).conflict().kind() == Conflict.Kind.REQUESTED;
      throw IsoldeException.of(
          ErrorCode.CONFLICT,
          isRequested
              ? "The transaction was not decided, and is aborted now, so that this is certain."
              : "The transaction was aborted because of a conflict when it was first committed.",
          "transaction",
          id);
    }
    return Optional.empty();
  }

  /** An earlier COMMIT may have been decided, so that no answer means that nobody knows. */
  private Optional<Outcome> asked(UUID id, OptionalLong startTimestamp) {
    try {
      return startTimestamp.isPresent()
          ? oracle.resolve(id, startTimestamp.getAsLong())
          : oracle.outcome(id);
    } catch (IsoldeException e) {
      if (e.errorCode() != ErrorCode.ORACLE_UNAVAILABLE
          && e.errorCode() != ErrorCode.ORACLE_OVERLOADED) {
        throw e;
      }
      IsoldeException unknown =
          IsoldeException.of(
              ErrorCode.OUTCOME_UNKNOWN,
              "The oracle did not answer whether the transaction is committed. COMMIT with the same"
                  + " transaction id tells when it does.",
              "transaction",
              id);
      unknown.addSuppressed(e);
      throw unknown;
    }
  }

  /** While it is held exclusively: afterwards others find that it has ended, and its commit. */
  private CompletableFuture<Result> commit(Transaction transaction) {
    List<PartitionUpdate> updates = transaction.writes().all();
    transaction.markEnded();
    CompletableFuture<Result> commit;
    try {
      commit = updates.isEmpty() ? commitNothing(transaction) : commitWrites(transaction, updates);
    } catch (RuntimeException | Error e) {
      over(transaction);
      throw e;
    }
    commit = commit.whenComplete((result, failure) -> over(transaction));
    transaction.commits(commit);
    return commit;
  }

  private void over(Transaction transaction) {
    locks.release(transaction.id());
    oracle.end(transaction.id());
    open.remove(transaction.id());
  }

  private CompletableFuture<Result> commitNothing(Transaction transaction) {
    UUID id = transaction.id();
    if (!transaction.isUsed()) {
      requireUndecided(id);
    }
    listener.committedNothing();
    // What it read was there at its start, all at once: that is where it stands in the order.
    return CompletableFuture.completedFuture(
        new Result(id, true, OptionalLong.of(transaction.startTimestamp())));
  }

  private CompletableFuture<Result> commitWrites(
      Transaction transaction, List<PartitionUpdate> updates) {
    UUID id = transaction.id();
    checkTables(transaction, updates);
    return committer
        .commit(id, transaction.level(), transaction.startTimestamp(), transaction.reads(), updates)
        .thenApply(timestamp -> new Result(id, true, OptionalLong.of(timestamp)));
  }

  /**
   * For one that only began here: perhaps an answer to START was lost, it was begun again on
   * another node, and the question is how it ended there.
   */
  private void requireUndecided(UUID id) {
    if (asked(id, OptionalLong.empty()).isPresent()) {
      throw idTaken(id);
    }
  }

  static IsoldeException idTaken(UUID id) {
    return IsoldeException.of(
        ErrorCode.TRANSACTION_ID_TAKEN,
        "Another transaction with the same id was decided, on another node; nothing of this one is"
            + " committed. Take a fresh id for each transaction.",
        "transaction",
        id);
  }

  /** What tables had may have been taken from them since the transaction started. */
  static void checkTables(Transaction transaction, List<PartitionUpdate> updates) {
    for (TableMetadata table : transaction.tables()) {
      Tables.requireSame(table, transaction.startTimestamp(), transaction.id());
    }
    for (TableMetadata table : Tables.distinct(Lists.transform(updates, one -> one.metadata()))) {
      Tables.requireWritable(table, transaction.startTimestamp(), transaction.id());
    }
  }

  /**
   * What became of a transaction of any node; empty if it is not decided, or was so long ago that
   * the oracle has forgotten it. One that only read, or was rolled back, is never decided.
   *
   * @throws IsoldeException ORACLE_UNAVAILABLE
   */
  public Optional<Outcome> outcome(UUID id) {
    return oracle.outcome(id);
  }

  /** The tables that an open transaction has used; none if it is not open. */
  public Set<TableMetadata> tablesOf(UUID id) {
    Transaction transaction = open.get(id);
    return transaction == null ? Set.of() : transaction.tables();
  }

  /** Ends a transaction without a trace. One that this node has ended is rolled back already. */
  public Result rollback(UUID id, String user) {
    boolean endedByNode =
        ended
            .of(id, user)
            .filter(why -> why.code() != ErrorCode.TRANSACTION_ROLLED_BACK)
            .isPresent();
    if (open.containsKey(id) || !endedByNode) {
      Transaction transaction = find(id, user);
      boolean isEnded =
          end(
              transaction,
              new EndedTransactions.End(
                  ErrorCode.TRANSACTION_ROLLED_BACK,
                  "The transaction was rolled back, and nothing of it is committed; start another"
                      + " one.",
                  null));
      if (!isEnded) {
        throw notOpen(id, user); // COMMIT was faster.
      }
      listener.rolledBack();
    }
    return new Result(id, false, OptionalLong.empty());
  }

  /** Sets a savepoint in an open transaction. */
  public void setSavepoint(UUID id, String name, String user) {
    find(id, user).atSavepoints(savepoints -> savepoints.set(name), false);
  }

  /** Goes back to a savepoint of an open transaction, also after a statement that has failed. */
  public void rollBackTo(UUID id, String name, String user) {
    find(id, user).atSavepoints(savepoints -> savepoints.backTo(name), true);
  }

  /** Forgets a savepoint of an open transaction, and those that were set after it. */
  public void releaseSavepoint(UUID id, String name, String user) {
    find(id, user).atSavepoints(savepoints -> savepoints.release(name), false);
  }

  /**
   * A statement was not carried out that was to change something: nothing of its transaction can be
   * committed any more, unless that goes back to a savepoint. Does nothing if the transaction is
   * not open, or another user's.
   */
  public void fail(UUID id, String user, Throwable cause) {
    Transaction transaction = open.get(id);
    if (transaction != null && transaction.startedBy().equals(user)) {
      transaction.fail(aborted(cause));
      endIfLost(transaction);
    }
  }

  private void endIfLost(Transaction transaction) {
    if (transaction.isLost()) { // It may go back to a savepoint meanwhile.
      transaction.doom().ifPresent(why -> endSoon(transaction.id(), transaction.startedBy(), why));
    }
  }

  /** As {@link #fail}, and no savepoint saves it. */
  public void abort(UUID id, String user, Throwable cause) {
    endSoon(id, user, aborted(cause));
  }

  /** As {@link #abort}, of a transaction that the statement was to begin and did not. */
  public void refuse(UUID id, String user, Throwable cause) {
    ended.add(id, user, aborted(cause));
  }

  static EndedTransactions.End aborted(Throwable cause) {
    return new EndedTransactions.End(
        ErrorCode.TRANSACTION_ABORTED,
        "An earlier statement of the transaction failed, so nothing of it can be committed;"
            + " ROLLBACK, and run all of it again. (Or ROLLBACK TO a savepoint, if it has one.)",
        cause instanceof IsoldeException known ? known.errorCode().name() : null);
  }

  /**
   * Ends a transaction by the will of the user who started it, or of a superuser.
   *
   * @return false if its COMMIT was faster
   * @throws IsoldeException TRANSACTION_NOT_FOUND, to all others, too; UNAVAILABLE if one of its
   *     statements runs for long: then it ends after that
   */
  public boolean kill(UUID id, String user, boolean isSuperuser) {
    Transaction transaction = open.get(id);
    if (transaction == null || !(isSuperuser || transaction.startedBy().equals(user))) {
      throw notOpen(id, user);
    }
    transaction.doom(
        new EndedTransactions.End(
            ErrorCode.TRANSACTION_ABORTED,
            "KILL TRANSACTION has ended the transaction; nothing of it is committed.",
            null));
    Lock lock = transaction.inUse().writeLock();
    if (!isLockedInTime(lock)) {
      throw IsoldeException.of(
          ErrorCode.UNAVAILABLE,
          "A statement of the transaction still runs; after it, the transaction ends.",
          "transaction",
          id);
    }
    try {
      boolean isOpen = !transaction.hasEnded();
      endDoomed(transaction);
      return isOpen;
    } finally {
      lock.unlock();
    }
  }

  private static boolean isLockedInTime(Lock lock) {
    try {
      return lock.tryLock(MAX_KILL_WAIT_MILLIS, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      throw new UncheckedInterruptedException(e);
    }
  }

  /** Its client is gone, or has lost the connection that stood for it. */
  public void abandon(UUID id, String user, String sentence) {
    endSoon(id, user, new EndedTransactions.End(ErrorCode.TRANSACTION_EXPIRED, sentence, null));
  }

  private void endSoon(UUID id, String user, EndedTransactions.End why) {
    Transaction transaction = open.get(id);
    if (transaction == null || !transaction.startedBy().equals(user)) {
      return;
    }
    transaction.doom(why);
    Lock lock = transaction.inUse().writeLock();
    if (lock.tryLock()) { // Else by COMMIT or expire(): another statement runs, or COMMIT does.
      try {
        endDoomed(transaction);
      } finally {
        lock.unlock();
      }
    }
  }

  /** While it is held exclusively. COMMIT may have been faster. */
  private void endDoomed(Transaction transaction) {
    if (end(transaction, transaction.doom().orElseThrow())) {
      listener.rolledBack();
    }
  }

  /** Returns false if it has ended before: COMMIT keeps it open until that is over. */
  private boolean end(Transaction transaction, EndedTransactions.End why) {
    Lock lock = transaction.inUse().writeLock();
    lock.lock();
    try {
      if (transaction.hasEnded()) {
        return false;
      }
      transaction.markEnded();
      ended.add(transaction.id(), transaction.startedBy(), why);
      over(transaction);
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** Ends the transactions that are too old or were idle for too long. Called from time to time. */
  void expire() {
    for (Transaction transaction : open.values()) {
      String reason = null;
      endIfLost(transaction);
      if (transaction.ageMillis() > settings.maxAgeMillis()) {
        reason = "The transaction was open for longer than transaction_max_age; it is rolled back.";
      } else if (transaction.idleMillis() > settings.maxIdleMillis()) {
        reason =
            "The transaction was idle for longer than transaction_max_idle; it is rolled back.";
      }
      if (reason != null) {
        expire(transaction, reason);
      }
    }
  }

  /** Not while a statement runs: then the next time. */
  private void expire(Transaction transaction, String reason) {
    Lock lock = transaction.inUse().writeLock();
    if (lock.tryLock()) {
      try {
        if (transaction.doom().isPresent()) {
          endDoomed(transaction);
        } else if (end(
            transaction, new EndedTransactions.End(ErrorCode.TRANSACTION_EXPIRED, reason, null))) {
          listener.expired();
        }
      } finally {
        lock.unlock();
      }
    }
  }

  public boolean isOpen(UUID id) {
    return open.containsKey(id);
  }

  public Collection<Transaction> open() {
    return Collections.unmodifiableCollection(open.values());
  }
}
