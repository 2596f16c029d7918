// SPDX-License-Identifier: Apache-2.0
package io.isolde.transaction.gate;

import com.google.common.util.concurrent.ThreadFactoryBuilder;
import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import io.isolde.peers.PatientRequest;
import io.isolde.peers.Peers;
import io.isolde.peers.Ring;
import io.isolde.peers.Wire;
import io.isolde.replicated.OracleHost;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.utils.concurrent.UncheckedInterruptedException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The gates of all nodes together. Nodes that are down have no statements to hold back. A node that
 * is cut off, and goes on serving clients, is not held back.
 */
public final class ClusterGate {
  private static final Logger logger = LoggerFactory.getLogger(ClusterGate.class);
  private static final int THREADS = 8;
  private static final int MOST_WAITING = 64;
  private static final long LONGEST_WAIT_MILLIS = 15_000;

  /**
   * For nodes that have just started; longer would be a long time for a node that has just died.
   */
  private static final long PATIENCE_MILLIS = 3_000;

  /** What a table has in memory may be a good part of the heap, and the disk slow. */
  private static final long LONGEST_FLUSH_MILLIS = 60_000;

  /** For what a change waits for beside TRUNCATE's own time-out. */
  private static final long LEASE_BEYOND_TRUNCATE_MILLIS = 60_000;

  private final Supplier<Optional<OracleHost>> host;
  private final GateKeeper keeper;
  private volatile Peers peers;

  /**
   * Makes it; other nodes are answered from {@link #serve} on.
   *
   * @param own this node's gate
   * @param host empty where the oracle is embedded, on a node alone
   */
  public ClusterGate(TableGate own, Supplier<Optional<OracleHost>> host) {
    this.keeper = new GateKeeper(own);
    this.host = host;
  }

  /** Starts answering other nodes, once Cassandra knows its own address. */
  public synchronized void serve() {
    if (peers == null) {
      Peers ready =
          new Peers(Ring.self(), Peers.Service.TABLE_GATES, host, requestThreads(), keeper::answer);
      ready.serve();
      peers = ready;
    }
  }

  private static ThreadPoolExecutor requestThreads() {
    ThreadPoolExecutor threads =
        new ThreadPoolExecutor(
            THREADS,
            THREADS,
            10,
            TimeUnit.SECONDS,
            new ArrayBlockingQueue<>(MOST_WAITING),
            new ThreadFactoryBuilder().setNameFormat("isolde-gate-%d").setDaemon(true).build());
    threads.allowCoreThreadTimeOut(true);
    return threads;
  }

  /**
   * Runs a change of a table's mode while no statement on it runs on any node that is up.
   *
   * @throws IsoldeException UNAVAILABLE if a node that is up does not answer, or another change of
   *     the table is under way; nothing was changed then
   */
  public void whileClosed(TableMetadata table, Runnable change) {
    UUID id = UUID.randomUUID();
    try {
      askAll(GateRequest.Kind.CLOSE, id, table);
      change.run();
    } finally {
      open(id, table);
    }
  }

  /**
   * The newest timestamp (microseconds) of what the nodes that are up have of a table, all of which
   * is on disk then; the smallest number if they have nothing.
   *
   * @throws IsoldeException UNAVAILABLE if one of them does not answer
   */
  public long newestTimestamp(TableMetadata table) {
    return askAll(GateRequest.Kind.NEWEST, UUID.randomUUID(), table);
  }

  /**
   * Waits until the nodes that are up know what a table is now. Those that go on before would take
   * it for what it was, which is what remains if a node does not hear of it for long.
   */
  public void awaitFollowers(TableMetadata table) {
    for (var asked : ask(GateRequest.Kind.FOLLOW, UUID.randomUUID(), table).entrySet()) {
      try {
        if (!await(asked.getKey(), asked.getValue(), 0, LONGEST_WAIT_MILLIS, table).isDone()) {
          logger.warn("The node {} has not heard yet of what {} is now.", asked.getKey(), table);
        }
      } catch (IsoldeException e) {
        logger.warn("It is not known whether {} knows what {} is now.", asked.getKey(), table, e);
      }
    }
  }

  private long askAll(GateRequest.Kind kind, UUID change, TableMetadata table) {
    Map<String, PatientRequest> answers = ask(kind, change, table);
    long waitMillis = kind == GateRequest.Kind.NEWEST ? LONGEST_FLUSH_MILLIS : LONGEST_WAIT_MILLIS;
    long newest = Long.MIN_VALUE;
    for (Map.Entry<String, PatientRequest> asked : answers.entrySet()) {
      GateRequest.Answer answer =
          await(asked.getKey(), asked.getValue(), PATIENCE_MILLIS, waitMillis, table);
      if (!answer.isDone()) {
        throw unavailable(
            "ENABLE or DISABLE TRANSACTIONS on " + table + ", or TRUNCATE, is under way already.",
            table,
            asked.getKey());
      }
      newest = Math.max(newest, answer.newestTimestamp());
    }
    return newest;
  }

  private Map<String, PatientRequest> ask(GateRequest.Kind kind, UUID change, TableMetadata table) {
    serve();
    byte[] request =
        Wire.bytes(
            new GateRequest(
                kind,
                change,
                table.id.asUUID(),
                Ring.self(),
                DatabaseDescriptor.getTruncateRpcTimeout(TimeUnit.MILLISECONDS)
                    + LEASE_BEYOND_TRUNCATE_MILLIS,
                GateKeeper.isTransactional(table.id)));
    Map<String, PatientRequest> answers = new LinkedHashMap<>();
    Set<String> nodes = Ring.living();
    nodes.add(Ring.self());
    nodes.forEach(node -> answers.put(node, new PatientRequest(() -> peers.ask(node, request))));
    return answers;
  }

  private static GateRequest.Answer await(
      String node,
      PatientRequest request,
      long patienceMillis,
      long waitMillis,
      TableMetadata table) {
    try {
      return Wire.read(request.await(patienceMillis, waitMillis), GateRequest.Answer.class);
    } catch (ExecutionException | TimeoutException | IOException e) {
      String why = e instanceof ExecutionException ? String.valueOf(e.getCause()) : "no answer";
      throw unavailable(
          "The node "
              + node
              + " is up, but did not do its part in a change of "
              + table
              + ", so nothing was changed; try again. ("
              + why
              + ")",
          table,
          node);
    } catch (InterruptedException e) {
      throw new UncheckedInterruptedException(e);
    }
  }

  private static IsoldeException unavailable(String why, TableMetadata table, String node) {
    return IsoldeException.of(ErrorCode.UNAVAILABLE, why, "table", table, "node", node);
  }

  /** Whoever can't be told lets its statements go on when the lease ends. */
  private void open(UUID change, TableMetadata table) {
    for (var asked : ask(GateRequest.Kind.OPEN, change, table).entrySet()) {
      try {
        var unused = await(asked.getKey(), asked.getValue(), 0, LONGEST_WAIT_MILLIS, table);
      } catch (IsoldeException e) {
        logger.warn(
            "The node {} holds back statements on {} until it notices that nobody opens it.",
            asked.getKey(),
            table,
            e);
      }
    }
  }
}
