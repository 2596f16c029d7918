// SPDX-License-Identifier: Apache-2.0
package io.isolde.transaction;

import io.isolde.config.IsoldeConfig;
import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import io.isolde.oracle.Conflict;
import io.isolde.oracle.IsolationLevel;
import io.isolde.oracle.Outcome;
import io.isolde.version.NodeVersions;
import io.isolde.version.VersionIndex;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.Lock;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.exceptions.ReadFailureException;
import org.apache.cassandra.schema.TableMetadata;

/** The open transactions of this node. Thread-safe and bounded. */
public final class Transactions {
  private final IsoldeConfig config;
  private final Oracle oracle;
  private final Committer committer;
  private final LongSupplier nowMillis;
  private final TransactionListener listener;
  private final Map<UUID, Transaction> open = new ConcurrentHashMap<>();
  private final ExpiredTransactions expired = new ExpiredTransactions();

  Transactions(
      IsoldeConfig config,
      Oracle oracle,
      Committer committer,
      LongSupplier nowMillis,
      TransactionListener listener) {
    this.config = config;
    this.oracle = oracle;
    this.committer = committer;
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

  /** Opens a transaction; asked for twice with the same id by the same user, gives the same. */
  public Transaction begin(UUID id, Options options, String user) {
    Transaction existing = open.get(id);
    if (existing != null) {
      return checked(existing, user);
    }
    if (open.size() >= config.maxOpenTransactions()) {
      throw IsoldeException.of(
          ErrorCode.TOO_MANY_TRANSACTIONS,
          "This node has " + open.size() + " open transactions, as many as it may have.",
          "limit",
          "max_open_transactions");
    }
    long askedNanos = System.nanoTime();
    long start = options.asOf.isPresent() ? beginAt(id, options) : oracle.begin(id);
    Transaction transaction =
        new Transaction(
            id,
            options.level,
            start,
            options.readOnly,
            user,
            nowMillis,
            new ReadSet(config.maxReads()),
            new WriteBuffer(config.maxWriteBytes()));
    Transaction raced = open.putIfAbsent(id, transaction);
    if (raced != null) {
      return checked(raced, user);
    }
    listener.begun(System.nanoTime() - askedNanos);
    return transaction;
  }

  private long beginAt(UUID id, Options options) {
    if (oracle.outcome(id).isPresent()) {
      throw Oracle.alreadyDecided(id);
    }
    // Commits have even timestamps: the odd one in between sees the same.
    long asOf = options.asOf.getAsLong() & ~1L;
    long stable = oracle.stable();
    if (asOf > stable && asOf <= oracle.next()) {
      stable = oracle.stable(); // It had stood still, as nobody had begun anything.
    }
    if (asOf > stable || asOf < 0) {
      throw IsoldeException.of(
          ErrorCode.INVALID_TIMESTAMP,
          "AS OF takes microseconds since 1970, up to "
              + stable
              + " by now; "
              + options.asOf.getAsLong()
              + " is not in the past.",
          "as_of",
          asOf,
          "stable",
          stable);
    }
    oracle.beginAt(id, asOf);
    return asOf;
  }

  /**
   * Finds an open transaction.
   *
   * @throws IsoldeException TRANSACTION_EXPIRED, TRANSACTION_NOT_FOUND
   */
  public Transaction find(UUID id, String user) {
    Transaction transaction = open.get(id);
    if (transaction == null) {
      throw notOpen(id);
    }
    return checked(transaction, user);
  }

  private Transaction checked(Transaction transaction, String user) {
    if (!transaction.startedBy().equals(user)) {
      throw notOpen(transaction.id()); // and not a word about whose it is
    }
    transaction.use();
    return transaction;
  }

  private IsoldeException notOpen(UUID id) {
    return expired
        .reasonOf(id)
        .map(reason -> IsoldeException.of(ErrorCode.TRANSACTION_EXPIRED, reason, "transaction", id))
        .orElseGet(
            () ->
                IsoldeException.of(
                    ErrorCode.TRANSACTION_NOT_FOUND,
                    "No transaction "
                        + id
                        + " is open on this node: it ended, or started on another node.",
                    "transaction",
                    id));
  }

  /**
   * Commits. May be repeated with the same id, also when the answer was lost, and on other nodes.
   *
   * @param startTimestamp if it is given, a transaction that is neither open here nor decided is
   *     aborted, so that the answer is final wherever its coordinator is and whatever it does
   * @throws IsoldeException as {@link Committer#commit}, and as {@link #find}
   */
  public Result commit(UUID id, OptionalLong startTimestamp, String user) {
    return commit(id, transaction -> {}, startTimestamp, user);
  }

  /**
   * As {@link #commit(UUID, OptionalLong, String)}, after the last writes of the transaction, if it
   * is open. Nobody finds it with these writes and uncommitted: they are written once, however
   * often this is repeated. If they can't be written it stays open.
   */
  public Result commit(
      UUID id, Consumer<Transaction> lastWrites, OptionalLong startTimestamp, String user) {
    Transaction transaction = open.get(id);
    if (transaction == null) {
      return decided(id, startTimestamp).orElseThrow(() -> notOpen(id));
    }
    checked(transaction, user);
    Lock lock = transaction.inUse().writeLock();
    lock.lock();
    try {
      if (transaction.hasEnded()) {
        return decided(id, startTimestamp).orElseThrow(() -> notOpen(id));
      }
      lastWrites.accept(transaction);
      transaction.markEnded();
      try {
        return commit(transaction);
      } finally {
        open.remove(id);
      }
    } finally {
      lock.unlock();
    }
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
          ? oracle.settle(id, startTimestamp.getAsLong())
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

  private Result commit(Transaction transaction) {
    UUID id = transaction.id();
    List<PartitionUpdate> updates = transaction.writes().all();
    if (updates.isEmpty()) {
      oracle.end(id);
      listener.committedNothing();
      // What it read was there at its start, all at once: that is where it stands in the order.
      return new Result(id, true, OptionalLong.of(transaction.startTimestamp()));
    }
    long commitTimestamp;
    try {
      checkTables(transaction);
      commitTimestamp =
          committer.commit(
              id, transaction.level(), transaction.startTimestamp(), transaction.reads(), updates);
    } catch (RuntimeException | Error e) {
      oracle.end(id);
      throw e;
    }
    return new Result(id, true, OptionalLong.of(commitTimestamp));
  }

  /** A table may have been truncated, or have become plain, since the transaction started. */
  private static void checkTables(Transaction transaction) {
    for (TableMetadata table : transaction.tables()) {
      VersionIndex versions = Tables.requireTransactional(table);
      if (!versions.existedAt(transaction.startTimestamp())) {
        throw IsoldeException.of(
            ErrorCode.SNAPSHOT_TOO_OLD,
            "The table " + table + " was truncated or made transactional meanwhile; start again.",
            "table",
            table,
            "transaction",
            transaction.id());
      }
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

  /** Ends a transaction without a trace. */
  public Result rollback(UUID id, String user) {
    end(find(id, user));
    listener.rolledBack();
    return new Result(id, false, OptionalLong.empty());
  }

  private void end(Transaction transaction) {
    Lock lock = transaction.inUse().writeLock();
    lock.lock();
    try {
      if (!transaction.hasEnded()) {
        transaction.markEnded();
        oracle.end(transaction.id());
      }
    } finally {
      open.remove(transaction.id());
      lock.unlock();
    }
  }

  /** Ends the transactions that are too old or were idle for too long. Called from time to time. */
  void expire() {
    for (Transaction transaction : open.values()) {
      String reason = null;
      if (transaction.ageMillis() > config.maxAgeMillis()) {
        reason = "The transaction was open for longer than transaction_max_age; it is rolled back.";
      } else if (transaction.idleMillis() > config.maxIdleMillis()) {
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
        expired.add(transaction.id(), reason);
        end(transaction);
        listener.expired();
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

  /** Helps with errors of reads: whether this node has given up what a snapshot needs. */
  static Optional<IsoldeException> tooOld(VersionIndex versions, long asOf) {
    if (versions.versions().horizon().covers(asOf)) {
      return Optional.empty();
    }
    return Optional.of(tooOld(versions, asOf, versions.versions().horizon().timestamp()));
  }

  /** So it is most of the time when another replica fails; if not, the next attempt tells. */
  static IsoldeException tooOldElsewhere(
      VersionIndex versions, long asOf, ReadFailureException failure) {
    IsoldeException tooOld =
        IsoldeException.of(
            ErrorCode.SNAPSHOT_TOO_OLD,
            "A replica of "
                + versions.table()
                + " could not read as of that time: it has restarted since, or has another problem,"
                + " which its log tells ("
                + failure.getMessage()
                + "); start again.",
            "table",
            versions.table(),
            "as_of",
            asOf);
    tooOld.addSuppressed(failure);
    return tooOld;
  }

  static IsoldeException tooOld(VersionIndex versions, long asOf, long horizon) {
    return IsoldeException.of(
        ErrorCode.SNAPSHOT_TOO_OLD,
        "The snapshot is older than what is kept of "
            + versions.table()
            + " ("
            + NodeVersions.ofThisNode().bytes()
            + " bytes of old versions are in memory); start again.",
        "table",
        versions.table(),
        "as_of",
        asOf,
        "horizon",
        horizon);
  }
}
