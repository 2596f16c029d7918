// SPDX-License-Identifier: Apache-2.0
package io.isolde.read;

import java.util.Collection;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.apache.cassandra.db.ConsistencyLevel;
import org.apache.cassandra.db.DecoratedKey;
import org.apache.cassandra.db.ReadCommand;
import org.apache.cassandra.db.ReadExecutionController;
import org.apache.cassandra.db.ReadQuery;
import org.apache.cassandra.db.SinglePartitionReadCommand;
import org.apache.cassandra.db.Slices;
import org.apache.cassandra.db.filter.ClusteringIndexFilter;
import org.apache.cassandra.db.filter.ColumnFilter;
import org.apache.cassandra.db.filter.DataLimits;
import org.apache.cassandra.db.filter.RowFilter;
import org.apache.cassandra.db.partitions.PartitionIterator;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.db.partitions.UnfilteredPartitionIterator;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.service.ClientState;
import org.apache.cassandra.transport.Dispatcher;

/**
 * One of Cassandra's read commands, read from a snapshot.
 *
 * <p>Limits are counted on the replicas where that is right. It is not where the transaction has
 * written something that the command selects, or where rows are filtered by value. A replica that
 * filters rows of the past would have to be asked a second time, by the rules of replica filtering
 * protection. In these cases rows come in chunks and are merged, filtered and counted here.
 *
 * @param <C> the kind of command
 */
abstract class SnapshotQuery<C extends ReadCommand> implements ReadQuery {
  /** Not too few round trips where the limit is small and another filter leaves out rows. */
  private static final int MIN_PROPOSED_ROWS = 100;

  final C command;
  final Snapshot snapshot;

  SnapshotQuery(C command, Snapshot snapshot) {
    this.command = command;
    this.snapshot = snapshot;
  }

  /** The same command as of the snapshot, with another filter. */
  abstract C asOf(DataLimits limits, RowFilter filter);

  /** The limits of what a replica may read, and the warnings before, hold for the past too. */
  final <R extends ReadCommand> R warning(R asOf) {
    if (command.isTrackingWarnings()) {
      asOf.trackWarnings();
    }
    return asOf;
  }

  /** Some rows of a partition as of the snapshot, whatever their values are. */
  final SinglePartitionReadCommand rowsOf(DecoratedKey key, ClusteringIndexFilter rows) {
    return warning(
        SinglePartitionReadCommand.create(
            metadata(),
            nowInSec(),
            columnFilter(),
            snapshot.versions().asOf(snapshot.asOf()),
            DataLimits.NONE,
            key,
            rows));
  }

  /** What the transaction has written of what the command may select, in token order. */
  abstract Collection<PartitionUpdate> ownWrites();

  abstract Slices slices(DecoratedKey key);

  /** Which rows of a partition are asked for; null if none. */
  abstract ClusteringIndexFilter rowsIn(DecoratedKey key);

  abstract void record();

  @Override
  public PartitionIterator execute(
      ConsistencyLevel consistency, ClientState state, Dispatcher.RequestTime requestTime) {
    ReadFor reader = new ReadFor(consistency, state, requestTime);
    Optional<UniqueRead> unique = UniqueRead.of(this);
    if (unique.isPresent()) {
      return unique.get().execute(reader);
    }
    record();
    Collection<PartitionUpdate> ownWrites = ownWrites();
    if (ownWrites.isEmpty() && rowFilter().isEmpty() && !isLocking()) {
      return reader.execute(atReplicas(limits(), RowFilter.none()));
    }
    return recorded(matching(ownWrites, reader));
  }

  /** All that the query asks for, filtered here. */
  final PartitionIterator filtered(ReadFor reader) {
    record();
    return merged(ownWrites(), reader.chunks(atReplicas(DataLimits.NONE, RowFilter.none())));
  }

  private PartitionIterator matching(Collection<PartitionUpdate> ownWrites, ReadFor reader) {
    Optional<RowFilter> indexed = IndexedExpression.of(command);
    if (indexed.isEmpty()) {
      return merged(ownWrites, reader.chunks(atReplicas(DataLimits.NONE, RowFilter.none())));
    }
    boolean isAsItIs = ownWrites.isEmpty() && !isLocking();
    return isAsItIs && snapshot.isOfOneReplica(reader.consistency())
        ? reader.execute(atReplicas(limits(), rowFilter()))
        : merged(ownWrites, proposed(indexed.get(), ownWrites, reader));
  }

  /** Records the rows that are found, if {@link #record} has not. */
  PartitionIterator recorded(PartitionIterator rows) {
    return rows;
  }

  private PartitionIterator merged(Collection<PartitionUpdate> ownWrites, PartitionIterator rows) {
    return new OwnWritesMerge(this, ownWrites).apply(rows);
  }

  /** Rows that may match, whole, and all that the transaction may have made match. */
  abstract PartitionIterator proposed(
      RowFilter indexed, Collection<PartitionUpdate> ownWrites, ReadFor reader);

  /**
   * Rows of the snapshot that may match an expression that is indexed. A replica may propose a row
   * that is out of date, and another may have other columns of it. So proposed rows are read again.
   */
  final PartitionIterator byIndex(RowFilter indexed, ReadFor reader) {
    return new ChunkedPartitions(
        reader.pages(atReplicas(DataLimits.NONE, indexed)),
        Math.min(ChunkedPartitions.ROWS_PER_CHUNK, Math.max(limits().count(), MIN_PROPOSED_ROWS)),
        snapshot.isOfOneReplica(reader.consistency())
            ? UnaryOperator.identity()
            : new ReadAgain(this, reader, !indexed.hasExpressionOnClusteringOrRegularColumns()));
  }

  /** All that the query asks for of a partition, as of the snapshot. */
  abstract ReadQuery wholePartition(DecoratedKey key);

  final ReadQuery atReplicas(DataLimits limits, RowFilter filter) {
    return snapshot.replicas().apply(asOf(limits, filter));
  }

  /** Whether each row that is returned has to be known. */
  private boolean isLocking() {
    return snapshot.found() != FoundRows.NONE;
  }

  boolean isDirect() {
    return rowFilter().isEmpty() && ownWrites().isEmpty() && !isLocking();
  }

  @Override
  public TableMetadata metadata() {
    return command.metadata();
  }

  @Override
  public ReadExecutionController executionController() {
    return command.executionController();
  }

  @Override
  public PartitionIterator executeInternal(ReadExecutionController controller) {
    throw new UnsupportedOperationException("a snapshot is read by coordinators only");
  }

  @Override
  public UnfilteredPartitionIterator executeLocally(ReadExecutionController controller) {
    throw new UnsupportedOperationException("a snapshot is read by coordinators only");
  }

  @Override
  public DataLimits limits() {
    return command.limits();
  }

  @Override
  public long nowInSec() {
    return command.nowInSec();
  }

  @Override
  public boolean selectsFullPartition() {
    return command.selectsFullPartition();
  }

  @Override
  public RowFilter rowFilter() {
    return command.rowFilter();
  }

  @Override
  public ColumnFilter columnFilter() {
    return command.columnFilter();
  }

  @Override
  public void trackWarnings() {
    command.trackWarnings();
  }
}
