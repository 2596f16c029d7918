// SPDX-License-Identifier: Apache-2.0
package io.isolde.read;

import java.util.Collection;
import java.util.List;
import org.apache.cassandra.db.Clustering;
import org.apache.cassandra.db.DecoratedKey;
import org.apache.cassandra.db.ReadQuery;
import org.apache.cassandra.db.SinglePartitionReadCommand;
import org.apache.cassandra.db.SinglePartitionReadQuery;
import org.apache.cassandra.db.Slices;
import org.apache.cassandra.db.filter.ClusteringIndexFilter;
import org.apache.cassandra.db.filter.DataLimits;
import org.apache.cassandra.db.filter.RowFilter;
import org.apache.cassandra.db.partitions.PartitionIterator;
import org.apache.cassandra.db.partitions.PartitionUpdate;

/** Rows of one partition, from a snapshot. */
final class SnapshotPartitionQuery extends SnapshotQuery<SinglePartitionReadCommand>
    implements SinglePartitionReadQuery {

  SnapshotPartitionQuery(SinglePartitionReadCommand command, Snapshot snapshot) {
    super(command, snapshot);
  }

  @Override
  SinglePartitionReadCommand asOf(DataLimits limits, RowFilter filter) {
    return warning(
        SinglePartitionReadCommand.create(
            metadata(),
            nowInSec(),
            columnFilter(),
            snapshot.versions().asOf(snapshot.asOf(), filter),
            limits,
            partitionKey(),
            clusteringIndexFilter()));
  }

  @Override
  Collection<PartitionUpdate> ownWrites() {
    PartitionUpdate own = snapshot.ownWrites().of(metadata().id, partitionKey());
    return own == null ? List.of() : List.of(own);
  }

  @Override
  Slices slices(DecoratedKey key) {
    return clusteringIndexFilter().getSlices(metadata());
  }

  @Override
  ClusteringIndexFilter rowsIn(DecoratedKey key) {
    return key.equals(partitionKey()) ? clusteringIndexFilter() : null;
  }

  /** With own writes it is all that the command asks for of the partition. */
  @Override
  PartitionIterator proposed(
      RowFilter indexed, Collection<PartitionUpdate> ownWrites, ReadFor reader) {
    return ownWrites.isEmpty()
        ? byIndex(indexed, reader)
        : reader.chunks(wholePartition(partitionKey()));
  }

  @Override
  ReadQuery wholePartition(DecoratedKey key) {
    return atReplicas(DataLimits.NONE, RowFilter.none());
  }

  @Override
  void record() {
    boolean statics = !columnFilter().fetchedColumns().statics.isEmpty();
    snapshot.recorder().partition(metadata(), partitionKey(), clusteringIndexFilter(), statics);
  }

  @Override
  public DecoratedKey partitionKey() {
    return command.partitionKey();
  }

  @Override
  public ClusteringIndexFilter clusteringIndexFilter() {
    return command.clusteringIndexFilter();
  }

  @Override
  public SinglePartitionReadQuery withUpdatedLimit(DataLimits limits) {
    return new SnapshotPartitionQuery(command.withUpdatedLimit(limits), snapshot);
  }

  @Override
  public SinglePartitionReadQuery forPaging(Clustering<?> lastReturned, DataLimits limits) {
    SinglePartitionReadCommand rest = command.forPaging(lastReturned, limits);
    return rest == null ? null : new SnapshotPartitionQuery(rest, snapshot);
  }
}
