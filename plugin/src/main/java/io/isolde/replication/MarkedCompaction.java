// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import java.lang.reflect.Field;
import org.apache.cassandra.db.ColumnFamilyStore;
import org.apache.cassandra.db.compaction.AbstractCompactionTask;
import org.apache.cassandra.db.compaction.CompactionManager;
import org.apache.cassandra.db.compaction.CompactionStrategyManager;
import org.apache.cassandra.db.lifecycle.LifecycleTransaction;
import org.apache.cassandra.io.sstable.format.SSTableReader;
import org.apache.cassandra.utils.FBUtilities;

/** A compaction whose SSTables are marked, so that nobody else takes them. */
final class MarkedCompaction {
  /** Cassandra gives it to nobody but itself. */
  private static final Field TRANSACTION = transactionField();

  private final AbstractCompactionTask task;
  private final long bytes;

  private MarkedCompaction(AbstractCompactionTask task) {
    this.task = task;
    this.bytes = transaction().originals().stream().mapToLong(SSTableReader::onDiskLength).sum();
  }

  /** What the strategy of a table wants next; null if nothing. */
  static MarkedCompaction next(ColumnFamilyStore table) {
    CompactionStrategyManager strategy = table.getCompactionStrategyManager();
    if (!strategy.shouldBeEnabled()) {
      return null; // The table's own options say so.
    }
    // Only for this moment: in between Cassandra would start what it finds by itself.
    strategy.enable();
    AbstractCompactionTask task;
    try {
      task =
          strategy.getNextBackgroundTask(
              CompactionManager.getDefaultGcBefore(table, FBUtilities.nowInSeconds()));
    } finally {
      strategy.disable();
    }
    return task == null ? null : new MarkedCompaction(task);
  }

  private static Field transactionField() {
    try {
      Field field = AbstractCompactionTask.class.getDeclaredField("transaction");
      field.setAccessible(true);
      return field;
    } catch (NoSuchFieldException e) {
      throw new IllegalStateException("This is not the Cassandra that Isolde is made for.", e);
    }
  }

  private LifecycleTransaction transaction() {
    try {
      return (LifecycleTransaction) TRANSACTION.get(task);
    } catch (IllegalAccessException e) {
      throw new AssertionError("made accessible above", e);
    }
  }

  /** Of what is to be compacted, on disk. */
  long bytes() {
    return bytes;
  }

  /** Compacts, after something else; if that fails, the SSTables are unmarked. */
  void runAfter(Runnable preparation) {
    boolean isPrepared = false;
    try {
      preparation.run();
      isPrepared = true;
    } finally {
      if (!isPrepared) {
        release();
      }
    }
    run();
  }

  /** Compacts, and unmarks the SSTables, however it goes. */
  void run() {
    var unused = task.execute(CompactionManager.instance.active);
  }

  /** Unmarks the SSTables; it comes again when its turn has come. */
  void release() {
    transaction().close();
  }
}
