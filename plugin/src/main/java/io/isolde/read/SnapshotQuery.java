// SPDX-License-Identifier: Apache-2.0
package io.isolde.read;

import java.util.Collection;
import org.apache.cassandra.db.ConsistencyLevel;
import org.apache.cassandra.db.DecoratedKey;
import org.apache.cassandra.db.ReadCommand;
import org.apache.cassandra.db.ReadExecutionController;
import org.apache.cassandra.db.ReadQuery;
import org.apache.cassandra.db.Slices;
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
  final C command;
  final Snapshot snapshot;

  SnapshotQuery(C command, Snapshot snapshot) {
    this.command = command;
    this.snapshot = snapshot;
  }

  /** The same command as of the snapshot, without filter. */
  abstract C asOf(DataLimits limits);

  /** The limits of what a replica may read, and the warnings before, hold for the past too. */
  C warning(C asOf) {
    if (command.isTrackingWarnings()) {
      asOf.trackWarnings();
    }
    return asOf;
  }

  /** What the transaction has written of what the command may select, in token order. */
  abstract Collection<PartitionUpdate> ownWrites();

  abstract Slices slices(DecoratedKey key);

  abstract void record();

  @Override
  public PartitionIterator execute(
      ConsistencyLevel consistency, ClientState state, Dispatcher.RequestTime requestTime) {
    record();
    Collection<PartitionUpdate> ownWrites = ownWrites();
    if (ownWrites.isEmpty() && rowFilter().isEmpty()) {
      return atReplicas(limits()).execute(consistency, state, requestTime);
    }
    PartitionIterator rows =
        new ChunkedPartitions(atReplicas(DataLimits.NONE), consistency, state, requestTime);
    return new OwnWritesMerge(this, ownWrites).apply(rows);
  }

  private ReadQuery atReplicas(DataLimits limits) {
    return snapshot.replicas().apply(asOf(limits));
  }

  boolean isDirect() {
    return rowFilter().isEmpty() && ownWrites().isEmpty();
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
