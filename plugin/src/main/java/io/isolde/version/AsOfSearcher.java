// SPDX-License-Identifier: Apache-2.0
package io.isolde.version;

import org.apache.cassandra.db.ColumnFamilyStore;
import org.apache.cassandra.db.PartitionRangeReadCommand;
import org.apache.cassandra.db.ReadCommand;
import org.apache.cassandra.db.ReadExecutionController;
import org.apache.cassandra.db.SinglePartitionReadCommand;
import org.apache.cassandra.db.partitions.SingletonUnfilteredPartitionIterator;
import org.apache.cassandra.db.partitions.UnfilteredPartitionIterator;
import org.apache.cassandra.db.transform.RTBoundCloser;
import org.apache.cassandra.index.Index;

/**
 * Reads as of a timestamp on this replica, and counts what it finds as the coordinator does ({@link
 * AsOfRowFilter}): one that counted less would read on and on behind the end of a page, and one
 * that counted more would look to the coordinator as if it had nothing more.
 */
record AsOfSearcher(
    TableVersions versions,
    ColumnFamilyStore cfs,
    ReadCommand command,
    long asOf,
    boolean isFiltered)
    implements Index.Searcher {

  @Override
  public UnfilteredPartitionIterator search(ReadExecutionController controller) {
    RestartGate.ofThisNode().pass(asOf);
    UnfilteredPartitionIterator rows = read(controller);
    // Rows that are filtered by value afterwards can't be counted yet.
    return isFiltered ? rows : limited(rows);
  }

  private UnfilteredPartitionIterator read(ReadExecutionController controller) {
    return command instanceof SinglePartitionReadCommand partition
        ? new SingletonUnfilteredPartitionIterator(
            new AsOfPartitionRead(versions, cfs, partition, asOf).read(controller))
        : new AsOfRangeRead(versions, cfs, (PartitionRangeReadCommand) command, asOf).read();
  }

  private UnfilteredPartitionIterator limited(UnfilteredPartitionIterator rows) {
    return RTBoundCloser.close(
        command.limits().filter(rows, command.nowInSec(), selectsFullPartition()));
  }

  /** As the command says itself, but for the expression. */
  private boolean selectsFullPartition() {
    return command.metadata().isStaticCompactTable()
        || (command instanceof SinglePartitionReadCommand partition
            ? partition.clusteringIndexFilter().selectsAllPartition()
            : ((PartitionRangeReadCommand) command).dataRange().selectsAllPartition());
  }
}
