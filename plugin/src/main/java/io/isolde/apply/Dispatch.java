// SPDX-License-Identifier: Apache-2.0
package io.isolde.apply;

import io.isolde.oracle.group.Stable;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
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
 * not too much.
 *
 * <p>The replica that leads the oracle gets its batch item when this node has written what it keeps
 * itself. If with that each mutation is on a quorum, the batch item says so, and the leader counts
 * the commit as applied at once: it need not be told in a message of its own. Not thread-safe.
 */
public final class Dispatch {
  private static final CompletableFuture<Optional<Stable>> UNREPORTED =
      CompletableFuture.completedFuture(Optional.empty());

  private final OutboundQueues queues;
  private final OptionalLong wholeCommit;
  private final boolean writesHere;
  private final List<PartitionDispatch> sendings = new ArrayList<>();

  Dispatch(OutboundQueues queues, OptionalLong wholeCommit, boolean writesHere) {
    this.queues = queues;
    this.wholeCommit = wholeCommit;
    this.writesHere = writesHere;
  }

  /** A mutation is to go to all replicas of the plan; the handler hears of them. */
  public void add(
      Mutation mutation,
      ReplicaPlan.ForWrite plan,
      AbstractWriteResponseHandler<IMutation> handler,
      String dataCenter,
      Dispatcher.RequestTime time) {
    sendings.add(new PartitionDispatch(mutation, plan, handler, dataCenter, time));
  }

  /**
   * Sends all.
   *
   * @return what the oracle's leader, as a replica, says to it that the commit is applied; empty if
   *     it has to be told
   */
  public CompletableFuture<Optional<Stable>> send() {
    Map<InetAddressAndPort, List<PartitionDispatch>> near = near();
    Optional<InetAddressAndPort> last =
        near.keySet().stream()
            .filter(replica -> queues.isLeader(replica) && canReportTo(replica, near.get(replica)))
            .findFirst();
    near.forEach(
        (replica, some) -> {
          if (last.filter(replica::equals).isEmpty()) {
            sendQueued(replica, some);
          }
        });
    if (writesHere) {
      sendings.forEach(PartitionDispatch::writeHere);
    }
    CompletableFuture<Optional<Stable>> reported =
        last.map(leader -> sendToLeader(leader, near.get(leader))).orElse(UNREPORTED);
    sendings.forEach(PartitionDispatch::sendTheRest);
    return reported;
  }

  /**
   * Whether the leader can hear, with its batch item, that the commit is applied, if all goes well.
   */
  private boolean canReportTo(InetAddressAndPort leader, List<PartitionDispatch> some) {
    return wholeCommit.isPresent()
        && writesHere
        && fitsIntoItem(some)
        && sendings.stream().allMatch(sending -> sending.isQuorumWith(leader));
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

  private CompletableFuture<Optional<Stable>> sendToLeader(
      InetAddressAndPort leader, List<PartitionDispatch> some) {
    if (!sendings.stream().allMatch(sending -> sending.isOnQuorumWith(leader))) {
      sendQueued(leader, some);
      return UNREPORTED;
    }
    QueuedItem item = new QueuedItem(leader, some, wholeCommit.getAsLong());
    return item.isTakenBy(queues.to(leader)) ? item.reported : UNREPORTED;
  }

  private void sendQueued(InetAddressAndPort replica, List<PartitionDispatch> some) {
    OutboundQueue queue = queues.to(replica);
    if (fitsIntoItem(some)) {
      var unused = new QueuedItem(replica, some, BatchFrames.NO_COMMIT).isTakenBy(queue);
    } else {
      for (PartitionDispatch sending : some) {
        var unused =
            new QueuedItem(replica, List.of(sending), BatchFrames.NO_COMMIT).isTakenBy(queue);
      }
    }
  }

  private static boolean fitsIntoItem(List<PartitionDispatch> some) {
    return some.stream().mapToLong(sending -> sending.bytes().length).sum()
        <= OutboundQueues.MAX_ITEM_BYTES;
  }

  /** Mutations on their way to one replica. */
  private static final class QueuedItem implements BatchItem {
    private final InetAddressAndPort replica;
    private final List<PartitionDispatch> sendings;
    private final byte[] bytes;
    private final CompletableFuture<Optional<Stable>> reported = new CompletableFuture<>();

    QueuedItem(InetAddressAndPort replica, List<PartitionDispatch> sendings, long appliedCommit) {
      this.replica = replica;
      this.sendings = sendings;
      this.bytes =
          BatchFrames.item(appliedCommit, sendings.stream().map(PartitionDispatch::bytes).toList());
    }

    boolean isTakenBy(OutboundQueue queue) {
      boolean isTaken = queue.offer(this);
      if (isTaken) {
        sendings.forEach(sending -> sending.onItsWayTo(replica));
      }
      return isTaken;
    }

    @Override
    public byte[] bytes() {
      return bytes;
    }

    @Override
    public void acknowledged(Optional<Stable> stable) {
      try {
        sendings.forEach(sending -> sending.acknowledged(replica));
      } finally {
        reported.complete(stable);
      }
    }

    @Override
    public void undelivered() {
      reported.complete(Optional.empty());
      Stage.MUTATION.execute(() -> sendings.forEach(sending -> sending.sendAsCassandra(replica)));
    }
  }
}
