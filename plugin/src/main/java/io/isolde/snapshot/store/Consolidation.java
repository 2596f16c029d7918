// SPDX-License-Identifier: Apache-2.0
package io.isolde.snapshot.store;

import java.util.Collection;
import java.util.Set;
import org.apache.cassandra.db.ColumnFamilyStore;
import org.apache.cassandra.db.compaction.AbstractCompactionStrategy;
import org.apache.cassandra.db.compaction.ActiveCompactionsTracker;
import org.apache.cassandra.db.compaction.CompactionController;
import org.apache.cassandra.db.compaction.CompactionIterator;
import org.apache.cassandra.db.compaction.CompactionTask;
import org.apache.cassandra.db.compaction.writers.CompactionAwareWriter;
import org.apache.cassandra.db.lifecycle.LifecycleTransaction;
import org.apache.cassandra.io.sstable.format.SSTableReader;
import org.apache.cassandra.utils.concurrent.Refs;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Merges all SSTables of a snapshot into one, as of the moment of the snapshot: cells that had not
 * expired then stay, and no tombstone is dropped.
 */
final class Consolidation extends CompactionTask {
  private static final Logger log = LoggerFactory.getLogger(Consolidation.class);

  /** No tombstone is from before. */
  private static final long NOTHING_TO_PURGE = 0;

  private final long nowInSeconds;
  private ActiveCompactionsTracker active = ActiveCompactionsTracker.NOOP;

  Consolidation(ColumnFamilyStore table, LifecycleTransaction change, long nowInSeconds) {
    super(table, change, NOTHING_TO_PURGE);
    this.nowInSeconds = nowInSeconds;
  }

  @Override
  protected int executeInternal(ActiveCompactionsTracker tracker) {
    active = tracker == null ? ActiveCompactionsTracker.NOOP : tracker;
    return super.executeInternal(tracker);
  }

  @Override
  protected void runMayThrow() {
    Set<SSTableReader> originals = transaction.originals();
    try (CompactionController controller =
            new CompactionController(cfs, originals, NOTHING_TO_PURGE);
        Refs<SSTableReader> references = Refs.ref(originals);
        AbstractCompactionStrategy.ScannerList scanners =
            cfs.getCompactionStrategyManager().getScanners(originals);
        CompactionIterator merged =
            new CompactionIterator(
                compactionType, scanners.scanners, controller, nowInSeconds, transaction.opId())) {
      active.beginCompaction(merged);
      try (CompactionAwareWriter writer =
          getCompactionAwareWriter(cfs, getDirectories(), transaction, originals)) {
        while (merged.hasNext()) {
          writer.append(merged.next());
        }
        Collection<SSTableReader> written = writer.finish();
        log.info("Merged the {} SSTables of {} into {}", originals.size(), cfs.name, written);
      } finally {
        active.finishCompaction(merged);
      }
    }
  }
}
