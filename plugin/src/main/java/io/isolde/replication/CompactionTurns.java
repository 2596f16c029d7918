// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import com.google.common.util.concurrent.ThreadFactoryBuilder;
import io.isolde.config.IsoldeConfig;
import io.isolde.config.NodeClock;
import io.isolde.group.HandOverPolicy;
import io.isolde.group.HandOverPolicy.Reason;
import io.isolde.group.HandOverPolicy.Verdict;
import io.isolde.group.Layout;
import io.isolde.group.ReplicaGroup;
import java.lang.reflect.Field;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
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
  private static final long ASK_MILLIS = 300;
  private static final long HAND_OVER_MILLIS = 3_000;

  private final StrongKeyspaces keyspaces;
  private final HandOverPolicy policy;
  private final long thresholdBytes;
  private final LeadershipEvents events;

  /** Of the heavy compaction that runs, with what it waits for. */
  private final AtomicLong busyBytes = new AtomicLong();

  /** One heavy compaction at a time. */
  private final Semaphore heavy = new Semaphore(1);

  private final ScheduledExecutorService threads =
      Executors.newScheduledThreadPool(
          2, new ThreadFactoryBuilder().setNameFormat("IsoldeCompact-%d").setDaemon(true).build());

  CompactionTurns(IsoldeConfig config, StrongKeyspaces keyspaces, LeadershipEvents events) {
    this.keyspaces = keyspaces;
    this.events = events;
    this.thresholdBytes = config.leadership().thresholdBytes();
    this.policy = new HandOverPolicy(config.leadership());
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
      for (StrongKeyspaces.Shown group : keyspaces.show()) {
        if (group.keyspace().equals(keyspace.name())
            && group.replica().filter(ReplicaGroup::isLeader).isPresent()) {
          stepAside(keyspace, group, task);
        }
      }
      task.run();
    } catch (RuntimeException e) {
      logger.error("A compaction of {} failed; it is tried again", task.table.metadata(), e);
    } finally {
      busyBytes.set(0);
      heavy.release();
    }
  }

  private void stepAside(StrongKeyspace keyspace, StrongKeyspaces.Shown shown, Task task) {
    ReplicaGroup group = shown.replica().orElseThrow();
    Verdict verdict =
        policy.decide(
            NodeClock.nowMillis(),
            group.id(),
            task.bytes,
            keyspace.client().followers(group, keyspaces.selfId(), ASK_MILLIS),
            ThreadLocalRandom.current().nextInt());
    long startNanos = System.nanoTime();
    boolean hasFailed = verdict.reason() == Reason.HAND_OVER && !handOver(group, verdict.to());
    events.add(
        NodeClock.nowMillis(),
        shown,
        task.table.name,
        task.bytes,
        verdict.reason(),
        verdict.to() == null ? null : address(shown, verdict.to()),
        hasFailed,
        verdict.reason() == Reason.HAND_OVER ? (System.nanoTime() - startNanos) / 1_000 : 0);
  }

  /** One that took the place of another is not in the layout, and goes by its id. */
  private static String address(StrongKeyspaces.Shown shown, String id) {
    return shown.group().members().stream()
        .filter(member -> member.id().equals(id))
        .map(Layout.Member::address)
        .findFirst()
        .orElse(id);
  }

  private static boolean handOver(ReplicaGroup group, String to) {
    try {
      group
          .transferLeadership(to, HAND_OVER_MILLIS)
          .get(2 * HAND_OVER_MILLIS, TimeUnit.MILLISECONDS);
      return true;
    } catch (ExecutionException | TimeoutException e) {
      logger.info("{} could not take over group {}: {}", to, group.id(), e.toString());
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  void close() {
    threads.shutdown();
  }
}
