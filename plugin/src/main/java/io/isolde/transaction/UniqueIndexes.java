// SPDX-License-Identifier: Apache-2.0
package io.isolde.transaction;

import com.google.common.collect.Lists;
import com.google.common.util.concurrent.Uninterruptibles;
import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import io.isolde.replicated.Oracle;
import io.isolde.statement.ClientRequest;
import io.isolde.transaction.barrier.ClusterBarrier;
import io.isolde.unique.UniqueEntry;
import io.isolde.unique.UniqueKey;
import io.isolde.unique.UniqueSchema;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.cassandra.cql3.QueryOptions;
import org.apache.cassandra.cql3.QueryProcessor;
import org.apache.cassandra.cql3.statements.SelectStatement;
import org.apache.cassandra.db.ConsistencyLevel;
import org.apache.cassandra.exceptions.RequestExecutionException;
import org.apache.cassandra.schema.ColumnMetadata;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.service.ClientState;
import org.apache.cassandra.service.QueryState;
import org.apache.cassandra.service.pager.PagingState;
import org.apache.cassandra.transport.Dispatcher;
import org.apache.cassandra.transport.ProtocolVersion;
import org.apache.cassandra.transport.messages.ResultMessage;
import org.apache.cassandra.utils.concurrent.UncheckedInterruptedException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes unique indexes while statements go on. From its first moment each write of the table keeps
 * the index; then the rows that were there before get their entries. If two of them have the same
 * value, the index goes again.
 */
public final class UniqueIndexes {
  private static final Logger logger = LoggerFactory.getLogger(UniqueIndexes.class);
  private static final int ROWS_PER_PAGE = 500;

  /** Few, since another write to any of them makes it try again. */
  private static final int ROWS_PER_COMMIT = 100;

  private static final int ROWS_PER_LOG_LINE = 200_000;
  private static final long MAX_WAIT_MILLIS = 15_000;
  private static final long PATIENCE_MILLIS = 120_000;
  private static final long PAUSE_MILLIS = 200;

  private final Oracle oracle;
  private final ClusterBarrier barrier;
  private final DataStatements data;
  private final ReadingWrites reading;

  UniqueIndexes(Oracle oracle, ClusterBarrier barrier, DataStatements data, ReadingWrites reading) {
    this.oracle = oracle;
    this.barrier = barrier;
    this.data = data;
    this.reading = reading;
  }

  /**
   * Makes an index, and returns when it can be read. Transactions that started before can't write
   * to the table any more. An index whose creation was cut off is built to its end.
   *
   * @param creation puts it into the schema, where it may be already; empty if nothing is to be
   *     done
   * @throws IsoldeException UNIQUE_VIOLATION if two rows have the same value, INVALID_REQUEST if a
   *     row has one that can't be unique: then there is no index. UNAVAILABLE if nodes do not
   *     answer, and as reads and commits do: then it may be unfinished
   */
  public void create(TableMetadata table, Supplier<Optional<UniqueKey>> creation) {
    List<UniqueKey> made = new ArrayList<>(1);
    long[] since = new long[1];
    barrier.whileClosed(
        table,
        () -> {
          List<UniqueKey> before = UniqueKey.now(table);
          creation.get().filter(index -> !index.isReadable()).ifPresent(made::add);
          if (made.isEmpty()) {
            return;
          }
          since[0] = oracle.next();
          try {
            barrier.beginWritesAnew(table, since[0]);
          } catch (RuntimeException e) {
            made.stream()
                .filter(index -> before.stream().noneMatch(index::isSame))
                .forEach(index -> remove(index, e));
            throw e;
          }
        });
    made.forEach(index -> build(index, since[0]));
  }

  private void build(UniqueKey index, long since) {
    try {
      awaitStable(since);
      long readableFrom = addAll(index);
      awaitReaders(index, readableFrom);
    } catch (IsoldeException e) {
      if (e.errorCode() == ErrorCode.UNIQUE_VIOLATION
          || e.errorCode() == ErrorCode.INVALID_REQUEST) {
        removeWhileClosed(index, e);
        throw e;
      }
      throw unfinished(index, e);
    } catch (RequestExecutionException e) {
      throw unfinished(index, e);
    }
  }

  /** What it has so far is kept by each write, and not lost. */
  private static IsoldeException unfinished(UniqueKey index, RuntimeException cause) {
    IsoldeException unfinished =
        IsoldeException.of(
            ErrorCode.UNAVAILABLE,
            "The unique index "
                + index.name()
                + " is not finished ("
                + cause.getMessage()
                + "). The same statement with IF NOT EXISTS goes on; DROP INDEX gives it up.",
            "table",
            index.table(),
            "index",
            index.name());
    unfinished.addSuppressed(cause);
    return unfinished;
  }

  private static void remove(UniqueKey index, Throwable cause) {
    try {
      UniqueSchema.remove(index);
    } catch (RuntimeException e) {
      cause.addSuppressed(e);
      logger.error(
          "The unique index {} could not be removed; DROP INDEX does so.", index.name(), e);
    }
  }

  private void removeWhileClosed(UniqueKey index, IsoldeException cause) {
    try {
      drop(index.table(), () -> remove(index, cause));
    } catch (IsoldeException e) {
      cause.addSuppressed(e);
      logger.error(
          "The unique index {} could not be removed; DROP INDEX does so.", index.name(), e);
    }
  }

  /**
   * Drops an index and its entries while no statement on the table runs on any node: it would look
   * for entries that are gone.
   *
   * @throws IsoldeException UNAVAILABLE if a node does not answer
   */
  public void drop(TableMetadata table, Runnable drop) {
    barrier.whileClosed(
        table,
        () -> {
          drop.run();
          barrier.awaitFollowers(table);
        });
  }

  /** Returns the timestamp from which on it can be read. */
  private long addAll(UniqueKey index) {
    SelectStatement select = selectAll(index);
    PagingState next = null;
    long rows = 0;
    do {
      PagingState from = next;
      ResultMessage.Rows page =
          patiently(index, () -> data.select(select, options(from), internal()));
      List<UniqueEntry.Owner> found = withValues(index, page.result.rows);
      for (List<UniqueEntry.Owner> some : Lists.partition(found, ROWS_PER_COMMIT)) {
        patiently(
            index,
            () -> {
              addEntries(index, some);
              return null;
            });
      }
      if ((rows + found.size()) / ROWS_PER_LOG_LINE > rows / ROWS_PER_LOG_LINE) {
        logger.info("The unique index {} has the entries of {} rows.", index.name(), rows);
      }
      rows += found.size();
      next = page.result.metadata.getPagingState();
    } while (next != null);
    long since = oracle.next();
    UniqueSchema.makeReadable(index, since);
    logger.info("The unique index {} is ready; {} rows had values.", index.name(), rows);
    return since;
  }

  /** Snapshots that are older find rows without the index: right, but slow. */
  private void awaitReaders(UniqueKey index, long readableFrom) {
    try {
      awaitStable(readableFrom);
    } catch (IsoldeException e) {
      logger.info("No snapshot is new enough yet to be read by {}.", index.name(), e);
    }
  }

  /** A node that dies must not undo what has taken hours. */
  private static <T> T patiently(UniqueKey index, Supplier<T> step) {
    long deadlineNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(PATIENCE_MILLIS);
    while (true) {
      try {
        return step.get();
      } catch (RequestExecutionException e) {
        if (System.nanoTime() > deadlineNanos) {
          throw e;
        }
      } catch (IsoldeException e) {
        boolean isDropped = UniqueKey.now(index.table()).stream().noneMatch(index::isSame);
        if (!e.errorCode().isRetryable() || isDropped || System.nanoTime() > deadlineNanos) {
          throw e;
        }
      }
      Uninterruptibles.sleepUninterruptibly(PAUSE_MILLIS, TimeUnit.MILLISECONDS);
    }
  }

  /** If others write to some of the rows again and again, each gets its entry alone. */
  private void addEntries(UniqueKey index, List<UniqueEntry.Owner> rows) {
    try {
      reading.addEntries(index, rows, internal());
    } catch (IsoldeException e) {
      if (!Attempts.isConflict(e) || rows.size() == 1) {
        throw e;
      }
      rows.forEach(row -> addEntries(index, List.of(row)));
    }
  }

  /** From then on snapshots have all that was committed before. */
  private void awaitStable(long timestamp) {
    try {
      var unused = oracle.whenStable(timestamp).get(MAX_WAIT_MILLIS, TimeUnit.MILLISECONDS);
    } catch (TimeoutException | ExecutionException e) {
      throw IsoldeException.of(
          ErrorCode.UNAVAILABLE,
          "The oracle did not say in time that earlier commits are applied; try again.");
    } catch (InterruptedException e) {
      throw new UncheckedInterruptedException(e);
    }
  }

  private static Stream<ColumnMetadata> columns(UniqueKey index) {
    TableMetadata table = index.table();
    return Stream.of(
            table.partitionKeyColumns().stream(),
            table.clusteringColumns().stream(),
            index.columns().stream().filter(ColumnMetadata::isRegular))
        .flatMap(some -> some);
  }

  private static SelectStatement selectAll(UniqueKey index) {
    String text =
        "SELECT %s FROM %s"
            .formatted(
                columns(index)
                    .map(column -> column.name.toCQLString())
                    .collect(Collectors.joining(", ")),
                index.table().toString());
    return (SelectStatement) QueryProcessor.parseStatement(text, ClientState.forInternalCalls());
  }

  private static QueryOptions options(PagingState page) {
    return QueryOptions.create(
        ConsistencyLevel.SERIAL, // The newest snapshot of all nodes.
        List.of(),
        false,
        ROWS_PER_PAGE,
        page,
        ConsistencyLevel.SERIAL,
        ProtocolVersion.CURRENT,
        null);
  }

  private static ClientRequest internal() {
    return new ClientRequest(
        QueryState.forInternalCalls(), Dispatcher.RequestTime.forImmediateExecution());
  }

  private static List<UniqueEntry.Owner> withValues(UniqueKey index, List<List<ByteBuffer>> rows) {
    int keys = index.table().partitionKeyColumns().size();
    int all = keys + index.table().clusteringColumns().size();
    List<UniqueEntry.Owner> found = new ArrayList<>(rows.size());
    for (List<ByteBuffer> row : rows) {
      if (row.subList(all, row.size()).stream().allMatch(value -> value != null)) {
        found.add(
            UniqueEntry.Owner.of(index.table(), row.subList(0, keys), row.subList(keys, all)));
      }
    }
    return found;
  }
}
