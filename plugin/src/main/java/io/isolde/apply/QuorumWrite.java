// SPDX-License-Identifier: Apache-2.0
package io.isolde.apply;

import com.google.common.util.concurrent.ThreadFactoryBuilder;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.db.ColumnFamilyStore;
import org.apache.cassandra.db.ConsistencyLevel;
import org.apache.cassandra.db.IMutation;
import org.apache.cassandra.db.Mutation;
import org.apache.cassandra.db.WriteType;
import org.apache.cassandra.exceptions.RequestExecutionException;
import org.apache.cassandra.metrics.ClientRequestsMetricsHolder;
import org.apache.cassandra.metrics.ClientWriteRequestMetrics;
import org.apache.cassandra.schema.TableId;
import org.apache.cassandra.service.AbstractWriteResponseHandler;
import org.apache.cassandra.service.StorageProxy;
import org.apache.cassandra.transport.Dispatcher;
import org.apache.cassandra.utils.JVMStabilityInspector;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One attempt to bring mutations to a quorum of each replica set, as Cassandra's own writes do it,
 * with hints and metrics. But no thread waits for the replicas, unless a table has triggers: one
 * that waits for each of many writes costs more than the writes.
 */
final class QuorumWrite {
  private static final Logger logger = LoggerFactory.getLogger(QuorumWrite.class);
  private static final ConsistencyLevel QUORUM = ConsistencyLevel.QUORUM;

  /** Cassandra tells of a replica's silence by then; if it doesn't, nothing more will come. */
  private static final long GRACE_MILLIS = 500;

  private static final int MAX_BLOCKING_THREADS = 64;
  private static final long IDLE_SECONDS = 10;

  /** For what Cassandra does only while the caller waits. Waiting tasks are bounded as commits. */
  private static final Executor BLOCKING = blockingThreads();

  private final OutboundQueues queues;

  /**
   * @param queues to the other replicas
   */
  QuorumWrite(OutboundQueues queues) {
    this.queues = queues;
  }

  private static Executor blockingThreads() {
    ThreadPoolExecutor threads =
        new ThreadPoolExecutor(
            MAX_BLOCKING_THREADS,
            MAX_BLOCKING_THREADS,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            new ThreadFactoryBuilder().setNameFormat("IsoldeApply-%d").setDaemon(true).build());
    threads.allowCoreThreadTimeOut(true);
    return threads;
  }

  /**
   * Tries once. Also what was applied in part may be tried again: the same cells with the same
   * timestamps.
   *
   * @return whether all are on their quorums; does not fail
   */
  CompletableFuture<Boolean> attempt(List<Mutation> mutations) {
    try {
      if (mutations.isEmpty()) {
        return CompletableFuture.completedFuture(true);
      }
      return mustWait(mutations)
          ? CompletableFuture.supplyAsync(() -> mutateAndWait(mutations), BLOCKING)
          : mutate(mutations);
    } catch (RuntimeException | Error e) {
      JVMStabilityInspector.inspectThrowable(e);
      return CompletableFuture.completedFuture(notYet(e));
    }
  }

  private boolean mustWait(List<Mutation> mutations) {
    return mutations.stream()
        .flatMap(mutation -> mutation.getPartitionUpdates().stream())
        .anyMatch(update -> !update.metadata().triggers.isEmpty());
  }

  private boolean mutateAndWait(List<Mutation> mutations) {
    try {
      StorageProxy.mutateWithTriggers(
          mutations, QUORUM, false, Dispatcher.RequestTime.forImmediateExecution());
      return true;
    } catch (RuntimeException | Error e) {
      JVMStabilityInspector.inspectThrowable(e);
      return notYet(e);
    }
  }

  private CompletableFuture<Boolean> mutate(List<Mutation> mutations) {
    Dispatch dispatch = new Dispatch(queues, ApplyThreads.isOurs());
    Dispatcher.RequestTime time = Dispatcher.RequestTime.forImmediateExecution();
    String dataCenter = DatabaseDescriptor.getEndpointSnitch().getLocalDatacenter();
    WriteType type = mutations.size() == 1 ? WriteType.SIMPLE : WriteType.UNLOGGED_BATCH;
    List<AbstractWriteResponseHandler<IMutation>> writes = new ArrayList<>(mutations.size());
    CompletableFuture<?>[] ends = new CompletableFuture<?>[mutations.size()];
    for (int i = 0; i < ends.length; i++) {
      CompletableFuture<Void> end = new CompletableFuture<>();
      ends[i] = end;
      writes.add(
          StorageProxy.performWrite(
              mutations.get(i),
              QUORUM,
              dataCenter,
              (mutation, replicas, handler, inDataCenter, requestTime) ->
                  dispatch.add((Mutation) mutation, replicas, handler, inDataCenter, requestTime),
              () -> end.complete(null),
              type,
              time));
    }
    dispatch.send();
    long timeoutMillis = DatabaseDescriptor.getWriteRpcTimeout(TimeUnit.MILLISECONDS);
    CompletableFuture<Void> all = ends.length == 1 ? only(ends[0]) : CompletableFuture.allOf(ends);
    return (all.isDone() ? all : all.orTimeout(timeoutMillis + GRACE_MILLIS, TimeUnit.MILLISECONDS))
        .handle((done, timeout) -> ended(mutations, writes, timeout != null, time));
  }

  @SuppressWarnings("unchecked")
  private static CompletableFuture<Void> only(CompletableFuture<?> end) {
    return (CompletableFuture<Void>) end;
  }

  /** Whether all are on their quorums. */
  private static boolean ended(
      List<Mutation> mutations,
      List<AbstractWriteResponseHandler<IMutation>> writes,
      boolean isTimeout,
      Dispatcher.RequestTime time) {
    ClientWriteRequestMetrics all = ClientRequestsMetricsHolder.writeMetrics;
    ClientWriteRequestMetrics atLevel = ClientRequestsMetricsHolder.writeMetricsForLevel(QUORUM);
    long nanos = System.nanoTime() - time.startedAtNanos();
    all.addNano(nanos);
    atLevel.addNano(nanos);
    long bytes = IMutation.dataSize(mutations);
    all.mutationSize.update(bytes);
    atLevel.mutationSize.update(bytes);
    mutations.forEach(mutation -> informTables(mutation, nanos));
    if (isTimeout) {
      all.timeouts.mark();
      atLevel.timeouts.mark();
      logger.warn("A committed transaction could not be applied yet: replicas do not answer.");
      return false;
    }
    try {
      writes.forEach(AbstractWriteResponseHandler::get); // each has ended, so it does not wait
      return true;
    } catch (RuntimeException e) {
      all.failures.mark();
      atLevel.failures.mark();
      return notYet(e);
    }
  }

  private static void informTables(Mutation mutation, long nanos) {
    for (TableId table : mutation.getTableIds()) {
      ColumnFamilyStore store = ColumnFamilyStore.getIfExists(table);
      if (store != null) {
        store.metric.coordinatorWriteLatency.update(nanos, TimeUnit.NANOSECONDS);
      }
    }
  }

  private static boolean notYet(Throwable e) {
    if (e instanceof RequestExecutionException) {
      logger.warn("A committed transaction could not be applied yet: {}", e.getMessage());
    } else {
      // Whatever it is, the transaction is committed: it must be tried until it works.
      logger.error("A committed transaction could not be applied yet.", e);
    }
    return false;
  }
}
