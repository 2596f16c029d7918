// SPDX-License-Identifier: Apache-2.0
package io.isolde.transaction;

import io.isolde.conflict.Granule;
import io.isolde.conflict.ReadSet;
import io.isolde.conflict.RowIds;
import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import io.isolde.oracle.IsolationLevel;
import io.isolde.oracle.lock.LockTable;
import io.isolde.read.FoundRows;
import io.isolde.read.LockingSelect;
import io.isolde.replicated.Oracle;
import io.isolde.rowlock.RowLocks;
import io.isolde.statement.ClientRequest;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.cassandra.cql3.QueryOptions;
import org.apache.cassandra.db.Clustering;
import org.apache.cassandra.db.ConsistencyLevel;
import org.apache.cassandra.db.DecoratedKey;
import org.apache.cassandra.db.ReadQuery;
import org.apache.cassandra.db.SinglePartitionReadCommand;
import org.apache.cassandra.db.filter.ClusteringIndexNamesFilter;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.transport.messages.ResultMessage;
import org.apache.cassandra.utils.concurrent.UncheckedInterruptedException;

/**
 * SELECT … FOR UPDATE. As the first statement of its transaction it waits for the rows, and then
 * takes the snapshot: it sees what those have written that it has waited for. Later, it waits and
 * finds out whether the rows have changed since the snapshot.
 *
 * <p>Rows that the statement names by their keys are locked before they are read, also where there
 * are none. All others are found by a read, locked, and read again, until all that is found is
 * locked.
 */
final class LockingReads {
  /** Others may insert rows, or lock more of them, while this statement reads and locks. */
  private static final int MIN_ROUNDS = 3;

  private final Oracle oracle;
  private final RowLocks locks;

  LockingReads(Oracle oracle, RowLocks locks) {
    this.oracle = oracle;
    this.locks = locks;
  }

  /** Reads from the transaction's snapshot. */
  interface Reader {
    ResultMessage.Rows read(FoundRows found);
  }

  /** The rows that a read returns, and those that it leaves out. */
  private static final class Rows implements FoundRows {
    private final Set<Long> excluded;
    private final Map<Long, Granule> found = new LinkedHashMap<>();

    /** Whether a partition with nothing but static columns is a row of the answer. */
    private final boolean hasStatic;

    Rows(Set<Long> excluded, boolean hasStatic) {
      this.excluded = excluded;
      this.hasStatic = hasStatic;
    }

    @Override
    public boolean isExcluded(TableMetadata table, DecoratedKey key, Clustering<?> row) {
      return !excluded.isEmpty() && excluded.contains(RowIds.row(table, key, row));
    }

    @Override
    public void found(TableMetadata table, DecoratedKey key, Clustering<?> row) {
      if (row == Clustering.STATIC_CLUSTERING && !hasStatic) {
        return;
      }
      found.put(RowIds.row(table, key, row), new Granule(table, key, row));
      if (found.size() > LockTable.MAX_ROWS_EACH) {
        throw IsoldeException.of(
            ErrorCode.TRANSACTION_TOO_LARGE,
            "FOR UPDATE found more than "
                + LockTable.MAX_ROWS_EACH
                + " rows, as many as a transaction may lock; lock fewer at a time.");
      }
    }
  }

  /**
   * Runs the statement, alone of its kind in its transaction.
   *
   * @throws IsoldeException as {@link RowLocks#lock}; ROW_LOCKED also if another such statement of
   *     the transaction waits for too long
   */
  ResultMessage.Rows select(
      Transaction transaction,
      LockingSelect select,
      QueryOptions options,
      ClientRequest request,
      Reader reader) {
    long deadlineNanos = Attempts.deadlineNanos();
    boolean isAlone =
        transaction.enterLocking(0)
            || locks.await(() -> transaction.enterLocking(deadlineNanos - System.nanoTime()));
    if (!isAlone) {
      throw rowLocked(transaction, "Another FOR UPDATE of the transaction still waits.");
    }
    boolean isAnswered = false;
    try {
      ResultMessage.Rows answer =
          lockAndRead(transaction, select, options, request, reader, deadlineNanos);
      isAnswered = true;
      return answer;
    } catch (IsoldeException e) {
      Optional<EndedTransactions.End> end = transaction.doom(); // It may have ended the wait.
      throw end.isPresent() ? end.get().toException(transaction.id()) : e;
    } finally {
      transaction.leaveLocking(isAnswered);
    }
  }

  private ResultMessage.Rows lockAndRead(
      Transaction transaction,
      LockingSelect select,
      QueryOptions options,
      ClientRequest request,
      Reader reader,
      long deadlineNanos) {
    boolean isSkipping = select.mode() == LockTable.Mode.SKIP;
    boolean hasStatic = select.getRestrictions().returnStaticContentOnPartitionWithNoRows();
    Map<Long, Granule> wanted = isSkipping ? Map.of() : named(select, options, request);
    Set<Long> locked = new HashSet<>();
    Set<Long> excluded = new HashSet<>();
    for (int round = 0; round < MIN_ROUNDS || deadlineNanos - System.nanoTime() > 0; round++) {
      Set<Long> ofOthers = lock(transaction, select.mode(), wanted, deadlineNanos);
      excluded.addAll(ofOthers);
      locked.addAll(wanted.keySet());
      locked.removeAll(ofOthers);
      Rows rows = new Rows(excluded, hasStatic);
      ResultMessage.Rows answer = reader.read(rows);
      wanted = rows.found;
      wanted.keySet().removeAll(locked);
      if (wanted.isEmpty()) {
        return answer;
      }
    }
    throw rowLocked(
        transaction,
        "Others insert or lock rows faster than FOR UPDATE finds them. Name rows by their keys.");
  }

  private static IsoldeException rowLocked(Transaction transaction, String sentence) {
    return IsoldeException.of(
        ErrorCode.ROW_LOCKED,
        sentence + " The transaction is open: try again, or roll back.",
        "transaction",
        transaction.id());
  }

  /**
   * Locks rows, so that they are as they are in the snapshot: which is a newer one, if this is the
   * first statement.
   *
   * @return the rows that others have
   */
  private Set<Long> lock(
      Transaction transaction, LockTable.Mode mode, Map<Long, Granule> rows, long deadlineNanos) {
    boolean isFirst = transaction.isFirstStatement();
    if (rows.isEmpty()) {
      var unused = isFirst && advance(transaction, 0, deadlineNanos);
      return Set.of();
    }
    // A later snapshot has all that this node has heard of.
    long since = isFirst ? oracle.stableSoFar() : transaction.startTimestamp();
    RowLocks.Locked locked = ask(transaction, mode, rows, since, deadlineNanos);
    Map<Long, Granule> got = new LinkedHashMap<>(rows);
    got.keySet().removeAll(locked.byOthers());
    boolean isNewer = isFirst && advance(transaction, locked.lastCommit(), deadlineNanos);
    if (!isNewer && !got.isEmpty()) {
      boolean isKnown = !isFirst && mode != LockTable.Mode.SKIP;
      requireUnchanged(
          transaction,
          got,
          isKnown
              ? locked
              : ask(
                  transaction,
                  LockTable.Mode.NOWAIT,
                  got,
                  transaction.startTimestamp(),
                  deadlineNanos));
    }
    if (transaction.level() == IsolationLevel.SNAPSHOT) {
      got.forEach(transaction.reads()::locked); // Else its reads are recorded anyway.
    }
    return locked.byOthers();
  }

  /**
   * Takes a newer snapshot, if this is the first statement.
   *
   * @param atLeast a commit that it must have; it may be decided and not visible yet
   */
  private boolean advance(Transaction transaction, long atLeast, long deadlineNanos) {
    long snapshot = oracle.beginAgain(transaction.id());
    if (snapshot < atLeast) {
      awaitStable(transaction, atLeast, deadlineNanos);
      snapshot = oracle.beginAgain(transaction.id());
    }
    return transaction.advanceTo(snapshot);
  }

  private void awaitStable(Transaction transaction, long commitTimestamp, long deadlineNanos) {
    CompletableFuture<Void> stable = oracle.whenStable(commitTimestamp);
    try {
      stable.get(Math.max(0, deadlineNanos - System.nanoTime()), TimeUnit.NANOSECONDS);
    } catch (TimeoutException | ExecutionException e) {
      stable.cancel(false);
      throw rowLocked(transaction, "What was committed to the row last is not visible yet.");
    } catch (InterruptedException e) {
      throw new UncheckedInterruptedException(e);
    }
  }

  private static void requireUnchanged(
      Transaction transaction, Map<Long, Granule> rows, RowLocks.Locked locked) {
    if (locked.lastCommit() > transaction.startTimestamp()) {
      throw IsoldeException.of(
          ErrorCode.CONFLICT,
          name(rows)
              + " was changed after the snapshot of the transaction. Run the transaction again,"
              + " with FOR UPDATE as its first statement.",
          "transaction",
          transaction.id());
    }
  }

  private RowLocks.Locked ask(
      Transaction transaction,
      LockTable.Mode mode,
      Map<Long, Granule> rows,
      long since,
      long deadlineNanos) {
    ReadSet reads = new ReadSet(Integer.MAX_VALUE);
    rows.forEach(reads::locked);
    Set<Long> readIds = new HashSet<>();
    for (long id : reads.ids()) {
      readIds.add(id);
    }
    return locks.lock(
        new RowLocks.Wanted(
            transaction.id(), Set.copyOf(rows.keySet()), mode, readIds, since, name(rows)),
        deadlineNanos,
        () -> transaction.doom().isPresent());
  }

  private static String name(Map<Long, Granule> rows) {
    Granule first = rows.values().iterator().next();
    String more = rows.size() == 1 ? "" : ", or one of " + (rows.size() - 1) + " more";
    return "The row %s of %s%s".formatted(first.keyName(), first.tableName(), more);
  }

  /** The rows that the statement names by their whole keys. */
  private static Map<Long, Granule> named(
      LockingSelect select, QueryOptions options, ClientRequest request) {
    Map<Long, Granule> rows = new LinkedHashMap<>();
    QueryOptions atOne = QueryOptions.withConsistencyLevel(options, ConsistencyLevel.ONE);
    ReadQuery query = select.getQuery(atOne, request.state().getNowInSeconds());
    if (!(query instanceof SinglePartitionReadCommand.Group group)) {
      return rows;
    }
    for (SinglePartitionReadCommand command : group.queries) {
      TableMetadata table = command.metadata();
      DecoratedKey key = command.partitionKey();
      if (command.clusteringIndexFilter() instanceof ClusteringIndexNamesFilter names) {
        for (Clustering<?> row : names.requestedRows()) {
          rows.put(RowIds.row(table, key, row), new Granule(table, key, row));
        }
      } else if (table.clusteringColumns().isEmpty()) {
        Clustering<?> row = Clustering.EMPTY;
        rows.put(RowIds.row(table, key, row), new Granule(table, key, row));
      }
    }
    return rows;
  }
}
