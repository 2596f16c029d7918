// SPDX-License-Identifier: Apache-2.0
package io.isolde.transaction;

import com.google.common.collect.Lists;
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
  private static final long MAX_WAIT_MILLIS = 5_000;

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
   * @param create puts it into the schema, where it may be already; empty if there is nothing to do
   * @throws IsoldeException UNIQUE_VIOLATION if two rows have the same value; UNAVAILABLE if a node
   *     does not answer; as reads and commits do. There is no index then
   */
  public void create(TableMetadata table, Supplier<Optional<UniqueKey>> create) {
    List<UniqueKey> made = new ArrayList<>(1);
    try {
      barrier.whileClosed(
          table,
          () -> {
            create.get().filter(index -> !index.isReadable()).ifPresent(made::add);
            if (!made.isEmpty()) {
              barrier.beginWritesAnew(table, oracle.next());
            }
          });
      made.forEach(this::build);
    } catch (RuntimeException | Error e) {
      made.forEach(index -> remove(index, e));
      throw e;
    }
  }

  private static void remove(UniqueKey index, Throwable cause) {
    try {
      UniqueSchema.remove(index);
    } catch (RuntimeException e) {
      cause.addSuppressed(e);
      logger.error(
          "The unique index {} could not be built, and could not be removed; DROP INDEX does so.",
          index.name(),
          e);
    }
  }

  private void build(UniqueKey index) {
    SelectStatement select = selectAll(index);
    PagingState next = null;
    long rows = 0;
    do {
      ResultMessage.Rows page = data.select(select, options(next), internal());
      List<UniqueEntry.Owner> found = withValues(index, page.result.rows);
      Lists.partition(found, ROWS_PER_COMMIT).forEach(some -> addEntries(index, some));
      if ((rows + found.size()) / ROWS_PER_LOG_LINE > rows / ROWS_PER_LOG_LINE) {
        logger.info("The unique index {} has the entries of {} rows.", index.name(), rows);
      }
      rows += found.size();
      next = page.result.metadata.getPagingState();
    } while (next != null);
    long since = oracle.next();
    UniqueSchema.makeReadable(index, since);
    awaitStable(since);
    logger.info("The unique index {} is ready; {} rows had values.", index.name(), rows);
  }

  /** If others write to some of the rows again and again, each gets its entry alone. */
  private void addEntries(UniqueKey index, List<UniqueEntry.Owner> rows) {
    try {
      reading.addEntries(index, rows, internal());
    } catch (IsoldeException e) {
      if (!ReadingWrites.isConflict(e) || rows.size() == 1) {
        throw e;
      }
      rows.forEach(row -> addEntries(index, List.of(row)));
    }
  }

  /** Snapshots that are older find rows without the index. */
  private void awaitStable(long since) {
    try {
      var unused = oracle.whenStable(since).get(MAX_WAIT_MILLIS, TimeUnit.MILLISECONDS);
    } catch (TimeoutException | ExecutionException e) {
      logger.info("The oracle has not passed the moment of a unique index yet.", e);
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
        ConsistencyLevel.QUORUM,
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
