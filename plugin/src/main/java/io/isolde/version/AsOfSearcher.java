// SPDX-License-Identifier: Apache-2.0
package io.isolde.version;

import org.apache.cassandra.db.ColumnFamilyStore;
import org.apache.cassandra.db.DataRange;
import org.apache.cassandra.db.DecoratedKey;
import org.apache.cassandra.db.PartitionRangeReadCommand;
import org.apache.cassandra.db.ReadCommand;
import org.apache.cassandra.db.ReadExecutionController;
import org.apache.cassandra.db.SinglePartitionReadCommand;
import org.apache.cassandra.db.Slices;
import org.apache.cassandra.db.filter.ClusteringIndexFilter;
import org.apache.cassandra.db.filter.ClusteringIndexSliceFilter;
import org.apache.cassandra.db.filter.DataLimits;
import org.apache.cassandra.db.filter.RowFilter;
import org.apache.cassandra.db.lifecycle.View;
import org.apache.cassandra.db.partitions.PartitionIterator;
import org.apache.cassandra.db.partitions.SingletonUnfilteredPartitionIterator;
import org.apache.cassandra.db.partitions.UnfilteredPartitionIterator;
import org.apache.cassandra.db.partitions.UnfilteredPartitionIterators;
import org.apache.cassandra.db.transform.RTBoundCloser;
import org.apache.cassandra.db.transform.Transformation;
import org.apache.cassandra.index.Index;
import org.apache.cassandra.io.sstable.format.SSTableReader;
import org.apache.cassandra.utils.FBUtilities;

/**
 * Reads as of a timestamp on this replica, and counts what it finds as the coordinator does ({@link
 * AsOfRowFilter}). A replica that counted less would read on and on behind the end of a page. One
 * that counted more would look to the coordinator as if it had nothing more.
 *
 * @param filter what the command selects by value, beside the timestamp
 */
record AsOfSearcher(
    TableVersions versions, ColumnFamilyStore cfs, ReadCommand command, long asOf, RowFilter filter)
    implements Index.Searcher {
  private static final ClusteringIndexFilter WHOLE =
      new ClusteringIndexSliceFilter(Slices.ALL, false);

  @Override
  public UnfilteredPartitionIterator search(ReadExecutionController controller) {
    RestartBarrier.ofThisNode().pass(asOf);
    if (filter.isEmpty()) {
      return limited(read(controller));
    }
    ReadCommand indexed = withoutTimestamp(false);
    return limited(
        indexed.indexQueryPlan() == null
            ? filter.filter(read(controller), command.nowInSec())
            : matching(indexed, candidates(indexed, controller)));
  }

  private UnfilteredPartitionIterator matching(ReadCommand indexed, PartitionIterator candidates) {
    try {
      return new LiveRows(command.metadata(), IndexFilter.matching(indexed, candidates));
    } catch (RuntimeException | Error e) {
      candidates.close();
      throw e;
    }
  }

  private PartitionIterator candidates(ReadCommand indexed, ReadExecutionController controller) {
    ChangeLog.Node before = versions.changes().before(asOf);
    boolean isWhole = IndexedRead.isOfPartitions(indexed);
    ReadCommand asked = isWhole ? withoutTimestamp(true) : indexed; // It chooses its indexes anew.
    return before == null || command.isReversed() || !isReliable(asked) || hasExpiredSince()
        ? UnfilteredPartitionIterators.filter(read(controller), command.nowInSec())
        : IndexedRead.of(this, controller, asked, isWhole, before);
  }

  /** The indexes may be other ones than when the command came. */
  private boolean isReliable(ReadCommand indexed) {
    return indexed.indexQueryPlan().getIndexes().stream()
        .allMatch(index -> cfs.indexManager.isIndexQueryable(index) && !LossyIndex.is(index));
  }

  /**
   * Whether something may have expired that is read as if it had not. Indexes leave out what has
   * expired by now, and no write tells of it.
   */
  private boolean hasExpiredSince() {
    if (command.nowInSec() >= FBUtilities.nowInSeconds()) {
      return false;
    }
    View view = cfs.getTracker().getView();
    for (SSTableReader sstable : view.liveSSTables()) {
      if (sstable.getMaxTTL() > 0) {
        return true;
      }
    }
    for (SSTableReader sstable : versions.retention().missingFrom(view, asOf)) {
      if (sstable.getMaxTTL() > 0) {
        return true;
      }
    }
    return versions.changes().hasExpiring(view);
  }

  /**
   * The command as other indexes know it.
   *
   * @param isWhole for whole partitions
   */
  private ReadCommand withoutTimestamp(boolean isWhole) {
    return command instanceof SinglePartitionReadCommand partition
        ? SinglePartitionReadCommand.create(
            command.metadata(),
            command.nowInSec(),
            command.columnFilter(),
            filter,
            DataLimits.NONE,
            partition.partitionKey(),
            isWhole ? WHOLE : partition.clusteringIndexFilter())
        : PartitionRangeReadCommand.create(
            command.metadata(),
            command.nowInSec(),
            command.columnFilter(),
            filter,
            DataLimits.NONE,
            isWhole ? new DataRange(dataRange().keyRange(), WHOLE) : dataRange());
  }

  private DataRange dataRange() {
    return ((PartitionRangeReadCommand) command).dataRange();
  }

  boolean selects(DecoratedKey key) {
    return command instanceof SinglePartitionReadCommand partition
        ? partition.partitionKey().equals(key)
        : dataRange().contains(key);
  }

  /** Which rows of a partition the command asks for. */
  ClusteringIndexFilter selected(DecoratedKey key) {
    return command instanceof SinglePartitionReadCommand partition
        ? partition.clusteringIndexFilter()
        : dataRange().clusteringIndexFilter(key);
  }

  private UnfilteredPartitionIterator read(ReadExecutionController controller) {
    return command instanceof SinglePartitionReadCommand partition
        ? new SingletonUnfilteredPartitionIterator(
            new AsOfPartitionRead(versions, cfs, partition, asOf).read(controller))
        : new AsOfRangeRead(versions, cfs, (PartitionRangeReadCommand) command, asOf).read();
  }

  private UnfilteredPartitionIterator limited(UnfilteredPartitionIterator rows) {
    UnfilteredPartitionIterator counted =
        command.limits().filter(rows, command.nowInSec(), selectsFullPartition());
    return RTBoundCloser.close(
        command.limits().isGroupByLimit()
            ? Transformation.apply(counted, new OpenEnds())
            : counted);
  }

  /** As the command says itself, but for the expression. */
  private boolean selectsFullPartition() {
    return command.metadata().isStaticCompactTable()
        || (!filter.hasExpressionOnClusteringOrRegularColumns() && selectsWholePartitions());
  }

  private boolean selectsWholePartitions() {
    return command instanceof SinglePartitionReadCommand partition
        ? partition.clusteringIndexFilter().selectsAllPartition()
        : dataRange().selectsAllPartition();
  }
}
