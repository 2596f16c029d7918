// SPDX-License-Identifier: Apache-2.0
package io.isolde.snapshot.store;

import java.util.Collection;
import java.util.List;
import org.apache.cassandra.db.ColumnFamilyStore;
import org.apache.cassandra.db.SerializationHeader;
import org.apache.cassandra.db.partitions.UnfilteredPartitionIterator;
import org.apache.cassandra.db.rows.UnfilteredRowIterator;
import org.apache.cassandra.io.sstable.Descriptor;
import org.apache.cassandra.io.sstable.SSTableTxnWriter;
import org.apache.cassandra.io.sstable.format.SSTableReader;
import org.apache.cassandra.io.util.File;
import org.apache.cassandra.service.ActiveRepairService;
import org.apache.cassandra.utils.SyncUtil;

/** Writes what can't be linked. */
final class SSTableWriting {
  private final ColumnFamilyStore target;

  SSTableWriting(ColumnFamilyStore target) {
    this.target = target;
  }

  /**
   * Writes all partitions into SSTables that only a restart or the caller makes part of the table.
   */
  Collection<SSTableReader> write(
      UnfilteredPartitionIterator partitions, long estimatedBytes, long estimatedKeys) {
    File folder = target.getDirectories().getWriteableLocationAsFile(Math.max(1, estimatedBytes));
    Descriptor descriptor = target.newSSTableDescriptor(folder);
    try (SSTableTxnWriter writer =
        SSTableTxnWriter.create(
            target,
            descriptor,
            Math.max(1, estimatedKeys),
            Repaired.AT_MILLIS,
            ActiveRepairService.NO_PENDING_REPAIR,
            false,
            SerializationHeader.makeWithoutStats(target.metadata()))) {
      boolean isEmpty = true;
      while (partitions.hasNext()) {
        try (UnfilteredRowIterator partition = partitions.next()) {
          writer.append(partition);
          isEmpty = false;
        }
      }
      if (isEmpty) {
        writer.abort();
        return List.of();
      }
      Collection<SSTableReader> written = writer.finish(true);
      SyncUtil.trySyncDir(folder);
      return written;
    }
  }
}
