// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import com.google.common.util.concurrent.Striped;
import io.isolde.version.NodeVersions;
import io.isolde.version.VersionIndex;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.db.ColumnFamilyStore;
import org.apache.cassandra.db.Directories;
import org.apache.cassandra.db.compaction.CompactionManager;
import org.apache.cassandra.db.compaction.OperationType;
import org.apache.cassandra.db.lifecycle.LifecycleTransaction;
import org.apache.cassandra.db.lifecycle.View;
import org.apache.cassandra.db.memtable.Memtable;
import org.apache.cassandra.db.partitions.UnfilteredPartitionIterator;
import org.apache.cassandra.db.rows.UnfilteredRowIterator;
import org.apache.cassandra.db.transform.EmptyPartitionsDiscarder;
import org.apache.cassandra.db.transform.Transformation;
import org.apache.cassandra.io.sstable.SSTableRewriter;
import org.apache.cassandra.io.sstable.format.SSTableReader;
import org.apache.cassandra.io.sstable.metadata.StatsMetadata;
import org.apache.cassandra.schema.Schema;
import org.apache.cassandra.schema.TableId;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.service.ActiveRepairService;
import org.apache.cassandra.service.CacheService;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Removes from a table of this node, and from its indexes, what is not newer than a timestamp:
 * whole SSTables mostly. An SSTable that also has something newer is written again without the
 * rest. Doing it again does no harm.
 */
final class StoreTruncation {
  private static final Logger logger = LoggerFactory.getLogger(StoreTruncation.class);

  private final ColumnFamilyStore table;
  private final long upToMicros;

  /** Of each table one holds a lock; few tables share one. */
  private static final Striped<Lock> TABLES = Striped.lock(64);

  StoreTruncation(ColumnFamilyStore table, long upToMicros) {
    this.table = table;
    this.upToMicros = upToMicros;
  }

  /** Removes what this node has of a table, and then what it keeps for readers of the past. */
  static void of(TableId id, long upToMicros) {
    TableMetadata known = Schema.instance.getTableMetadata(id);
    if (known == null) {
      return; // It is gone, or it is new here, and nothing is in it yet.
    }
    ColumnFamilyStore store = Schema.instance.getColumnFamilyStoreInstance(id);
    if (store == null) {
      throw new IllegalStateException(known + " is not open yet.");
    }
    // Several groups of this node may come to it at once: one snapshot, and one removal.
    Lock lock = TABLES.get(id);
    lock.lock();
    try {
      boolean hadOlder = new StoreTruncation(store, upToMicros).run();
      VersionIndex versions = NodeVersions.ofThisNode().of(id);
      if (versions != null) {
        versions.truncated(upToMicros, hadOlder);
      }
    } finally {
      lock.unlock();
    }
  }

  /**
   * Returns when no reader finds any of it, and no restart either; false if there was nothing.
   * Before, as Cassandra's own TRUNCATE, it takes a snapshot if the node is to do so: one for each
   * timestamp, however often this runs.
   *
   * @throws RuntimeException if it can't be done now
   */
  boolean run() {
    if (!hasOlderMemtables() && !hasOlderSSTables()) {
      return false;
    }
    logger.info("Truncating {} up to {}", table.metadata(), upToMicros);
    flush();
    // A repair would bring back what other replicas still have.
    ActiveRepairService.instance()
        .abort(
            session -> session.getTableIds().contains(table.metadata.id),
            "Stopping parent sessions {} due to truncation of " + table.metadata());
    if (hasOlderSSTables()) {
      takeSnapshot();
      // Null if compactions could not be stopped; one may have begun since, too.
      var unused =
          table.runWithCompactionsDisabled(
              this::remove, this::hasOlder, OperationType.P0, true, true, true);
      invalidateCaches();
    }
    if (hasOlderSSTables()) {
      throw new IllegalStateException(
          "Compactions of " + table.metadata() + " go on with what is to be removed.");
    }
    return true;
  }

  private boolean hasOlderMemtables() {
    for (ColumnFamilyStore store : table.concatWithIndexes()) {
      View view = store.getTracker().getView();
      for (Memtable memtable : view.getAllMemtables()) {
        if (memtable.getMinTimestamp() <= upToMicros) {
          return true;
        }
      }
    }
    return false;
  }

  private boolean hasOlderSSTables() {
    for (ColumnFamilyStore store : table.concatWithIndexes()) {
      if (store.getLiveSSTables().stream().anyMatch(this::hasOlder)) {
        return true;
      }
    }
    return false;
  }

  private boolean hasOlder(SSTableReader sstable) {
    return sstable.getMinTimestamp() <= upToMicros;
  }

  private void flush() {
    try {
      TableFlush.of(table).join();
    } catch (CompletionException e) {
      throw new IllegalStateException(e.getCause().getMessage(), e.getCause());
    }
  }

  private void takeSnapshot() {
    if (!table.isAutoSnapshotEnabled()) {
      return;
    }
    String name =
        "%s-%d-%s"
            .formatted(
                ColumnFamilyStore.SNAPSHOT_TRUNCATE_PREFIX,
                TimeUnit.MICROSECONDS.toMillis(upToMicros),
                table.name);
    if (!hasSnapshot(name)) {
      table.clearSnapshot(name);
      var unused = table.snapshot(name, DatabaseDescriptor.getAutoSnapshotTtl());
    }
  }

  /** Whether it is whole: its manifest is written last, to one of the disks. */
  private boolean hasSnapshot(String name) {
    return table.getDirectories().getCFDirectories().stream()
        .flatMap(folder -> Directories.getSnapshotDirectoryIfExists(folder, name).stream())
        .anyMatch(snapshot -> Directories.getSnapshotManifestFile(snapshot).exists());
  }

  private boolean remove() {
    for (ColumnFamilyStore store : table.concatWithIndexes()) {
      List<SSTableReader> older = store.getLiveSSTables().stream().filter(this::hasOlder).toList();
      List<SSTableReader> whole =
          older.stream().filter(sstable -> sstable.getMaxTimestamp() <= upToMicros).toList();
      if (!whole.isEmpty()) {
        store.markObsolete(whole, OperationType.UNKNOWN);
      }
      for (SSTableReader sstable : older) {
        if (sstable.getMaxTimestamp() > upToMicros) {
          keepNewer(store, sstable);
        }
      }
    }
    return true;
  }

  private void keepNewer(ColumnFamilyStore store, SSTableReader sstable) {
    try (LifecycleTransaction transaction =
        store.getTracker().tryModify(sstable, OperationType.CLEANUP)) {
      if (transaction == null) {
        return; // A compaction has just taken it; see run.
      }
      StatsMetadata stats = sstable.getSSTableMetadata();
      try (SSTableRewriter writer =
              SSTableRewriter.constructWithoutEarlyOpening(transaction, false, sstable.maxDataAge);
          UnfilteredPartitionIterator newer = newerOf(store, sstable)) {
        writer.switchWriter(
            CompactionManager.createWriter(
                store,
                sstable.descriptor.directory,
                Math.max(1, sstable.estimatedKeys()),
                stats.repairedAt,
                stats.pendingRepair,
                stats.isTransient,
                sstable,
                transaction));
        while (newer.hasNext()) {
          try (UnfilteredRowIterator partition = newer.next()) {
            writer.append(partition);
          }
        }
        var unused = writer.finish();
      }
    }
  }

  private UnfilteredPartitionIterator newerOf(ColumnFamilyStore store, SSTableReader sstable) {
    UnfilteredPartitionIterator newer =
        Transformation.apply(
            (UnfilteredPartitionIterator) sstable.getScanner(),
            new NewerThan(store.metadata(), upToMicros));
    return Transformation.apply(newer, new EmptyPartitionsDiscarder());
  }

  private void invalidateCaches() {
    CacheService.instance.invalidateKeyCacheForCf(table.metadata());
    CacheService.instance.invalidateRowCacheForCf(table.metadata());
  }
}
