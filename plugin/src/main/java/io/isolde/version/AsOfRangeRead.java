// SPDX-License-Identifier: Apache-2.0
package io.isolde.version;

import java.util.ArrayList;
import java.util.List;
import org.apache.cassandra.db.ColumnFamilyStore;
import org.apache.cassandra.db.DataRange;
import org.apache.cassandra.db.EmptyIterators;
import org.apache.cassandra.db.PartitionRangeReadCommand;
import org.apache.cassandra.db.Slices;
import org.apache.cassandra.db.filter.ColumnFilter;
import org.apache.cassandra.db.lifecycle.View;
import org.apache.cassandra.db.memtable.Memtable;
import org.apache.cassandra.db.partitions.UnfilteredPartitionIterator;
import org.apache.cassandra.db.partitions.UnfilteredPartitionIterators;
import org.apache.cassandra.db.rows.UnfilteredRowIterator;
import org.apache.cassandra.db.rows.UnfilteredRowIterators;
import org.apache.cassandra.db.transform.EmptyPartitionsDiscarder;
import org.apache.cassandra.db.transform.Transformation;
import org.apache.cassandra.io.sstable.SSTableReadsListener;
import org.apache.cassandra.io.sstable.format.SSTableReader;

/** A range of partitions as of a timestamp, on this replica. */
final class AsOfRangeRead {
  private final TableVersions versions;
  private final ColumnFamilyStore cfs;
  private final PartitionRangeReadCommand command;
  private final DataRange range;
  private final ColumnFilter columns;
  private final long asOf;

  AsOfRangeRead(
      TableVersions versions, ColumnFamilyStore cfs, PartitionRangeReadCommand command, long asOf) {
    this.versions = versions;
    this.cfs = cfs;
    this.command = command;
    this.range = command.dataRange();
    this.columns = WholeColumns.of(command.columnFilter());
    this.asOf = asOf;
  }

  UnfilteredPartitionIterator read() {
    List<UnfilteredPartitionIterator> sources = new ArrayList<>();
    try {
      View view = cfs.getTracker().getView();
      for (Memtable memtable : view.getAllMemtables()) {
        UnfilteredPartitionIterator partitions =
            memtable.partitionIterator(columns, range, SSTableReadsListener.NOOP_LISTENER);
        sources.add(Transformation.apply(partitions, new AsOfFilter(asOf)));
      }
      for (SSTableReader sstable : View.selectLive(range.keyRange()).apply(view)) {
        addSSTable(sources, sstable);
      }
      for (SSTableReader sstable : versions.retention().missingFrom(view, asOf)) {
        addSSTable(sources, sstable);
      }
      versions.horizon().check(asOf);
    } catch (RuntimeException | Error e) {
      sources.forEach(UnfilteredPartitionIterator::close);
      throw e;
    }
    if (sources.isEmpty()) {
      return EmptyIterators.unfilteredPartition(command.metadata());
    }
    UnfilteredPartitionIterator merged = UnfilteredPartitionIterators.mergeLazily(sources);
    merged = Transformation.apply(merged, new AddVersions());
    return Transformation.apply(merged, new EmptyPartitionsDiscarder());
  }

  /** Also one that is wholly newer: it has the keys of versions that are in the store alone. */
  private void addSSTable(List<UnfilteredPartitionIterator> sources, SSTableReader sstable) {
    UnfilteredPartitionIterator partitions =
        sstable.partitionIterator(columns, range, SSTableReadsListener.NOOP_LISTENER);
    sources.add(
        sstable.getMaxTimestamp() <= asOf
            ? partitions
            : Transformation.apply(partitions, new AsOfFilter(asOf)));
  }

  /**
   * Adds the kept versions of a partition when the merge has reached it, that is after the
   * memtables were asked for the partition: what left them before is in the store by now.
   */
  private final class AddVersions extends Transformation<UnfilteredRowIterator> {
    @Override
    protected UnfilteredRowIterator applyToPartition(UnfilteredRowIterator partition) {
      List<Version> kept = versions.store().neededBy(partition.partitionKey(), asOf);
      versions.horizon().check(asOf);
      if (kept.isEmpty()) {
        return WholeColumns.narrow(partition, command.columnFilter());
      }
      Slices slices =
          range.clusteringIndexFilter(partition.partitionKey()).getSlices(command.metadata());
      List<UnfilteredRowIterator> sources = new ArrayList<>();
      sources.add(partition);
      sources.addAll(
          new KeptRows(command, columns, partition.partitionKey(), slices, asOf).of(kept));
      return WholeColumns.narrow(UnfilteredRowIterators.merge(sources), command.columnFilter());
    }
  }
}
