// SPDX-License-Identifier: Apache-2.0
package io.isolde.transaction;

import io.isolde.apply.StrongTables;
import io.isolde.config.NodeClock;
import io.isolde.conflict.ReadSet;
import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import io.isolde.replicated.Oracle;
import io.isolde.transaction.barrier.ClusterBarrier;
import io.isolde.unique.UniqueKey;
import io.isolde.version.ConflictUnit;
import io.isolde.version.DroppedColumns;
import io.isolde.version.NodeVersions;
import io.isolde.version.VersionIndex;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongConsumer;
import org.apache.cassandra.auth.Permission;
import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.cql3.ColumnIdentifier;
import org.apache.cassandra.cql3.QueryOptions;
import org.apache.cassandra.cql3.QueryProcessor;
import org.apache.cassandra.db.ColumnFamilyStore;
import org.apache.cassandra.db.ConsistencyLevel;
import org.apache.cassandra.io.sstable.format.SSTableReader;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.service.QueryState;
import org.apache.cassandra.transport.Dispatcher;
import org.apache.cassandra.utils.concurrent.UncheckedInterruptedException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Makes tables transactional and plain again, online. */
public final class TableMode {
  private static final long MAX_WAIT_MILLIS = 15_000;

  /** For what a TRUNCATE waits for beside its own time-out. */
  private static final long BEYOND_TRUNCATE_MILLIS = 60_000;

  private final Oracle oracle;
  private final InDoubt inDoubt;
  private final ClusterBarrier barrier;
  private final StrongTables strong;
  private static final Logger logger = LoggerFactory.getLogger(TableMode.class);

  private final TimestampLead lead;

  TableMode(
      Oracle oracle,
      InDoubt inDoubt,
      ClusterBarrier barrier,
      StrongTables strong,
      long maxTimestampLeadMicros) {
    this.strong = strong;
    this.oracle = oracle;
    this.inDoubt = inDoubt;
    this.barrier = barrier;
    this.lead = new TimestampLead(oracle, maxTimestampLeadMicros);
  }

  /**
   * Makes a table transactional, with the data that it has. Asks for the permission to alter it.
   *
   * @param conflicts what two transactions may not both write; empty for rows, or for what it is
   *     already
   * @throws IsoldeException UNSUPPORTED_TABLE; NODE_WITHOUT_ISOLDE or UNAVAILABLE if a node can't
   *     have such a table
   */
  public void enable(TableMetadata table, Optional<ConflictUnit> conflicts, QueryState state) {
    mayAlter(table, state);
    refuseUnsupported(table);
    if (isEnabled(table, conflicts)) {
      return;
    }
    barrier.requireIsoldeEverywhere(table);
    lead.pass(table, DroppedColumns.newestMicrosNow(table));
    // Most of the work before the barrier is closed, so that statements wait for the rest only.
    lead.pass(table, barrier.newestTimestamp(table));
    barrier.whileClosed(
        table,
        () -> {
          if (isEnabled(table, conflicts)) { // Another client was faster.
            return;
          }
          barrier.finishPaxos(table);
          lead.pass(table, barrier.newestTimestamp(table));
          if (strong.isStrong(table.keyspace)) {
            lead.pass(table, strong.newestTimestamp(table.keyspace));
          }
          String create = "CREATE CUSTOM INDEX IF NOT EXISTS %s ON %s () USING '%s'";
          execute(create + conflicts.orElse(ConflictUnit.ROW).indexOptions(), table, state);
          requireFollowers(table, state);
          beginAnew(Tables.requireTransactional(table));
        });
  }

  /** A node that takes the table for a plain one would write to it past the oracle. */
  private void requireFollowers(TableMetadata table, QueryState state) {
    try {
      barrier.requireFollowers(table);
    } catch (IsoldeException e) {
      execute("DROP INDEX IF EXISTS %s", table, state);
      barrier.awaitFollowers(table);
      throw e;
    }
  }

  /** Refuses another unit: transactions that began before would look for conflicts in vain. */
  private static boolean isEnabled(TableMetadata table, Optional<ConflictUnit> conflicts) {
    boolean isEnabled = Tables.isTransactional(table);
    ConflictUnit now = ConflictUnit.now(table);
    if (isEnabled && conflicts.isPresent() && conflicts.get() != now) {
      throw IsoldeException.invalid(
          "Conflicts of %s are by %s; to have them by %s, DISABLE TRANSACTIONS comes first."
              .formatted(table, now.inCql(), conflicts.get().inCql()));
    }
    return isEnabled;
  }

  /** Also where nothing is to be done: who may not alter a table hears nothing of its state. */
  private static void mayAlter(TableMetadata table, QueryState state) {
    if (!Tables.isSystem(table)) {
      state.getClientState().ensureTablePermission(table, Permission.ALTER);
    }
  }

  /**
   * Whoever reads after the statement has answered, reads from the new beginning on. All nodes hear
   * of it, since watches wait everywhere.
   */
  private void beginAnew(VersionIndex versions) {
    long beginning = oracle.next();
    versions.beginAnew(beginning);
    barrier.announceBeginning(versions.table(), beginning);
    // If it does not yet, readers ask the oracle again.
    var unused = isDoneInTime(oracle.whenStable(beginning));
  }

  private void refuseUnsupported(TableMetadata table) {
    String why = null;
    if (Tables.isSystem(table)) {
      why = "it belongs to Cassandra.";
    } else if (table.isView()) {
      why = "it is a materialized view.";
    } else if (table.isCounter()) {
      why = "it has counters, which add to whatever is there.";
    } else if (table.isCompactTable()) {
      why = "it has COMPACT STORAGE.";
    }
    if (why != null) {
      throw IsoldeException.of(
          ErrorCode.UNSUPPORTED_TABLE,
          "The table " + table + " can't be transactional: " + why,
          "table",
          table);
    }
  }

  /** Makes a table plain again. Transactions that have written to it can't commit any more. */
  public void disable(TableMetadata table, QueryState state) {
    mayAlter(table, state);
    requireNoUniqueIndex(table);
    if (Tables.isTransactional(table)) {
      barrier.whileClosed(
          table,
          () -> {
            requireNoUniqueIndex(table); // As it is now that nobody can make one.
            long commits = awaitApplied(table);
            barrier.secure(table, commits);
            lead.awaitWallClock(table, MAX_WAIT_MILLIS);
            strong.passTimestamp(table.keyspace, commits); // Leaders' clocks may be behind.
            execute("DROP INDEX IF EXISTS %s", table, state);
            barrier.awaitFollowers(table);
          });
    }
  }

  /**
   * Refuses to make a table plain that has a unique index.
   *
   * @throws IsoldeException KEPT_BY_UNIQUE_INDEX
   */
  public static void requireNoUniqueIndex(TableMetadata table) {
    for (UniqueKey index : UniqueKey.now(table)) {
      throw IsoldeException.of(
          ErrorCode.KEPT_BY_UNIQUE_INDEX,
          "The table "
              + table
              + " has the unique index "
              + index.name()
              + ", which transactions keep; DROP INDEX comes first.",
          "table",
          table,
          "index",
          index.name());
    }
  }

  /**
   * Truncates a table. Transactions that started before and use the table can't go on. What was
   * committed before is not applied again by a node that dies, and what comes later is: by the
   * order of the commits, since clocks, which give Cassandra's own moment, may say otherwise.
   *
   * @param truncate Cassandra's part
   */
  public void truncate(TableMetadata table, Runnable truncate) {
    barrier.whileClosed(
        table,
        () -> {
          barrier.secureOnAll(table, awaitApplied(table));
          boolean isDone = false;
          try {
            truncate.run();
            isDone = true;
          } finally {
            if (!isDone) { // Some replicas may be empty.
              beginAnewIfPossible(Tables.requireTransactional(table));
            }
          }
          beginAnew(Tables.requireTransactional(table));
        });
  }

  /**
   * Truncates a table of a strong keyspace, transactional or not. The groups' logs say what came
   * before: all of that is gone when this returns, and nothing that comes later. Transactions that
   * started before and use the table can't go on.
   *
   * @param afterwards runs before any other statement on the table does
   * @throws IsoldeException CHANGE_FAILED if a part of the table may be left, for the next try
   */
  public void truncateInLogs(TableMetadata table, Runnable afterwards) {
    barrier.whileClosed(
        table,
        () -> {
          boolean isTransactional = Tables.isTransactional(table);
          if (isTransactional) {
            barrier.secureOnAll(table, awaitApplied(table));
          }
          strong.truncate(table, momentOfTruncation(table, isTransactional));
          if (isTransactional) {
            beginAnewIfPossible(Tables.requireTransactional(table));
          }
          afterwards.run();
        });
  }

  /** No group writes anything older before the first one removes what is older. */
  private long momentOfTruncation(TableMetadata table, boolean isTransactional) {
    boolean isReady = false;
    try {
      // Their clients are gone, or the barrier would have waited for them.
      strong.holdDecisions(
          table,
          DatabaseDescriptor.getTruncateRpcTimeout(TimeUnit.MILLISECONDS) + BEYOND_TRUNCATE_MILLIS);
      long moment = momentBetweenWrites(table, Long.MIN_VALUE);
      if (isTransactional) {
        barrier.beginAnew(table, moment);
      }
      isReady = true;
      return moment;
    } finally {
      if (!isReady) {
        strong.releaseDecisions(table);
      }
    }
  }

  /**
   * What is gone is gone whatever the oracle says, and all nodes refuse the table to older readers.
   */
  private void beginAnewIfPossible(VersionIndex versions) {
    try {
      beginAnew(versions);
    } catch (IsoldeException e) {
      logger.warn(
          "The oracle did not answer after a change of a table; its readers may ask it again.", e);
    }
  }

  /**
   * Drops columns of a transactional table, or of a table of a strong keyspace. An earlier write to
   * them is gone and a later one is not, whatever the clocks of nodes say. Transactions that
   * started before and use the table can't go on.
   *
   * @param drop Cassandra's part, with the moment of the drop (microseconds)
   */
  public void dropColumns(TableMetadata table, LongConsumer drop) {
    barrier.whileClosed(
        table,
        () -> {
          long moment = momentBetweenWrites(table, DroppedColumns.newestMicrosNow(table));
          drop.accept(moment);
          barrier.awaitFollowers(table);
          if (Tables.isTransactional(table)) {
            barrier.announceBeginning(table, moment);
            beginAnewIfPossible(Tables.requireTransactional(table));
          }
        });
  }

  /**
   * Above all that was written so far; whatever is written from now on is above it. The oracle says
   * what that is for commits, and the logs for what else a strong keyspace has.
   *
   * @param atLeast above this, too; it must not be far in the future (microseconds)
   */
  private long momentBetweenWrites(TableMetadata table, long atLeast) {
    boolean isTransactional = Tables.isTransactional(table);
    boolean isStrong = strong.isStrong(table.keyspace);
    long newest = atLeast;
    if (isStrong) {
      long ofLogs = strong.newestTimestamp(table.keyspace);
      lead.requireNear(table, newest, Math.max(ofLogs, NodeClock.nowMillis() * 1_000));
      newest = Math.max(newest, ofLogs);
    }
    if (isTransactional) {
      lead.pass(table, newest);
      newest = Math.max(newest, oracle.next());
    }
    long moment = DroppedColumns.momentAfter(newest);
    if (isTransactional) {
      oracle.advanceTo(moment);
    }
    strong.passTimestamp(table.keyspace, moment);
    return moment;
  }

  /**
   * Every commit that was decided so far must have reached the table, or it would come too late;
   * and the oracle must not have it applied again.
   *
   * @return above the timestamps of all of them
   */
  private long awaitApplied(TableMetadata table) {
    long[] allOfIt = ReadSet.ofAll(List.of(table)).ids();
    long now = oracle.next();
    if (!isDoneInTime(inDoubt.whenApplied(allOfIt, now)) || !isDoneInTime(oracle.whenLogged(now))) {
      throw IsoldeException.of(
          ErrorCode.ORACLE_OVERLOADED,
          "Commits wait to be applied, so " + table + " can't be changed now; try again.",
          "table",
          table);
    }
    return now;
  }

  /** Returns false if it takes too long, or nobody can tell. */
  private static boolean isDoneInTime(CompletableFuture<Void> wait) {
    try {
      var unused = wait.get(MAX_WAIT_MILLIS, TimeUnit.MILLISECONDS);
      return true;
    } catch (TimeoutException | ExecutionException e) {
      wait.cancel(false);
      return false;
    } catch (InterruptedException e) {
      throw new UncheckedInterruptedException(e);
    }
  }

  /** Schema changes go the ordinary way, with the permissions and the agreement that they need. */
  private static void execute(String template, TableMetadata table, QueryState state) {
    String index = ColumnIdentifier.maybeQuote(VersionIndex.nameFor(table.name));
    String keyspace = ColumnIdentifier.maybeQuote(table.keyspace);
    String statement =
        template.startsWith("DROP")
            ? String.format(template, keyspace + "." + index)
            : String.format(
                template,
                index,
                keyspace + "." + ColumnIdentifier.maybeQuote(table.name),
                VersionIndex.class.getName());
    var unused =
        QueryProcessor.instance.process(
            QueryProcessor.parseStatement(statement, state.getClientState()),
            state,
            QueryOptions.forInternalCalls(ConsistencyLevel.ONE, List.of()),
            Dispatcher.RequestTime.forImmediateExecution());
  }

  /** New commits must be newer than what the table has, also if a client's clock ran ahead. */
  private void passTimestampsOf(ColumnFamilyStore cfs) {
    long newest = DroppedColumns.newestMicros(cfs.metadata());
    for (SSTableReader sstable : cfs.getLiveSSTables()) {
      newest = Math.max(newest, sstable.getMaxTimestamp());
    }
    lead.pass(cfs.metadata(), newest);
  }

  /** After a restart, should the reserved timestamps have been lost and the clock be behind. */
  void passExistingTimestamps() {
    NodeVersions.ofThisNode().tables().forEach(table -> passTimestampsOf(table.store()));
  }
}
