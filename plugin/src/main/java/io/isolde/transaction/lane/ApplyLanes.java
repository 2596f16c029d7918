// SPDX-License-Identifier: Apache-2.0
package io.isolde.transaction.lane;

import com.google.common.util.concurrent.ThreadFactoryBuilder;
import io.isolde.config.NodeClock;
import io.isolde.peers.Peers;
import io.isolde.peers.Ring;
import io.isolde.replicated.OracleHost;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.apache.cassandra.concurrent.Stage;
import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.db.IMutation;
import org.apache.cassandra.db.Mutation;
import org.apache.cassandra.io.util.DataOutputBuffer;
import org.apache.cassandra.locator.EndpointsForToken;
import org.apache.cassandra.locator.InetAddressAndPort;
import org.apache.cassandra.locator.Replica;
import org.apache.cassandra.locator.ReplicaPlan;
import org.apache.cassandra.net.Message;
import org.apache.cassandra.net.MessagingService;
import org.apache.cassandra.net.NoPayload;
import org.apache.cassandra.net.Verb;
import org.apache.cassandra.service.AbstractWriteResponseHandler;
import org.apache.cassandra.service.StorageProxy;
import org.apache.cassandra.tracing.Tracing;
import org.apache.cassandra.transport.Dispatcher;

/**
 * Sends the parts of decided commits to their replicas: to living ones of this datacenter over
 * lanes, to all others, and wherever a lane fails, as Cassandra does, with its hints. What comes
 * twice are the same cells with the same timestamps.
 */
public final class ApplyLanes {
  private static final int THREADS = 8;
  private static final int MOST_MESSAGES = 256;
  private static final int VERSION = MessagingService.current_version;

  private final Peers peers;

  /** One for each replica that this node has written to. */
  private final Map<InetAddressAndPort, Lane> lanes = new ConcurrentHashMap<>();

  private ApplyLanes(Peers peers) {
    this.peers = peers;
  }

  /** Everything goes as Cassandra sends it. */
  public static ApplyLanes none() {
    return new ApplyLanes(null);
  }

  /**
   * Lanes of this node, which also serves those of others from now on.
   *
   * @param host whose port they use
   */
  public static ApplyLanes open(OracleHost host) {
    LaneEnd end = new LaneEnd();
    Supplier<Optional<OracleHost>> port = () -> Optional.of(host);
    Peers peers =
        new Peers(Ring.self(), Peers.Service.COMMITS, port, applyingThreads(), end::answer);
    peers.serve();
    return new ApplyLanes(peers);
  }

  private static ThreadPoolExecutor applyingThreads() {
    return new ThreadPoolExecutor(
        THREADS,
        THREADS,
        0,
        TimeUnit.SECONDS,
        new ArrayBlockingQueue<>(MOST_MESSAGES),
        new ThreadFactoryBuilder().setNameFormat("isolde-apply-%d").setDaemon(true).build());
  }

  /** Sends a mutation to all replicas of the plan; the handler hears of them. */
  public void write(
      Mutation mutation,
      ReplicaPlan.ForWrite plan,
      AbstractWriteResponseHandler<IMutation> handler,
      String dataCenter,
      Dispatcher.RequestTime time) {
    Sending sending = new Sending(mutation, plan, handler, dataCenter, time);
    Set<Replica> onLanes = new HashSet<>();
    EndpointsForToken near = plan.contacts().filter(sending::isNear);
    if (peers != null && !near.isEmpty() && !Tracing.isTracing()) {
      byte[] bytes = serialized(mutation);
      for (Replica replica : near) {
        if (lane(replica.endpoint()).offer(new OnLane(sending, replica, bytes))) {
          onLanes.add(replica);
        }
      }
    }
    if (onLanes.size() < plan.contacts().size()) {
      sending.asCassandra(plan.withContacts(plan.contacts().filter(r -> !onLanes.contains(r))));
    }
  }

  private Lane lane(InetAddressAndPort replica) {
    return lanes.computeIfAbsent(
        replica, node -> new Lane(parcels -> ask(Ring.nameOf(node), parcels), System::nanoTime));
  }

  private CompletableFuture<byte[]> ask(String node, List<byte[]> parcels) {
    return peers.ask(node, LaneFrames.encode(VERSION, NodeClock.nowMillis(), parcels));
  }

  private static byte[] serialized(Mutation mutation) {
    try (DataOutputBuffer out = new DataOutputBuffer()) {
      Mutation.serializer.serialize(mutation, out, VERSION);
      return out.toByteArray();
    } catch (IOException e) {
      throw new UncheckedIOException("a buffer in memory", e);
    }
  }

  /** A mutation and who waits for it. */
  private record Sending(
      Mutation mutation,
      ReplicaPlan.ForWrite plan,
      AbstractWriteResponseHandler<IMutation> handler,
      String dataCenter,
      Dispatcher.RequestTime time) {

    boolean isNear(Replica replica) {
      return !replica.isSelf()
          && plan.isAlive(replica)
          && dataCenter.equals(DatabaseDescriptor.getEndpointSnitch().getDatacenter(replica));
    }

    void asCassandra(ReplicaPlan.ForWrite some) {
      StorageProxy.sendToHintedReplicas(mutation, some, handler, dataCenter, Stage.MUTATION, time);
    }
  }

  /** A mutation on its way to one replica. */
  private static final class OnLane implements Parcel {
    private final Sending sending;
    private final Replica replica;
    private final byte[] bytes;

    OnLane(Sending sending, Replica replica, byte[] bytes) {
      this.sending = sending;
      this.replica = replica;
      this.bytes = bytes;
    }

    @Override
    public byte[] bytes() {
      return bytes;
    }

    @Override
    public void acknowledged() {
      sending.handler.onResponse(
          only(Message.synthetic(replica.endpoint(), Verb.MUTATION_RSP, NoPayload.noPayload)));
    }

    /** Of an answer only its sender is looked at. */
    @SuppressWarnings("unchecked")
    private static Message<IMutation> only(Message<?> answer) {
      return (Message<IMutation>) answer;
    }

    @Override
    public void undelivered() {
      Stage.MUTATION.execute(
          () ->
              sending.asCassandra(
                  sending.plan.withContacts(sending.plan.contacts().filter(replica::equals))));
    }
  }
}
