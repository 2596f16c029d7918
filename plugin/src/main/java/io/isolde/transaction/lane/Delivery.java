// SPDX-License-Identifier: Apache-2.0
package io.isolde.transaction.lane;

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
 * One attempt to bring mutations to their replicas: what a replica gets is one parcel, if it is not
 * too much.
 *
 * <p>The replica that leads the oracle gets its parcel when this node has written what it keeps
 * itself. If with that each mutation is on a quorum, the parcel says so, and the leader counts the
 * commit as applied at once: it need not be told in a message of its own. Not thread-safe.
 */
public final class Delivery {
  private static final CompletableFuture<Optional<Stable>> UNTOLD =
      CompletableFuture.completedFuture(Optional.empty());

  private final ApplyLanes lanes;
  private final OptionalLong wholeCommit;
  private final boolean writesHere;
  private final List<Sending> sendings = new ArrayList<>();

  Delivery(ApplyLanes lanes, OptionalLong wholeCommit, boolean writesHere) {
    this.lanes = lanes;
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
    sendings.add(new Sending(mutation, plan, handler, dataCenter, time));
  }

  /**
   * Sends all.
   *
   * @return what the oracle's leader, as a replica, says to it that the commit is applied; empty if
   *     it has to be told
   */
  public CompletableFuture<Optional<Stable>> send() {
    Map<InetAddressAndPort, List<Sending>> near = near();
    Optional<InetAddressAndPort> last =
        near.keySet().stream()
            .filter(replica -> lanes.isLeader(replica) && canBeTold(replica, near.get(replica)))
            .findFirst();
    near.forEach(
        (replica, some) -> {
          if (last.filter(replica::equals).isEmpty()) {
            sendOnLane(replica, some);
          }
        });
    if (writesHere) {
      sendings.forEach(Sending::writeHere);
    }
    CompletableFuture<Optional<Stable>> told =
        last.map(leader -> sendToLeader(leader, near.get(leader))).orElse(UNTOLD);
    sendings.forEach(Sending::sendTheRest);
    return told;
  }

  /** Whether the leader can hear, with its parcel, that the commit is applied, if all goes well. */
  private boolean canBeTold(InetAddressAndPort leader, List<Sending> some) {
    return wholeCommit.isPresent()
        && writesHere
        && fitsIntoParcel(some)
        && sendings.stream().allMatch(sending -> sending.isQuorumWith(leader));
  }

  /** Who can be reached by lanes, and what they are to get. */
  private Map<InetAddressAndPort, List<Sending>> near() {
    Map<InetAddressAndPort, List<Sending>> near = new LinkedHashMap<>();
    if (lanes.areOpen() && !Tracing.isTracing()) {
      for (Sending sending : sendings) {
        for (Replica replica : sending.near()) {
          near.computeIfAbsent(replica.endpoint(), node -> new ArrayList<>()).add(sending);
        }
      }
    }
    return near;
  }

  private CompletableFuture<Optional<Stable>> sendToLeader(
      InetAddressAndPort leader, List<Sending> some) {
    if (!sendings.stream().allMatch(sending -> sending.isOnQuorumWith(leader))) {
      sendOnLane(leader, some);
      return UNTOLD;
    }
    OnLane parcel = new OnLane(leader, some, wholeCommit.getAsLong());
    return parcel.isTakenBy(lanes.to(leader)) ? parcel.told : UNTOLD;
  }

  private void sendOnLane(InetAddressAndPort replica, List<Sending> some) {
    Lane lane = lanes.to(replica);
    if (fitsIntoParcel(some)) {
      var unused = new OnLane(replica, some, LaneFrames.NO_COMMIT).isTakenBy(lane);
    } else {
      for (Sending sending : some) {
        var unused = new OnLane(replica, List.of(sending), LaneFrames.NO_COMMIT).isTakenBy(lane);
      }
    }
  }

  private static boolean fitsIntoParcel(List<Sending> some) {
    return some.stream().mapToLong(sending -> sending.bytes().length).sum()
        <= ApplyLanes.MAX_PARCEL_BYTES;
  }

  /** Mutations on their way to one replica. */
  private static final class OnLane implements Parcel {
    private final InetAddressAndPort replica;
    private final List<Sending> sendings;
    private final byte[] bytes;
    private final CompletableFuture<Optional<Stable>> told = new CompletableFuture<>();

    OnLane(InetAddressAndPort replica, List<Sending> sendings, long appliedCommit) {
      this.replica = replica;
      this.sendings = sendings;
      this.bytes = LaneFrames.parcel(appliedCommit, sendings.stream().map(Sending::bytes).toList());
    }

    boolean isTakenBy(Lane lane) {
      boolean isTaken = lane.offer(this);
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
        told.complete(stable);
      }
    }

    @Override
    public void undelivered() {
      told.complete(Optional.empty());
      Stage.MUTATION.execute(() -> sendings.forEach(sending -> sending.sendAsCassandra(replica)));
    }
  }
}
