// SPDX-License-Identifier: Apache-2.0
package io.isolde.apply;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.cassandra.concurrent.Stage;
import org.apache.cassandra.db.IMutation;
import org.apache.cassandra.db.Mutation;
import org.apache.cassandra.locator.InetAddressAndPort;
import org.apache.cassandra.locator.Replica;
import org.apache.cassandra.locator.ReplicaPlan;
import org.apache.cassandra.service.AbstractWriteResponseHandler;
import org.apache.cassandra.tracing.Tracing;
import org.apache.cassandra.transport.Dispatcher;

/**
 * One attempt to bring mutations to their replicas: what a replica gets is one batch item, if it is
 * not too much. Not thread-safe.
 */
final class Dispatch {
  private final OutboundQueues queues;
  private final boolean writesHere;
  private final List<PartitionDispatch> sendings = new ArrayList<>();

  /**
   * @param writesHere whether this thread does what is to be written on this node
   */
  Dispatch(OutboundQueues queues, boolean writesHere) {
    this.queues = queues;
    this.writesHere = writesHere;
  }

  /** A mutation is to go to all replicas of the plan; the handler hears of them. */
  void add(
      Mutation mutation,
      ReplicaPlan.ForWrite plan,
      AbstractWriteResponseHandler<IMutation> handler,
      String dataCenter,
      Dispatcher.RequestTime time) {
    sendings.add(new PartitionDispatch(mutation, plan, handler, dataCenter, time));
  }

  /** Sends all. */
  void send() {
    near().forEach(this::sendQueued);
    if (writesHere) {
      sendings.forEach(PartitionDispatch::writeHere);
    }
    sendings.forEach(PartitionDispatch::sendTheRest);
  }

  /** Who can be reached by outbound queues, and what they are to get. */
  private Map<InetAddressAndPort, List<PartitionDispatch>> near() {
    Map<InetAddressAndPort, List<PartitionDispatch>> near = new LinkedHashMap<>();
    if (queues.areOpen() && !Tracing.isTracing()) {
      for (PartitionDispatch sending : sendings) {
        for (Replica replica : sending.near()) {
          near.computeIfAbsent(replica.endpoint(), node -> new ArrayList<>()).add(sending);
        }
      }
    }
    return near;
  }

  private void sendQueued(InetAddressAndPort replica, List<PartitionDispatch> some) {
    OutboundQueue queue = queues.to(replica);
    if (fitsIntoItem(some)) {
      offer(new QueuedItem(replica, some), queue);
    } else {
      some.forEach(sending -> offer(new QueuedItem(replica, List.of(sending)), queue));
    }
  }

  private static boolean fitsIntoItem(List<PartitionDispatch> some) {
    return some.stream().mapToLong(sending -> sending.bytes().length).sum()
        <= OutboundQueues.MAX_ITEM_BYTES;
  }

  private static void offer(QueuedItem item, OutboundQueue queue) {
    if (queue.offer(item)) {
      item.sendings.forEach(sending -> sending.onItsWayTo(item.replica));
    }
  }

  /** Mutations on their way to one replica. */
  private static final class QueuedItem implements BatchItem {
    private final InetAddressAndPort replica;
    private final List<PartitionDispatch> sendings;
    private final byte[] bytes;

    QueuedItem(InetAddressAndPort replica, List<PartitionDispatch> sendings) {
      this.replica = replica;
      this.sendings = sendings;
      this.bytes = BatchFrames.item(sendings.stream().map(PartitionDispatch::bytes).toList());
    }

    @Override
    public byte[] bytes() {
      return bytes;
    }

    @Override
    public void acknowledged() {
      sendings.forEach(sending -> sending.acknowledged(replica));
    }

    @Override
    public void undelivered() {
      Stage.MUTATION.execute(() -> sendings.forEach(sending -> sending.sendAsCassandra(replica)));
    }
  }
}
