// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import com.google.common.util.concurrent.ThreadFactoryBuilder;
import io.isolde.config.NodeClock;
import io.isolde.config.StrongSettings;
import io.isolde.group.CompactionPermit;
import io.isolde.group.MemberLoad;
import io.isolde.replication.LeadershipEvents.Cause;
import io.isolde.replication.LeadershipEvents.Work;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.cassandra.db.ColumnFamilyStore;
import org.apache.cassandra.db.Keyspace;
import org.apache.cassandra.db.compaction.CompactionInterruptedException;
import org.apache.cassandra.schema.Schema;
import org.apache.cassandra.utils.JVMStabilityInspector;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs the compactions of strong keyspaces, whatever the strategy of a table, in the place of
 * Cassandra's own scheduling. Heavy ones run one at a time, here and on the nodes that share groups
 * with this one. They don't run while this node leads a group of the keyspace, if another can.
 */
final class CompactionPermits {
  private static final Logger logger = LoggerFactory.getLogger(CompactionPermits.class);
  private static final long LOOK_MILLIS = 1_000;

  private final StrongKeyspaces keyspaces;
  private final StepAside stepAside;
  private final CoReplicas coReplicas;
  private final long thresholdBytes;

  /** Changed by who has {@link #heavy}. */
  private final CompactionPermit permit;

  /** Of the heavy compaction that runs, with what it waits for. */
  private final AtomicLong busyBytes = new AtomicLong();

  /** One heavy compaction at a time on this node. */
  private final Semaphore heavy = new Semaphore(1);

  private final ScheduledExecutorService threads =
      Executors.newScheduledThreadPool(
          2, new ThreadFactoryBuilder().setNameFormat("IsoldeCompact-%d").setDaemon(true).build());

  CompactionPermits(StrongSettings settings, StrongKeyspaces keyspaces, StepAside stepAside) {
    this.keyspaces = keyspaces;
    this.stepAside = stepAside;
    this.coReplicas = new CoReplicas(keyspaces);
    this.permit = new CompactionPermit(settings.leadership().waitMillis());
    this.thresholdBytes = settings.leadership().thresholdBytes();
  }

  void start() {
    var unused =
        threads.scheduleWithFixedDelay(this::look, LOOK_MILLIS, LOOK_MILLIS, TimeUnit.MILLISECONDS);
  }

  long busyBytes() {
    return busyBytes.get();
  }

  CompactionPermit.State permit() {
    return permit.state();
  }

  long waitingSinceMillis() {
    return permit.sinceMillis();
  }

  private void look() {
    boolean isWaiting = false;
    for (StrongKeyspace keyspace : keyspaces.all()) {
      Keyspace open = Schema.instance.getKeyspaceInstance(keyspace.name());
      if (open != null) {
        for (ColumnFamilyStore table : open.getColumnFamilyStores()) {
          try {
            isWaiting |= look(keyspace, table, isWaiting);
          } catch (RuntimeException | Error e) { // It would cancel the task.
            failed(table, e);
          }
        }
      }
    }
    if (!isWaiting && heavy.tryAcquire()) {
      permit.end();
      heavy.release();
    }
  }

  /**
   * Runs what a table has to compact, or has it run if it is heavy.
   *
   * @param mustWait whether it is not this node's turn, as another table has just been told
   * @return whether a heavy compaction waits
   */
  private boolean look(StrongKeyspace keyspace, ColumnFamilyStore table, boolean mustWait) {
    MarkedCompaction next = MarkedCompaction.next(table);
    while (next != null && next.bytes() < thresholdBytes) {
      next.run();
      next = MarkedCompaction.next(table);
    }
    if (next == null) {
      return false;
    }
    MarkedCompaction compaction = next;
    boolean mayBegin = false;
    try {
      mayBegin = !mustWait && mayBegin(table);
    } finally {
      if (!mayBegin) {
        compaction.release();
      }
    }
    if (mayBegin) {
      threads.execute(() -> runHeavy(keyspace, table, compaction));
    }
    return !mayBegin;
  }

  /** Whether a heavy compaction may begin; {@link #heavy} is taken then. */
  private boolean mayBegin(ColumnFamilyStore table) {
    if (!heavy.tryAcquire()) {
      return false;
    }
    boolean isOurs = false;
    try {
      isOurs = takePermit(table);
    } catch (RuntimeException e) {
      permit.end(); // or the others would wait
      throw e;
    } finally {
      if (!isOurs) {
        heavy.release();
      }
    }
    return isOurs;
  }

  private boolean takePermit(ColumnFamilyStore table) {
    permit.want(NodeClock.nowMillis());
    List<MemberLoad> others = coReplicas.all();
    boolean isLeader = keyspaces.leadership().isLeader();
    boolean isOurs =
        permit.claim(NodeClock.nowMillis(), keyspaces.selfId(), isLeader, others)
            && permit.keep(NodeClock.nowMillis(), coReplicas.all());
    if (isOurs && permit.isOverdue(NodeClock.nowMillis())) {
      logger.info(
          "A compaction of {} has waited for leadership_wait while other replicas compacted, and"
              + " begins all the same",
          table.metadata());
    }
    return isOurs;
  }

  private void runHeavy(
      StrongKeyspace keyspace, ColumnFamilyStore table, MarkedCompaction compaction) {
    busyBytes.set(compaction.bytes());
    try {
      Work work = new Work(Cause.COMPACTION, table.name, compaction.bytes());
      compaction.runAfter(() -> stepAside.before(keyspace, work));
    } catch (RuntimeException | Error e) {
      failed(table, e);
    } finally {
      busyBytes.set(0);
      permit.end();
      heavy.release();
    }
  }

  /** Of a disk that fails Cassandra's errors tell, and {@code disk_failure_policy} what to do. */
  private static void failed(ColumnFamilyStore table, Throwable e) {
    if (e instanceof CompactionInterruptedException) {
      logger.info("A compaction of {} was stopped, as TRUNCATE does: {}", table, e.getMessage());
      return;
    }
    JVMStabilityInspector.inspectThrowable(e);
    logger.error("A compaction of {} failed; it is tried again", table.metadata(), e);
  }

  void close() {
    threads.shutdown();
  }
}
