// SPDX-License-Identifier: Apache-2.0
package io.isolde.apply;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.apache.cassandra.concurrent.Stage;
import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.db.IMutation;
import org.apache.cassandra.db.Mutation;
import org.apache.cassandra.exceptions.RequestFailureReason;
import org.apache.cassandra.io.util.DataOutputBuffer;
import org.apache.cassandra.locator.EndpointsForToken;
import org.apache.cassandra.locator.InetAddressAndPort;
import org.apache.cassandra.locator.Replica;
import org.apache.cassandra.locator.ReplicaPlan;
import org.apache.cassandra.net.Message;
import org.apache.cassandra.net.NoPayload;
import org.apache.cassandra.net.Verb;
import org.apache.cassandra.service.AbstractWriteResponseHandler;
import org.apache.cassandra.service.StorageProxy;
import org.apache.cassandra.transport.Dispatcher;
import org.apache.cassandra.utils.FBUtilities;
import org.apache.cassandra.utils.JVMStabilityInspector;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A mutation, its replicas, and who waits for them. Thread-safe once {@link #sendTheRest} has been
 * called; until then one thread sends it.
 */
final class PartitionDispatch {
  private static final Logger logger = LoggerFactory.getLogger(PartitionDispatch.class);

  private final Mutation mutation;
  private final ReplicaPlan.ForWrite plan;
  private final AbstractWriteResponseHandler<IMutation> handler;
  private final String dataCenter;
  private final Dispatcher.RequestTime time;

  /** Where it is, or is on its way to. */
  private final Set<InetAddressAndPort> sent = new HashSet<>();

  private byte[] bytes;

  PartitionDispatch(
      Mutation mutation,
      ReplicaPlan.ForWrite plan,
      AbstractWriteResponseHandler<IMutation> handler,
      String dataCenter,
      Dispatcher.RequestTime time) {
    this.mutation = mutation;
    this.plan = plan;
    this.handler = handler;
    this.dataCenter = dataCenter;
    this.time = time;
  }

  /** The mutation in Cassandra's format. */
  byte[] bytes() {
    if (bytes == null) {
      bytes = serialized(mutation);
    }
    return bytes;
  }

  static byte[] serialized(Mutation mutation) {
    try (DataOutputBuffer out = new DataOutputBuffer()) {
      Mutation.serializer.serialize(mutation, out, OutboundQueues.VERSION);
      return out.toByteArray();
    } catch (IOException e) {
      throw new UncheckedIOException("a buffer in memory", e);
    }
  }

  /** Living replicas of this datacenter, but for this node, as the plan has them. */
  EndpointsForToken near() {
    return contacts(
        replica ->
            !replica.isSelf()
                && plan.isAlive(replica)
                && dataCenter.equals(
                    DatabaseDescriptor.getEndpointSnitch().getDatacenter(replica)));
  }

  private EndpointsForToken contacts(Predicate<Replica> which) {
    return plan.contacts().filter(which);
  }

  /** On its way by an outbound queue. */
  void onItsWayTo(InetAddressAndPort replica) {
    sent.add(replica);
  }

  /** Writes it now if this node is a replica; does not fail. */
  void writeHere() {
    if (contacts(Replica::isSelf).isEmpty() || isLate()) {
      return; // What is late is Cassandra's to drop: it could come after a TRUNCATE.
    }
    InetAddressAndPort self = FBUtilities.getBroadcastAddressAndPort();
    sent.add(self);
    try {
      TableStores.requireOpen(mutation, 0);
      mutation.apply();
      handler.onResponse(null); // As Cassandra tells it of this node.
    } catch (RuntimeException | Error e) {
      JVMStabilityInspector.inspectThrowable(e);
      logger.error("A part of a commit could not be written on this node; it is tried again", e);
      handler.onFailure(self, RequestFailureReason.forException(e));
    }
  }

  private boolean isLate() {
    return System.nanoTime() - time.startedAtNanos()
        > DatabaseDescriptor.getWriteRpcTimeout(TimeUnit.NANOSECONDS);
  }

  /** A replica has it. Does not fail, so that all others of its batch item hear of it, too. */
  void acknowledged(InetAddressAndPort replica) {
    try {
      handler.onResponse(only(Message.synthetic(replica, Verb.MUTATION_RSP, NoPayload.noPayload)));
    } catch (RuntimeException e) {
      logger.error("What waits for a part of a commit failed; it is tried again", e);
    }
  }

  /** Of an answer only its sender is looked at. */
  @SuppressWarnings("unchecked")
  private static Message<IMutation> only(Message<?> answer) {
    return (Message<IMutation>) answer;
  }

  /** Sends it as Cassandra does to all replicas that it is not on its way to. */
  void sendTheRest() {
    EndpointsForToken rest = contacts(replica -> !sent.contains(replica.endpoint()));
    if (!rest.isEmpty()) {
      sendAsCassandra(rest);
    }
  }

  /** Sends it as Cassandra does to one replica. */
  void sendAsCassandra(InetAddressAndPort replica) {
    sendAsCassandra(contacts(one -> one.endpoint().equals(replica)));
  }

  private void sendAsCassandra(EndpointsForToken some) {
    StorageProxy.sendToHintedReplicas(
        mutation, plan.withContacts(some), handler, dataCenter, Stage.MUTATION, time);
  }
}
