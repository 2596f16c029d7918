// SPDX-License-Identifier: Apache-2.0
package io.isolde.read;

import java.util.Collection;
import java.util.List;
import java.util.Optional;
import org.apache.cassandra.db.DataRange;
import org.apache.cassandra.db.DecoratedKey;
import org.apache.cassandra.db.PartitionRangeReadCommand;
import org.apache.cassandra.db.PartitionRangeReadQuery;
import org.apache.cassandra.db.ReadQuery;
import org.apache.cassandra.db.Slices;
import org.apache.cassandra.db.filter.ClusteringIndexFilter;
import org.apache.cassandra.db.filter.DataLimits;
import org.apache.cassandra.db.filter.RowFilter;
import org.apache.cassandra.db.partitions.PartitionIterator;
import org.apache.cassandra.db.partitions.PartitionUpdate;

/** Rows of a range of partitions, from a snapshot. */
final class SnapshotRangeQuery extends SnapshotQuery<PartitionRangeReadCommand>
    implements PartitionRangeReadQuery {
  /** What makes a row match, if commits tell of that; else all of the range is recorded. */
  private Optional<List<ReadRecorder.Condition>> conditions = Optional.empty();

  SnapshotRangeQuery(PartitionRangeReadCommand command, Snapshot snapshot) {
    super(command, snapshot);
  }

  @Override
  PartitionRangeReadCommand asOf(DataLimits limits, RowFilter filter) {
    return warning(
        PartitionRangeReadCommand.create(
            metadata(),
            nowInSec(),
            columnFilter(),
            snapshot.versions().asOf(snapshot.asOf(), filter),
            limits,
            dataRange()));
  }

  @Override
  Collection<PartitionUpdate> ownWrites() {
    return snapshot.ownWrites().in(metadata().id, dataRange().keyRange());
  }

  @Override
  Slices slices(DecoratedKey key) {
    return dataRange().clusteringIndexFilter(key).getSlices(metadata());
  }

  @Override
  ClusteringIndexFilter rowsIn(DecoratedKey key) {
    return dataRange().contains(key) ? dataRange().clusteringIndexFilter(key) : null;
  }

  @Override
  PartitionIterator proposed(
      RowFilter indexed, Collection<PartitionUpdate> ownWrites, ReadFor reader) {
    PartitionIterator proposed = byIndex(indexed, reader);
    return ownWrites.isEmpty()
        ? proposed
        : new PartitionsInstead(
            proposed, ownWrites.iterator(), key -> reader.chunks(wholePartition(key)));
  }

  @Override
  ReadQuery wholePartition(DecoratedKey key) {
    return snapshot.replicas().apply(rowsOf(key, dataRange().clusteringIndexFilter(key)));
  }

  @Override
  void record() {
    conditions =
        rowFilter().isEmpty()
            ? Optional.empty()
            : IndexedConditions.of(
                rowFilter(), snapshot.versions().indexedColumns(), snapshot.asOf());
    conditions.ifPresentOrElse(
        some -> snapshot.recorder().matching(metadata(), dataRange(), some), this::recordRange);
  }

  void recordRange() {
    snapshot.recorder().range(metadata(), dataRange());
  }

  @Override
  PartitionIterator recorded(PartitionIterator rows) {
    return snapshot.recorder() == ReadRecorder.NONE || conditions.isEmpty()
        ? rows
        : RecordRows.of(rows, this);
  }

  @Override
  public DataRange dataRange() {
    return command.dataRange();
  }

  @Override
  public boolean selectsFullPartition() {
    return command.selectsFullPartition();
  }

  @Override
  public PartitionRangeReadQuery withUpdatedLimit(DataLimits limits) {
    return new SnapshotRangeQuery(command.withUpdatedLimit(limits), snapshot);
  }

  @Override
  public PartitionRangeReadQuery withUpdatedLimitsAndDataRange(DataLimits limits, DataRange range) {
    return new SnapshotRangeQuery(command.withUpdatedLimitsAndDataRange(limits, range), snapshot);
  }
}
