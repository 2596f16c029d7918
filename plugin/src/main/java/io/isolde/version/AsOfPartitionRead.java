// SPDX-License-Identifier: Apache-2.0
package io.isolde.version;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.cassandra.db.ColumnFamilyStore;
import org.apache.cassandra.db.DecoratedKey;
import org.apache.cassandra.db.EmptyIterators;
import org.apache.cassandra.db.ReadExecutionController;
import org.apache.cassandra.db.SinglePartitionReadCommand;
import org.apache.cassandra.db.Slices;
import org.apache.cassandra.db.filter.ClusteringIndexNamesFilter;
import org.apache.cassandra.db.filter.ColumnFilter;
import org.apache.cassandra.db.lifecycle.SSTableSet;
import org.apache.cassandra.db.lifecycle.View;
import org.apache.cassandra.db.memtable.Memtable;
import org.apache.cassandra.db.rows.AbstractUnfilteredRowIterator;
import org.apache.cassandra.db.rows.Unfiltered;
import org.apache.cassandra.db.rows.UnfilteredRowIterator;
import org.apache.cassandra.db.rows.UnfilteredRowIterators;
import org.apache.cassandra.db.transform.Transformation;
import org.apache.cassandra.io.sstable.SSTableReadsListener;
import org.apache.cassandra.io.sstable.format.SSTableReader;

/** One partition as of a timestamp, on this replica. */
final class AsOfPartitionRead {
  private final TableVersions versions;
  private final ColumnFamilyStore cfs;
  private final SinglePartitionReadCommand command;
  private final DecoratedKey key;
  private final Slices slices;
  private final ColumnFilter columns;
  private final long asOf;

  AsOfPartitionRead(
      TableVersions versions,
      ColumnFamilyStore cfs,
      SinglePartitionReadCommand command,
      long asOf) {
    this.versions = versions;
    this.cfs = cfs;
    this.command = command;
    this.key = command.partitionKey();
    this.slices = command.clusteringIndexFilter().getSlices(command.metadata());
    this.columns = WholeColumns.of(command.columnFilter());
    this.asOf = asOf;
  }

  UnfilteredRowIterator read(ReadExecutionController controller) {
    boolean named = command.clusteringIndexFilter() instanceof ClusteringIndexNamesFilter;
    if (named && !versions.store().hasSupersededAfter(key, asOf) && !isNewerInMemtables()) {
      UnfilteredRowIterator current = readCurrent(controller);
      if (current != null) {
        return current;
      }
    }
    return readMerged();
  }

  /** A cheap look that spares a read of SSTables which would have to be made again. */
  private boolean isNewerInMemtables() {
    for (Memtable memtable : view().getAllMemtables()) {
      try (UnfilteredRowIterator rows = memtableRows(memtable)) {
        if (rows != null && isNewer(rows)) {
          return true;
        }
      }
    }
    return false;
  }

  private boolean isNewer(UnfilteredRowIterator rows) {
    if (rows.partitionLevelDeletion().markedForDeleteAt() > asOf
        || AsOfFilter.hasNewer(rows.staticRow(), asOf)) {
      return true;
    }
    while (rows.hasNext()) {
      if (AsOfFilter.hasNewer(rows.next(), asOf)) {
        return true;
      }
    }
    return false;
  }

  /**
   * Named rows as Cassandra reads them, which stops at the first SSTable that answers. Right if it
   * sees nothing newer than the timestamp and nothing was given up since; else null.
   */
  private UnfilteredRowIterator readCurrent(ReadExecutionController controller) {
    List<Unfiltered> content = new ArrayList<>();
    try (UnfilteredRowIterator current = command.queryMemtableAndDisk(cfs, controller)) {
      if (current.partitionLevelDeletion().markedForDeleteAt() > asOf
          || AsOfFilter.hasNewer(current.staticRow(), asOf)) {
        return null;
      }
      while (current.hasNext()) {
        Unfiltered unfiltered = current.next();
        if (AsOfFilter.hasNewer(unfiltered, asOf)) {
          return null;
        }
        content.add(unfiltered);
      }
      return isIntact(versions, cfs, key, asOf) ? new Content(current, content.iterator()) : null;
    }
  }

  /**
   * Whether Cassandra's own read of a partition has missed nothing of a timestamp, if it saw
   * nothing newer. To be asked only after the read: what a write or a compaction took away
   * meanwhile is known by then.
   *
   * @throws SnapshotTooOldException if something may have gone that nobody has written down
   */
  static boolean isIntact(
      TableVersions versions, ColumnFamilyStore cfs, DecoratedKey key, long asOf) {
    if (versions.store().hasSupersededAfter(key, asOf)) {
      return false;
    }
    for (SSTableReader sstable :
        versions.retention().missingFrom(cfs.getTracker().getView(), asOf)) {
      if (mayHold(sstable, key)) {
        return false;
      }
    }
    versions.horizon().check(asOf);
    return true;
  }

  /** All sources, each without what is newer than the timestamp. */
  private UnfilteredRowIterator readMerged() {
    List<UnfilteredRowIterator> sources = new ArrayList<>();
    try {
      // The order matters: what leaves a memtable is in the store before, and the retention holds
      // what leaves the view. So neither can slip through between two steps.
      View view = view();
      for (Memtable memtable : view.getAllMemtables()) {
        add(sources, memtableRows(memtable));
      }
      sources.addAll(
          new KeptRows(command, columns, key, slices, asOf)
              .of(versions.store().neededBy(key, asOf)));
      for (SSTableReader sstable : View.select(SSTableSet.LIVE, key).apply(view)) {
        addSSTable(sources, sstable);
      }
      for (SSTableReader sstable : versions.retention().missingFrom(view, asOf)) {
        if (mayHold(sstable, key)) {
          addSSTable(sources, sstable);
        }
      }
      versions.horizon().check(asOf);
      return sources.isEmpty()
          ? EmptyIterators.unfilteredRow(command.metadata(), key, command.isReversed())
          : WholeColumns.narrow(UnfilteredRowIterators.merge(sources), command.columnFilter());
    } catch (RuntimeException | Error e) {
      sources.forEach(UnfilteredRowIterator::close);
      throw e;
    }
  }

  private View view() {
    return cfs.getTracker().getView();
  }

  private static boolean mayHold(SSTableReader sstable, DecoratedKey key) {
    return sstable.getFirst().compareTo(key) <= 0 && sstable.getLast().compareTo(key) >= 0;
  }

  private UnfilteredRowIterator memtableRows(Memtable memtable) {
    return memtable.rowIterator(
        key, slices, columns, command.isReversed(), SSTableReadsListener.NOOP_LISTENER);
  }

  private void addSSTable(List<UnfilteredRowIterator> sources, SSTableReader sstable) {
    if (sstable.getMinTimestamp() > asOf) {
      return;
    }
    UnfilteredRowIterator rows =
        sstable.rowIterator(
            key, slices, columns, command.isReversed(), SSTableReadsListener.NOOP_LISTENER);
    if (sstable.getMaxTimestamp() <= asOf) {
      sources.add(rows);
    } else {
      add(sources, rows);
    }
  }

  private void add(List<UnfilteredRowIterator> sources, UnfilteredRowIterator rows) {
    if (rows != null) {
      sources.add(Transformation.apply(rows, new AsOfFilter(asOf)));
    }
  }

  /** What was read of a partition, again from its beginning. */
  static final class Content extends AbstractUnfilteredRowIterator {
    private final Iterator<? extends Unfiltered> content;

    Content(UnfilteredRowIterator of, Iterator<? extends Unfiltered> content) {
      super(
          of.metadata(),
          of.partitionKey(),
          of.partitionLevelDeletion(),
          of.columns(),
          of.staticRow(),
          of.isReverseOrder(),
          of.stats());
      this.content = content;
    }

    @Override
    protected Unfiltered computeNext() {
      return content.hasNext() ? content.next() : endOfData();
    }
  }
}
