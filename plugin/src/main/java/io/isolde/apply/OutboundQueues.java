// SPDX-License-Identifier: Apache-2.0
package io.isolde.apply;

import com.google.common.util.concurrent.ThreadFactoryBuilder;
import io.isolde.config.HeapBudget;
import io.isolde.config.NodeClock;
import io.isolde.peers.NodePort;
import io.isolde.peers.Peers;
import io.isolde.peers.Ring;
import io.isolde.raft.ByteBudget;
import io.isolde.replicated.OracleHost;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.locator.InetAddressAndPort;
import org.apache.cassandra.locator.ReplicaPlan;
import org.apache.cassandra.net.MessagingService;
import org.apache.cassandra.utils.FBUtilities;

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
  public static final int MAX_ITEM_BYTES = 128 << 10;

  static final int VERSION = MessagingService.current_version;

  private static final int THREADS = 8;
  private static final int MAX_MESSAGES = 256;

  private final Peers peers;
  private final OracleHost host;

  /** One for each replica that this node has written to. */
  private final Map<InetAddressAndPort, OutboundQueue> queues = new ConcurrentHashMap<>();

  private final ByteBudget memory = new ByteBudget(HeapBudget.ofThisNode().outboundBytes());

  /** Where those have the oracle's port. */
  private final Map<InetAddressAndPort, InetSocketAddress> ports = new ConcurrentHashMap<>();

  private OutboundQueues(Peers peers, OracleHost host) {
    this.peers = peers;
    this.host = host;
  }

  /** Everything goes as Cassandra sends it. */
  public static OutboundQueues none() {
    return new OutboundQueues(null, null);
  }

  /**
   * Outbound queues of this node, which also serves those of others from now on.
   *
   * @param host whose port they use
   */
  public static OutboundQueues open(OracleHost host) {
    BatchReceiver end = new BatchReceiver(host.node()::applied);
    Supplier<Optional<NodePort>> port = () -> Optional.of(host);
    Peers peers =
        new Peers(Ring.self(), Peers.Service.COMMITS, port, applyingThreads(), end::answer);
    peers.serve();
    return new OutboundQueues(peers, host);
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

  /**
   * Begins an attempt to bring mutations to their replicas.
   *
   * @param wholeCommit the timestamp of the commit, if these are all that it writes
   * @param writesHere whether this thread does what is to be written on this node
   */
  public Dispatch begin(OptionalLong wholeCommit, boolean writesHere) {
    return new Dispatch(this, wholeCommit, writesHere);
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

  /** Whether a node leads the oracle, as far as this one knows. */
  boolean isLeader(InetAddressAndPort node) {
    return host.client().leader().filter(portOf(node)::equals).isPresent();
  }

  private InetSocketAddress portOf(InetAddressAndPort node) {
    return ports.computeIfAbsent(node, address -> host.addressOf(Ring.nameOf(address)));
  }

  /** Whether another node leads the oracle, as far as this one knows. */
  public boolean isLeaderElsewhere() {
    return areOpen()
        && host.client()
            .leader()
            .filter(leader -> !leader.equals(portOf(FBUtilities.getBroadcastAddressAndPort())))
            .isPresent();
  }

  /**
   * Whether this node and the oracle's leader make a quorum of the replicas of a write, so that the
   * leader hears of it with its part: see {@link Dispatch}.
   */
  public boolean isQuorumWithLeader(ReplicaPlan.ForWrite plan) {
    String dataCenter = DatabaseDescriptor.getEndpointSnitch().getLocalDatacenter();
    long both =
        plan.contacts().stream()
            .filter(
                replica ->
                    replica.isSelf()
                        || (PartitionDispatch.isNear(replica, plan, dataCenter)
                            && isLeader(replica.endpoint())))
            .count();
    return both >= plan.writeQuorum();
  }
}
