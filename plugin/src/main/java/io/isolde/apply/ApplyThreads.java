// SPDX-License-Identifier: Apache-2.0
package io.isolde.apply;

import com.google.common.util.concurrent.ThreadFactoryBuilder;
import java.util.Collection;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.apache.cassandra.concurrent.ExecutorLocals;
import org.apache.cassandra.concurrent.Stage;
import org.apache.cassandra.config.Config;
import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.db.Keyspace;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.schema.Schema;
import org.apache.cassandra.tracing.Tracing;
import org.apache.cassandra.utils.WithResources;

/**
 * Where decided commits are applied. Many are decided at the same moment, and a task on Cassandra's
 * own stage costs more than the write: each of its threads looks for more work for a while, in
 * short sleeps. So few threads of ours do it, one commit after the other, wherever that does not
 * wait: with a commit log that is synced now and then, and without views, whose locks are waited
 * for.
 */
public final class ApplyThreads {
  /** More would not be faster, as nothing waits; one that did would hold up half of the commits. */
  private static final int THREADS = 2;

  /** What waits is bounded as commits are. */
  private static final Executor OURS =
      new ThreadPoolExecutor(
          THREADS,
          THREADS,
          0,
          TimeUnit.SECONDS,
          new LinkedBlockingQueue<>(),
          new ThreadFactoryBuilder()
              .setThreadFactory(CommitThread::new)
              .setNameFormat("IsoldeCommit-%d")
              .setDaemon(true)
              .build());

  private static final class CommitThread extends Thread {
    private CommitThread(Runnable task) {
      super(task);
    }
  }

  private ApplyThreads() {}

  /** Whether this is one of ours, that does all it has to write on this node itself. */
  static boolean isOurs() {
    return Thread.currentThread() instanceof CommitThread;
  }

  /** Those of ours, for what does not wait. */
  static Executor withoutWaiting() {
    return OURS;
  }

  /** For a commit; all belongs to the trace of the request for which this is called, if any. */
  public static Executor of(Collection<PartitionUpdate> updates) {
    if (Tracing.isTracing() || mayWait(updates)) {
      WithResources ofTheRequest = ExecutorLocals.propagate();
      return task -> Stage.MUTATION.executor().execute(ofTheRequest, task);
    }
    return OURS;
  }

  /** Whether a local write of one of them waits: for the disk, or for the locks of views. */
  private static boolean mayWait(Collection<PartitionUpdate> updates) {
    if (DatabaseDescriptor.getCommitLogSync() != Config.CommitLogSync.periodic) {
      return true;
    }
    for (PartitionUpdate update : updates) {
      Keyspace keyspace = Schema.instance.getKeyspaceInstance(update.metadata().keyspace);
      boolean isDropped = keyspace == null;
      if (isDropped || keyspace.viewManager.forTable(update.metadata().id).iterator().hasNext()) {
        return true;
      }
    }
    return false;
  }
}
