// SPDX-License-Identifier: Apache-2.0
package io.isolde.version;

import org.apache.cassandra.db.ColumnFamilyStore;
import org.apache.cassandra.db.PartitionRangeReadCommand;
import org.apache.cassandra.db.ReadCommand;
import org.apache.cassandra.db.ReadExecutionController;
import org.apache.cassandra.db.SinglePartitionReadCommand;
import org.apache.cassandra.db.filter.RowFilter;
import org.apache.cassandra.db.partitions.SingletonUnfilteredPartitionIterator;
import org.apache.cassandra.db.partitions.UnfilteredPartitionIterator;
import org.apache.cassandra.db.transform.RTBoundCloser;
import org.apache.cassandra.db.transform.Transformation;
import org.apache.cassandra.index.Index;

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

  @Override
  public UnfilteredPartitionIterator search(ReadExecutionController controller) {
    RestartBarrier.ofThisNode().pass(asOf);
    return limited(filter.filter(read(controller), command.nowInSec()));
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
        : ((PartitionRangeReadCommand) command).dataRange().selectsAllPartition();
  }
}
