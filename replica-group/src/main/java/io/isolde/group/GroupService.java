// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import io.isolde.raft.GroupFailure;
import io.isolde.raft.Peer;
import io.isolde.raft.transport.ApplicationHandler;
import io.isolde.raft.transport.PeerConnection;
import io.netty.buffer.ByteBuf;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Answers other nodes' requests to the groups of this node. */
final class GroupService implements ApplicationHandler {
  /** Whoever is further behind than this is not waited for. */
  static final long APPLIED_MILLIS = 10_000;

  private static final Logger log = LoggerFactory.getLogger(GroupService.class);

  private final Function<UUID, ReplicaGroup> groups;
  private final Function<UUID, List<Peer>> membersWhenLeft;
  private final Requests requests;

  /**
   * Answers for these.
   *
   * @param membersWhenLeft who were the members of a group when this node left it
   */
  GroupService(
      Function<UUID, ReplicaGroup> groups,
      Function<UUID, List<Peer>> membersWhenLeft,
      Requests requests) {
    this.groups = groups;
    this.membersWhenLeft = membersWhenLeft;
    this.requests = requests;
  }

  @Override
  public void onRequest(PeerConnection from, byte service, long requestId, ByteBuf body) {
    CompletableFuture<ByteBuf> answer;
    try {
      answer =
          service == GroupMessages.SERVICE
              ? answer(body)
              : CompletableFuture.failedFuture(refused("There is no service " + service + "."));
    } catch (RuntimeException e) {
      answer = CompletableFuture.failedFuture(e);
    } finally {
      body.release();
    }
    var unused =
        answer.whenComplete(
            (response, failure) ->
                from.respond(
                    requestId,
                    failure == null ? response : GroupMessages.failure(failure(from, failure))));
  }

  private static GroupFailure refused(String message) {
    return new GroupFailure(GroupFailure.Reason.REFUSED, message);
  }

  private static GroupFailure failure(PeerConnection from, Throwable failure) {
    GroupFailure known = GroupFailure.of(failure);
    if (known.getCause() != null && known.reason() == GroupFailure.Reason.UNKNOWN) {
      log.debug("A request of {} failed", from.remoteAddress(), known.getCause());
    }
    return known;
  }

  private CompletableFuture<ByteBuf> answer(ByteBuf body) {
    byte what = body.readByte();
    UUID id = GroupMessages.uuid(body);
    if (what == GroupMessages.JOIN) {
      return requests.join(id, GroupMessages.uuid(body)).thenApply(done -> ok(new byte[0]));
    }
    ReplicaGroup group = groups.apply(id);
    if (group == null) {
      return CompletableFuture.failedFuture(GroupFailure.notLeader(successor(id)));
    }
    return switch (what) {
      case GroupMessages.WRITE -> write(group, body);
      case GroupMessages.READ -> read(group, GroupMessages.rest(body));
      case GroupMessages.READ_MEMBER ->
          requests.readMember(group, GroupMessages.rest(body)).thenApply(GroupService::ok);
      case GroupMessages.DECIDE, GroupMessages.DECIDE_AGAIN -> {
        RequestId request = GroupMessages.requestId(body);
        yield requests
            .decide(group, request, what == GroupMessages.DECIDE_AGAIN, GroupMessages.rest(body))
            .thenApply(GroupService::ok);
      }
      case GroupMessages.STATE -> state(group);
      case GroupMessages.LOAD ->
          CompletableFuture.completedFuture(
              requests
                  .load()
                  .writeTo(
                      GroupMessages.buffer(1 + NodeLoad.BYTES + Long.BYTES)
                          .writeByte(GroupMessages.OK))
                  .writeLong(group.appliedIndex()));
      case GroupMessages.STATUS ->
          CompletableFuture.completedFuture(ReplicaStatus.of(group, requests).answer());
      case GroupMessages.REJOIN -> rejoin(group, body);
      case GroupMessages.REPLACE -> {
        String oldId = GroupMessages.text(body);
        Optional<Peer> next =
            body.isReadable() ? Optional.of(GroupMessages.peer(body)) : Optional.empty();
        yield group
            .replaceMember(oldId, next, GroupClient.LEAD_MILLIS)
            .thenApply(done -> ok(new byte[0]));
      }
      case GroupMessages.TAKE_IN ->
          group.takeIn(GroupMessages.peer(body)).thenApply(done -> ok(new byte[0]));
      case GroupMessages.MEMBERS ->
          group.committedMembers().thenApply(members -> ok(GroupMessages.bytes(members)));
      case GroupMessages.LEAD ->
          group
              .letLead(GroupMessages.text(body), GroupClient.LEAD_MILLIS)
              .thenApply(done -> ok(new byte[0]));
      case GroupMessages.STAY -> {
        group.stay();
        yield CompletableFuture.completedFuture(ok(new byte[0]));
      }
      case GroupMessages.APPLIED -> applied(group, body.readLong());
      default -> CompletableFuture.failedFuture(refused("There is no request " + what + "."));
    };
  }

  /** One of those who remained when this node left: who asks it has an old layout. */
  private Optional<Peer> successor(UUID group) {
    List<Peer> members = membersWhenLeft.apply(group);
    return members.isEmpty()
        ? Optional.empty()
        : Optional.of(members.get(ThreadLocalRandom.current().nextInt(members.size())));
  }

  /** For one that is about to copy; not on the thread of the connection, as it flushes. */
  private static CompletableFuture<ByteBuf> state(ReplicaGroup group) {
    return group
        .barrier()
        .thenComposeAsync(leads -> group.flushed())
        .thenApply(checkpoint -> ok(checkpoint.toBytes()));
  }

  /** Answers as soon as the entry is applied, with how many nanoseconds that took from now. */
  private static CompletableFuture<ByteBuf> applied(ReplicaGroup group, long index) {
    long beginNanos = System.nanoTime();
    return group
        .whenApplied(index)
        .orTimeout(APPLIED_MILLIS, TimeUnit.MILLISECONDS)
        .thenApply(
            done -> {
              long nanos = done ? 0 : System.nanoTime() - beginNanos;
              return GroupMessages.buffer(9).writeByte(GroupMessages.OK).writeLong(nanos);
            });
  }

  private CompletableFuture<ByteBuf> read(ReplicaGroup group, byte[] request) {
    return group
        .barrier()
        .thenCompose(leads -> requests.read(group, request))
        .thenApply(GroupService::ok);
  }

  private static CompletableFuture<ByteBuf> write(ReplicaGroup group, ByteBuf body) {
    RequestId id = GroupMessages.requestId(body);
    int[] keyHashes = GroupMessages.numbers(body);
    Write write = new Write(id, keyHashes, GroupMessages.rest(body), null);
    return group
        .write(write)
        .thenApply(micros -> GroupMessages.buffer(9).writeByte(GroupMessages.OK).writeLong(micros));
  }

  /** A node at the address of a member that has lost all that it had takes its place. */
  private CompletableFuture<ByteBuf> rejoin(ReplicaGroup group, ByteBuf body) {
    Peer joining = GroupMessages.peer(body);
    if (!group.isLeader()) {
      return CompletableFuture.failedFuture(GroupFailure.notLeader(group.leader()));
    }
    return group
        .committedMembers()
        .thenCompose(members -> rejoin(group, members, joining))
        .thenApply(done -> ok(new byte[0]));
  }

  private CompletableFuture<Void> rejoin(ReplicaGroup group, List<Peer> members, Peer joining) {
    if (members.contains(joining)) {
      return CompletableFuture.completedFuture(null);
    }
    List<Peer> changed = new ArrayList<>(members);
    boolean isSuccessor =
        changed.removeIf(
            old ->
                old.address().equals(joining.address())
                    && requests.isSuccessor(
                        joining.id(), old.id(), joining.address().getHostString()));
    if (!isSuccessor) {
      return CompletableFuture.failedFuture(
          refused(joining + " does not take the place of any of " + members + "."));
    }
    log.info("{}: {} takes the place of the member at its address", group.id(), joining);
    changed.add(joining);
    // In one step, by joint consensus: a half that is done and repeated would find nobody to
    // replace.
    return group.setMembers(members, changed);
  }

  private static ByteBuf ok(byte[] content) {
    return GroupMessages.buffer(1 + content.length).writeByte(GroupMessages.OK).writeBytes(content);
  }
}
