// SPDX-License-Identifier: Apache-2.0
package io.isolde.apply;

import com.google.common.util.concurrent.ThreadFactoryBuilder;
import io.isolde.config.HeapBudget;
import io.isolde.config.NodeClock;
import io.isolde.oracle.group.OracleClient;
import io.isolde.peers.NodePort;
import io.isolde.peers.Peers;
import io.isolde.peers.Ring;
import io.isolde.raft.ByteBudget;
import io.isolde.replicated.OracleHost;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.apache.cassandra.locator.InetAddressAndPort;
import org.apache.cassandra.net.MessagingService;

/**
 * Sends the parts of decided commits to their replicas: to living ones of this datacenter over
 * outbound queues, to all others, and wherever an outbound queue fails, as Cassandra does, with its
 * hints. What comes twice are the same cells with the same timestamps.
 */
public final class OutboundQueues {
  /**
   * What is more goes mutation by mutation, so that not all of it waits for room in an outbound
   * queue.
   */
  static final int MAX_ITEM_BYTES = 128 << 10;

  static final int VERSION = MessagingService.current_version;

  private static final int THREADS = 8;
  private static final int MAX_MESSAGES = 256;

  private final Peers peers;
  private final OracleClient oracle;

  /** Where this node has the oracle's port. */
  private final InetSocketAddress self;

  /** One for each replica that this node has written to. */
  private final Map<InetAddressAndPort, OutboundQueue> queues = new ConcurrentHashMap<>();

  private final ByteBudget memory = new ByteBudget(HeapBudget.ofThisNode().outboundBytes());

  private OutboundQueues(Peers peers, OracleClient oracle, InetSocketAddress self) {
    this.peers = peers;
    this.oracle = oracle;
    this.self = self;
  }

  /** Everything goes as Cassandra sends it. */
  public static OutboundQueues none() {
    return new OutboundQueues(null, null, null);
  }

  /**
   * Outbound queues of this node, which also serves those of others from now on.
   *
   * @param host whose port they use
   */
  public static OutboundQueues open(OracleHost host) {
    Supplier<Optional<NodePort>> port = () -> Optional.of(host);
    Peers peers =
        new Peers(
            Ring.self(), Peers.Service.COMMITS, port, applyingThreads(), BatchReceiver::answer);
    peers.serve();
    return new OutboundQueues(peers, host.client(), host.addressOf(Ring.self()));
  }

  private static ThreadPoolExecutor applyingThreads() {
    return new ThreadPoolExecutor(
        THREADS,
        THREADS,
        0,
        TimeUnit.SECONDS,
        new ArrayBlockingQueue<>(MAX_MESSAGES),
        new ThreadFactoryBuilder().setNameFormat("isolde-apply-%d").setDaemon(true).build());
  }

  boolean areOpen() {
    return peers != null;
  }

  OutboundQueue to(InetAddressAndPort replica) {
    return queues.computeIfAbsent(
        replica,
        node ->
            new OutboundQueue(items -> ask(Ring.nameOf(node), items), System::nanoTime, memory));
  }

  private CompletableFuture<byte[]> ask(String node, List<byte[]> items) {
    return peers.ask(node, BatchFrames.encode(VERSION, NodeClock.nowMillis(), items));
  }

  /** Whether another node leads the oracle, as far as this one knows. */
  boolean isLeaderElsewhere() {
    return areOpen() && oracle.leader().filter(leader -> !leader.equals(self)).isPresent();
  }
}
