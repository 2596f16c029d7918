// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import io.isolde.raft.GroupFailure;
import io.isolde.raft.Peer;
import io.isolde.raft.RaftReplica;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Changes of the group, one member at a time, as its leader carries them out. Operators ask for
 * them, so each is done at once or refused with what to do first. A strong keyspace's {@code
 * ReplicaGroup} is asked by machines: one member goes in the place of another, again and again
 * until it is so.
 */
final class MemberChanges {
  private static final Logger log = LoggerFactory.getLogger(MemberChanges.class);
  private static final int MAX_MEMBERS = 7;
  private static final long CHANGE_SECONDS = 15;
  private static final long HAND_OVER_MILLIS = 3_000;

  private final RaftReplica replica;
  private final OtherMembers others;

  MemberChanges(RaftReplica replica, OtherMembers others) {
    this.replica = replica;
    this.others = others;
  }

  /**
   * Carries it out.
   *
   * @throws IllegalStateException if it makes no sense, and why
   */
  void carryOut(MemberChange change)
      throws ExecutionException, TimeoutException, InterruptedException {
    switch (change.kind()) {
      case ADD -> add(change.peer());
      case REMOVE -> remove(change.peer());
      case LEAD -> handOver(change.peer());
      case JOIN, LEAVE -> throw new IllegalArgumentException("Not the leader's to do.");
    }
  }

  private void add(Peer peer) throws ExecutionException, TimeoutException, InterruptedException {
    List<Peer> members = replica.members();
    if (isAmong(members, peer)) {
      throw new IllegalStateException(peer.id() + " is a member already.");
    }
    if (members.size() >= MAX_MEMBERS) {
      throw new IllegalStateException(
          "There are " + members.size() + " members; more make it slower, not safer.");
    }
    others.announce(new MemberChange(MemberChange.Kind.JOIN, peer));
    List<Peer> changed = new ArrayList<>(members);
    changed.add(peer);
    set(members, changed);
  }

  private void remove(Peer peer) throws ExecutionException, TimeoutException, InterruptedException {
    List<Peer> members = replica.members();
    if (!isAmong(members, peer)) {
      throw new IllegalStateException(peer.id() + " is not a member.");
    }
    if (members.size() == 1) {
      throw new IllegalStateException(peer.id() + " is the only member: add another one first.");
    }
    if (replica.leader().map(Peer::id).filter(peer.id()::equals).isPresent()) {
      throw new IllegalStateException(
          peer.id() + " leads: let another one lead first (ALTER ORACLE LEADER).");
    }
    set(members, members.stream().filter(one -> !one.id().equals(peer.id())).toList());
    try {
      others.announce(new MemberChange(MemberChange.Kind.LEAVE, peer));
    } catch (ExecutionException | TimeoutException | IllegalStateException itKeepsItsLog) {
      // It is down, or could not make sure that it is no member; but it has no vote any more, and
      // forgets its log when it is to join again.
    }
  }

  private void handOver(Peer peer)
      throws ExecutionException, TimeoutException, InterruptedException {
    if (!isAmong(replica.members(), peer)) {
      throw new IllegalStateException(peer.id() + " is not a member.");
    }
    if (replica.leader().map(Peer::id).filter(peer.id()::equals).isPresent()) {
      return;
    }
    try {
      transfer(replica, peer);
    } catch (TimeoutException e) {
      throw new IllegalStateException(
          "%s has not taken over within %d ms, and may still do so: see isolde.oracle."
              .formatted(peer.id(), 2 * HAND_OVER_MILLIS),
          e);
    }
  }

  private static void transfer(RaftReplica replica, Peer to)
      throws ExecutionException, TimeoutException, InterruptedException {
    replica
        .transferLeadership(to.id(), HAND_OVER_MILLIS)
        .get(2 * HAND_OVER_MILLIS, TimeUnit.MILLISECONDS);
  }

  /** Before this member stops: asks one of the others after the other, until one leads. */
  static void handOverToAnother(RaftReplica replica, Peer self) {
    for (Peer peer : replica.members()) {
      if (!peer.id().equals(self.id())) {
        try {
          transfer(replica, peer);
          return;
        } catch (ExecutionException | TimeoutException | GroupFailure e) {
          log.info("{} could not take over the oracle: {}", peer.id(), e.toString());
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
          return;
        }
      }
    }
  }

  private void set(List<Peer> before, List<Peer> members)
      throws ExecutionException, TimeoutException, InterruptedException {
    replica.setMembers(before, members).get(CHANGE_SECONDS, TimeUnit.SECONDS);
  }

  private static boolean isAmong(List<Peer> members, Peer peer) {
    return members.stream().anyMatch(member -> member.id().equals(peer.id()));
  }
}
