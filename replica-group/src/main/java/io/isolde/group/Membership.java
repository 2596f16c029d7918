// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import io.isolde.raft.GroupFailure;
import io.isolde.raft.Peer;
import io.isolde.raft.transport.NodeConnections;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How nodes become members of groups and leave them. The truth about who is a member is in a
 * group's own log. Its leader tells it behind a barrier and with no change under way; what a layout
 * says only tells whom to ask. So nobody deletes a log, or begins with an empty one, because of an
 * old layout.
 */
public final class Membership {
  private static final Logger log = LoggerFactory.getLogger(Membership.class);

  private final GroupServer server;
  private final GroupClient client;
  private final NodeConnections connections;
  private final ReplicaNotes notes;
  private final Peer self;
  private final long timeoutMillis;

  Membership(
      GroupServer server,
      GroupClient client,
      NodeConnections connections,
      ReplicaNotes notes,
      Peer self,
      long timeoutMillis) {
    this.server = server;
    this.client = client;
    this.connections = connections;
    this.notes = notes;
    this.self = self;
    this.timeoutMillis = timeoutMillis;
  }

  /**
   * Opens an empty replica of a group of which this node is to become a member. Does nothing if it
   * is one already. What the node may have from when it was a member goes first: it can be what
   * others have deleted and forgotten. Blocks; one at a time.
   *
   * @throws IOException if the leader does not say that this node is no member, or if what it has
   *     can't be deleted now; nothing has changed then, or it is done when it is asked for again
   */
  public void join(GroupClient.Target target, Storage storage) throws IOException {
    UUID id = target.group();
    List<Peer> members = await(members(target));
    boolean isOpen = server.group(id).isPresent();
    if (isSelfIn(members)) {
      if (!isOpen && !notes.hasLog(id)) {
        throw new IOException("This node is a member, and its log is gone.");
      }
      if (!isOpen) {
        server.openAgain(id, storage);
      }
      return;
    }
    if (isOpen) {
      members = stopUnlessMember(target, storage);
      if (isSelfIn(members)) {
        return;
      }
    }
    server.discard(id, members);
    storage.empty();
    server.openJoining(id, storage);
    log.info("{}: this node is ready to become a member", id);
  }

  /**
   * Somebody else may be making this node a member right now. What it has acknowledged counts then,
   * so it must stop to acknowledge before the leader is asked: any change that begins after that
   * asks this node anew.
   */
  private List<Peer> stopUnlessMember(GroupClient.Target target, Storage storage)
      throws IOException {
    UUID id = target.group();
    List<Peer> members;
    try {
      server.stop(id);
      members = await(members(target));
    } catch (IOException | RuntimeException e) {
      server.openAgain(id, storage);
      throw e;
    }
    if (isSelfIn(members)) {
      server.openAgain(id, storage);
    }
    return members;
  }

  private boolean isSelfIn(List<Peer> members) {
    return members.stream().anyMatch(member -> member.id().equals(self.id()));
  }

  /**
   * Ends this node's replica of a group and deletes its log, if the leader says that it is no
   * member. Blocks.
   *
   * @throws IOException if the leader does not say anything; to be asked again
   */
  public void leaveIfOut(GroupClient.Target target) throws IOException {
    UUID id = target.group();
    Optional<ReplicaGroup> seen = server.group(id);
    if (seen.isEmpty() || notes.isJoiningLately(id)) {
      return;
    }
    List<Peer> members = await(members(target));
    if (!isSelfIn(members)) {
      log.info("{}: this node is no member any more; there are {}", id, members);
      server.discardIfStill(seen.get(), members);
    }
  }

  private <T> T await(CompletableFuture<T> future) throws IOException {
    try {
      return future.get(2 * timeoutMillis, TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      throw new IOException(e.getCause().getMessage(), e);
    } catch (TimeoutException e) {
      throw new IOException("The leader does not answer.", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("This node stops.", e);
    }
  }

  /**
   * Completes with the members that a group has, as its leader knows. Fails with a {@link
   * GroupFailure}, {@code UNKNOWN} while they are being changed.
   */
  public CompletableFuture<List<Peer>> members(GroupClient.Target target) {
    return client
        .send(
            target,
            group -> group.committedMembers().thenApply(GroupMessages::bytes),
            GroupMessages.request(GroupMessages.MEMBERS, target.group(), 0))
        .thenApply(GroupMessages::peers);
  }

  /** Asks the leader of a group to take this node in, in the place of what it was before. */
  public CompletableFuture<Void> rejoin(GroupClient.Target target) {
    ByteBuf request = GroupMessages.request(GroupMessages.REJOIN, target.group(), 64);
    GroupMessages.peer(request, self);
    return client
        .send(target, member -> CompletableFuture.completedFuture(new byte[0]), request)
        .thenApply(done -> null);
  }

  /**
   * Asks a node to open an empty replica of a group of which it is to become a member; completes
   * when it has.
   *
   * @param move the same when it is asked again because it did not answer in time
   */
  public CompletableFuture<Void> askToJoin(UUID group, UUID move, Peer node) {
    ByteBuf request = GroupMessages.request(GroupMessages.JOIN, group, 16);
    request.writeLong(move.getMostSignificantBits()).writeLong(move.getLeastSignificantBits());
    return GroupMessages.ask(connections, node, request).thenApply(done -> null);
  }

  /**
   * Asks the leader of a group to let a member go, and to take another in, which has opened its
   * replica, in its place. Completes when the new one has caught up and the old one is no member;
   * to be asked again if that takes longer than requests have.
   *
   * @param next empty if nobody takes the place
   */
  public CompletableFuture<Void> replace(
      GroupClient.Target target, String oldId, Optional<Peer> next) {
    ByteBuf request = GroupMessages.request(GroupMessages.REPLACE, target.group(), 128);
    GroupMessages.text(request, oldId);
    next.ifPresent(peer -> GroupMessages.peer(request, peer));
    return client
        .send(
            target,
            group ->
                group
                    .replaceMember(oldId, next, GroupClient.LEAD_MILLIS)
                    .thenApply(done -> new byte[0]),
            request)
        .thenApply(done -> null);
  }

  /**
   * Asks the leader of a group to take in one more member, which has opened its replica. Completes
   * when that has caught up; to be asked again if it takes longer than requests have.
   */
  public CompletableFuture<Void> takeIn(GroupClient.Target target, Peer next) {
    ByteBuf request = GroupMessages.request(GroupMessages.TAKE_IN, target.group(), 64);
    GroupMessages.peer(request, next);
    return client
        .send(target, group -> group.takeIn(next).thenApply(done -> new byte[0]), request)
        .thenApply(done -> null);
  }
}
