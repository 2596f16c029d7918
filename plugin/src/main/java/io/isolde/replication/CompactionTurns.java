// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import com.google.common.util.concurrent.ThreadFactoryBuilder;
import io.isolde.config.IsoldeConfig;
import io.isolde.replication.LeadershipEvents.Cause;
import io.isolde.replication.LeadershipEvents.Work;
import java.lang.reflect.Field;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.cassandra.db.ColumnFamilyStore;
import org.apache.cassandra.db.Keyspace;
import org.apache.cassandra.db.compaction.AbstractCompactionTask;
import org.apache.cassandra.db.compaction.CompactionManager;
import org.apache.cassandra.db.compaction.CompactionStrategyManager;
import org.apache.cassandra.db.lifecycle.LifecycleTransaction;
import org.apache.cassandra.io.sstable.format.SSTableReader;
import org.apache.cassandra.schema.Schema;
import org.apache.cassandra.utils.FBUtilities;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs the compactions of strong keyspaces, whatever the strategy of a table, in the place of
 * Cassandra's own scheduling: heavy ones one at a time, and not while this node leads the group, if
 * another can.
 */
final class CompactionTurns {
  private static final Logger logger = LoggerFactory.getLogger(CompactionTurns.class);
  private static final long LOOK_MILLIS = 1_000;

  private final StrongKeyspaces keyspaces;
  private final StepAside stepAside;
  private final long thresholdBytes;

  /** Of the heavy compaction that runs, with what it waits for. */
  private final AtomicLong busyBytes = new AtomicLong();

  /** One heavy compaction at a time. */
  private final Semaphore heavy = new Semaphore(1);

  private final ScheduledExecutorService threads =
      Executors.newScheduledThreadPool(
          2, new ThreadFactoryBuilder().setNameFormat("IsoldeCompact-%d").setDaemon(true).build());

  CompactionTurns(IsoldeConfig config, StrongKeyspaces keyspaces, StepAside stepAside) {
    this.keyspaces = keyspaces;
    this.stepAside = stepAside;
    this.thresholdBytes = config.leadership().thresholdBytes();
  }

  void start() {
    var unused =
        threads.scheduleWithFixedDelay(this::look, LOOK_MILLIS, LOOK_MILLIS, TimeUnit.MILLISECONDS);
  }

  long busyBytes() {
    return busyBytes.get();
  }

  private void look() {
    for (StrongKeyspace keyspace : keyspaces.all()) {
      Keyspace open = Schema.instance.getKeyspaceInstance(keyspace.name());
      if (open != null) {
        for (ColumnFamilyStore table : open.getColumnFamilyStores()) {
          try {
            look(keyspace, table);
          } catch (RuntimeException e) {
            logger.error("A compaction of {} failed; it is tried again", table.metadata(), e);
          }
        }
      }
    }
  }

  private void look(StrongKeyspace keyspace, ColumnFamilyStore table) {
    for (Task task = next(table); task != null; task = next(table)) {
      if (task.bytes < thresholdBytes) {
        task.run();
      } else {
        Task heavyTask = task;
        if (!heavy.tryAcquire()) {
          task.release();
          return;
        }
        threads.execute(() -> runHeavy(keyspace, heavyTask));
        return;
      }
    }
  }

  /** What the strategy wants next, with its SSTables marked; null if nothing. */
  private static Task next(ColumnFamilyStore table) {
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
    return task == null ? null : new Task(table, task);
  }

  /** A compaction whose SSTables are marked, so that nobody else takes them. */
  private static final class Task {
    /** Cassandra gives it to nobody but itself. */
    private static final Field TRANSACTION = transactionField();

    private final ColumnFamilyStore table;
    private final AbstractCompactionTask task;
    private final long bytes;

    Task(ColumnFamilyStore table, AbstractCompactionTask task) {
      this.table = table;
      this.task = task;
      this.bytes = transaction().originals().stream().mapToLong(SSTableReader::onDiskLength).sum();
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

    void run() {
      var unused = task.execute(CompactionManager.instance.active);
    }

    /** It comes again when its turn has come. */
    void release() {
      transaction().close();
    }
  }

  private void runHeavy(StrongKeyspace keyspace, Task task) {
    busyBytes.set(task.bytes);
    try {
      stepAside.before(keyspace, new Work(Cause.COMPACTION, task.table.name, task.bytes));
      task.run();
    } catch (RuntimeException e) {
      logger.error("A compaction of {} failed; it is tried again", task.table.metadata(), e);
    } finally {
      busyBytes.set(0);
      heavy.release();
    }
  }

  void close() {
    threads.shutdown();
  }
}
