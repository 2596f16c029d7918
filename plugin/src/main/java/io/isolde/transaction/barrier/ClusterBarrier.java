// SPDX-License-Identifier: Apache-2.0
package io.isolde.transaction.barrier;

import com.google.common.util.concurrent.ThreadFactoryBuilder;
import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import io.isolde.peers.EveryNode;
import io.isolde.peers.JsonMessages;
import io.isolde.peers.NodePort;
import io.isolde.peers.PatientRequest;
import io.isolde.peers.Peers;
import io.isolde.peers.Ring;
import io.isolde.version.ConflictUnit;
import io.isolde.version.DroppedColumns;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongPredicate;
import java.util.function.Supplier;
import org.apache.cassandra.schema.Schema;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.utils.concurrent.UncheckedInterruptedException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The barriers of all nodes together. Nodes that are down have no statements to hold back. A node
 * that is cut off, and goes on serving clients, is not held back.
 */
public final class ClusterBarrier {
  private static final Logger logger = LoggerFactory.getLogger(ClusterBarrier.class);
  private static final int THREADS = 8;
  private static final int MAX_WAITING = 64;
  private static final long MAX_WAIT_MILLIS = 15_000;

  /** A node that still does not know it then is in the way of ENABLE. */
  private static final long MAX_FOLLOW_MILLIS = 30_000;

  /**
   * For nodes that have just started; longer would be a long time for a node that has just died.
   */
  private static final long PATIENCE_MILLIS = 3_000;

  /** What a table has in memory may be a good part of the heap, and the disk slow. */
  private static final long MAX_FLUSH_MILLIS = 60_000;

  /**
   * For how long barriers stay closed if the node that closed them dies. It is renewed every two
   * seconds. That node may hang for a moment, and others finish what it has left of a TRUNCATE.
   */
  private static final long LEASE_MILLIS = 60_000;

  private final Supplier<Optional<NodePort>> port;
  private final BarrierKeeper keeper;
  private final EveryNode everyNode;

  /** Guarded by this. */
  private Peers peers;

  /**
   * Makes it; other nodes are answered from {@link #serve} on.
   *
   * @param own this node's barrier
   * @param everyNode asked before a table becomes transactional
   * @param port empty until the port for other nodes is open
   * @param secure whether no commit up to a timestamp is applied on this node again
   */
  public ClusterBarrier(
      TableBarrier own,
      EveryNode everyNode,
      Supplier<Optional<NodePort>> port,
      LongPredicate secure) {
    this.keeper = new BarrierKeeper(own, secure);
    this.everyNode = everyNode;
    this.port = port;
  }

  /** Starts answering other nodes, once Cassandra knows its own address. */
  public void serve() {
    peers().serve();
  }

  private synchronized Peers peers() {
    if (peers == null) {
      peers =
          new Peers(
              Ring.self(), Peers.Service.TABLE_BARRIERS, port, requestThreads(), keeper::answer);
    }
    return peers;
  }

  private static ThreadPoolExecutor requestThreads() {
    ThreadPoolExecutor threads =
        new ThreadPoolExecutor(
            THREADS,
            THREADS,
            10,
            TimeUnit.SECONDS,
            new ArrayBlockingQueue<>(MAX_WAITING),
            new ThreadFactoryBuilder().setNameFormat("isolde-barrier-%d").setDaemon(true).build());
    threads.allowCoreThreadTimeOut(true);
    return threads;
  }

  /**
   * Returns if every node can have a transactional table.
   *
   * @throws IsoldeException as {@link EveryNode#requireIsolde}
   */
  public void requireIsoldeEverywhere(TableMetadata table) {
    everyNode.requireIsolde("ENABLE TRANSACTIONS ON " + table);
  }

  /**
   * Runs a change of a table's mode while no statement on it runs on any node that is up. That goes
   * for nodes that start meanwhile, too, however long the change takes.
   *
   * @throws IsoldeException UNAVAILABLE if a node that is up does not answer, or another change of
   *     the table is under way; nothing was changed then
   */
  public void whileClosed(TableMetadata table, Runnable change) {
    UUID id = UUID.randomUUID();
    byte[] hold = request(BarrierRequest.Kind.HOLD, id, table, 0);
    try (var unused = LeaseRenewal.start(Ring::living, node -> send(node, hold))) {
      askAll(BarrierRequest.Kind.CLOSE, id, table);
      change.run();
    } finally {
      open(id, table);
    }
  }

  private void send(String node, byte[] request) {
    var unused = peers().ask(node, request);
  }

  /**
   * Returns when no node that is up applies a commit to the table up to a timestamp again, should
   * it die: else such a commit could come after what is done next.
   *
   * @param upTo all commits to the table up to here are applied (microseconds)
   * @throws IsoldeException UNAVAILABLE if a node does not manage that
   */
  public void secure(TableMetadata table, long upTo) {
    requireSecured(table, ask(BarrierRequest.Kind.SECURE, UUID.randomUUID(), table, upTo));
  }

  /**
   * As {@link #secure}, of every node. One that is down, and comes back before the change is done,
   * would apply such commits after it.
   */
  public void secureOnAll(TableMetadata table, long upTo) {
    Map<String, PatientRequest> asked =
        ask(BarrierRequest.Kind.SECURE, UUID.randomUUID(), table, upTo);
    for (String node : Ring.members()) {
      if (!asked.containsKey(node)) {
        throw unavailable(
            "The node %s is down, so %s was not changed; try again when all nodes are up."
                .formatted(node, table),
            table,
            node);
      }
    }
    requireSecured(table, asked);
  }

  private static void requireSecured(TableMetadata table, Map<String, PatientRequest> asked) {
    var unused =
        requireAll(
            table,
            asked,
            MAX_WAIT_MILLIS,
            "A node could not note in time up to where it has all commits on disk, so "
                + table
                + " was not changed; try again.");
  }

  /**
   * Finishes what lightweight transactions have under way, as far as a node that is up knows of it.
   *
   * @throws IsoldeException UNAVAILABLE if a node does not manage that
   */
  public void finishPaxos(TableMetadata table) {
    var unused =
        requireAll(
            table,
            ask(BarrierRequest.Kind.FINISH_PAXOS, UUID.randomUUID(), table),
            MAX_WAIT_MILLIS,
            "A lightweight transaction that was under way could not be finished, so "
                + table
                + " was not changed; try again.");
  }

  /**
   * Returns when transactions that started before a timestamp can't use a table any more, on all
   * nodes that are up.
   *
   * @param timestamp above all that was written to the table, in microseconds
   * @throws IsoldeException UNAVAILABLE if one of them does not answer
   */
  public void beginAnew(TableMetadata table, long timestamp) {
    var unused =
        requireAll(
            table,
            ask(BarrierRequest.Kind.BEGIN_ANEW, UUID.randomUUID(), table, timestamp),
            MAX_WAIT_MILLIS,
            "A node does not know " + table + " yet, so it was not changed; try again.");
  }

  /**
   * Returns when all nodes that are up know the unique indexes of a table. Transactions that
   * started before a timestamp can't write to it any more then.
   *
   * @param timestamp above all that was written to the table, in microseconds
   * @throws IsoldeException UNAVAILABLE if one of them does not answer
   */
  public void beginWritesAnew(TableMetadata table, long timestamp) {
    var unused =
        requireAll(
            table,
            ask(BarrierRequest.Kind.BEGIN_WRITES_ANEW, UUID.randomUUID(), table, timestamp),
            MAX_WAIT_MILLIS,
            "A node does not know the new index of " + table + " yet; try again.");
  }

  /**
   * The newest timestamp (microseconds) of what the nodes that are up have of a table, all of which
   * is on disk then; the smallest number if they have nothing.
   *
   * @throws IsoldeException UNAVAILABLE if one of them does not answer
   */
  public long newestTimestamp(TableMetadata table) {
    return askAll(BarrierRequest.Kind.NEWEST, UUID.randomUUID(), table);
  }

  /**
   * Waits until the nodes that are up know what a table is now. Those that go on before would take
   * it for what it was. This can still happen if a node does not hear of it for long.
   */
  public void awaitFollowers(TableMetadata table) {
    announce(ask(BarrierRequest.Kind.FOLLOW, UUID.randomUUID(), table), table);
  }

  /**
   * As {@link #awaitFollowers}, where a node that goes on before would do harm. Waits longer: a
   * busy node may take a while for a change of the schema.
   *
   * @throws IsoldeException UNAVAILABLE if a node does not know it yet
   */
  public void requireFollowers(TableMetadata table) {
    long startNanos = System.nanoTime();
    while (true) {
      try {
        var unused =
            requireAll(
                table,
                ask(BarrierRequest.Kind.FOLLOW, UUID.randomUUID(), table),
                MAX_WAIT_MILLIS,
                "A node does not know yet what " + table + " is now; try again.");
        return;
      } catch (IsoldeException e) {
        if (System.nanoTime() - startNanos > TimeUnit.MILLISECONDS.toNanos(MAX_FOLLOW_MILLIS)) {
          throw e;
        }
      }
    }
  }

  /**
   * As {@link #beginAnew}, where the change is made already: a node that does not answer may go on
   * telling those who watch the table of its commits only.
   */
  public void announceBeginning(TableMetadata table, long timestamp) {
    announce(ask(BarrierRequest.Kind.BEGIN_ANEW, UUID.randomUUID(), table, timestamp), table);
  }

  private void announce(Map<String, PatientRequest> notification, TableMetadata table) {
    for (var asked : notification.entrySet()) {
      try {
        if (!await(asked.getKey(), asked.getValue(), PATIENCE_MILLIS, MAX_WAIT_MILLIS, table)
            .isDone()) {
          logger.warn("The node {} has not heard yet of what {} is now.", asked.getKey(), table);
        }
      } catch (IsoldeException e) {
        logger.warn("It is not known whether {} knows what {} is now.", asked.getKey(), table, e);
      }
    }
  }

  private long askAll(BarrierRequest.Kind kind, UUID change, TableMetadata table) {
    return requireAll(
        table,
        ask(kind, change, table),
        kind == BarrierRequest.Kind.NEWEST ? MAX_FLUSH_MILLIS : MAX_WAIT_MILLIS,
        "Another change of the table " + table + " is under way already; try again.");
  }

  private static long requireAll(
      TableMetadata table, Map<String, PatientRequest> answers, long waitMillis, String ifRefused) {
    long newest = Long.MIN_VALUE;
    for (Map.Entry<String, PatientRequest> asked : answers.entrySet()) {
      BarrierRequest.Answer answer =
          await(asked.getKey(), asked.getValue(), PATIENCE_MILLIS, waitMillis, table);
      if (!answer.isDone()) {
        throw unavailable(ifRefused, table, asked.getKey());
      }
      newest = Math.max(newest, answer.newestTimestamp());
    }
    return newest;
  }

  private Map<String, PatientRequest> ask(
      BarrierRequest.Kind kind, UUID change, TableMetadata table) {
    return ask(kind, change, table, 0);
  }

  private Map<String, PatientRequest> ask(
      BarrierRequest.Kind kind, UUID change, TableMetadata table, long upTo) {
    Peers known = peers();
    byte[] request = request(kind, change, table, upTo);
    Map<String, PatientRequest> answers = new LinkedHashMap<>();
    Set<String> nodes = Ring.living();
    nodes.add(Ring.self());
    nodes.forEach(node -> answers.put(node, new PatientRequest(() -> known.ask(node, request))));
    return answers;
  }

  private static byte[] request(
      BarrierRequest.Kind kind, UUID change, TableMetadata table, long upTo) {
    TableMetadata now = Schema.instance.getTableMetadata(table.id);
    return JsonMessages.bytes(
        new BarrierRequest(
            kind,
            change,
            table.id.asUUID(),
            Ring.self(),
            LEASE_MILLIS,
            BarrierKeeper.isTransactional(table.id),
            now == null ? ConflictUnit.ROW : ConflictUnit.of(now),
            DroppedColumns.newestMicrosNow(table),
            now == null ? List.of() : BarrierKeeper.uniqueIndexes(now),
            upTo));
  }

  private static BarrierRequest.Answer await(
      String node,
      PatientRequest request,
      long patienceMillis,
      long waitMillis,
      TableMetadata table) {
    try {
      return JsonMessages.read(
          request.await(patienceMillis, waitMillis), BarrierRequest.Answer.class);
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
    for (var asked : ask(BarrierRequest.Kind.OPEN, change, table).entrySet()) {
      try {
        var unused = await(asked.getKey(), asked.getValue(), 0, MAX_WAIT_MILLIS, table);
      } catch (IsoldeException e) {
        logger.warn(
            "The node {} was not reached. It holds back statements on {} until its lease ends.",
            asked.getKey(),
            table,
            e);
      }
    }
  }
}
