// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import io.isolde.raft.Peer;
import io.isolde.raft.transport.NodeConnections;
import io.isolde.raft.transport.PeerTransport;
import io.netty.buffer.ByteBuf;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Asks other nodes one thing each, over a connection for that: rare, and bounded in time. */
final class OtherMembers {
  private static final Logger log = LoggerFactory.getLogger(OtherMembers.class);
  private static final long PROBE_MILLIS = 500;
  private static final long CHANGE_MILLIS = 20_000;

  /** Of each; below {@link #CHANGE_MILLIS} in all. */
  private static final long WHO_LEADS_MILLIS = 2_000;

  private static final int MAX_ASKED = 9;

  private final Peer self;
  private final PeerTransport transport;

  OtherMembers(Peer self, PeerTransport transport) {
    this.self = self;
    this.transport = transport;
  }

  /** What the other initial members say; of those who say nothing, that they can't tell yet. */
  List<Bootstrap.Reply> probe(Bootstrap bootstrap, List<Peer> initialMembers) {
    List<Bootstrap.Reply> replies = new ArrayList<>();
    for (Peer initialMember : initialMembers) {
      if (!initialMember.id().equals(self.id())) {
        replies.add(probe(bootstrap, initialMember));
      }
    }
    return replies;
  }

  private Bootstrap.Reply probe(Bootstrap bootstrap, Peer initialMember) {
    try {
      return ask(
          initialMember,
          bootstrap.writeMembers(Wire.of(Protocol.FOUND)),
          reply ->
              reply.readByte() == Protocol.OK
                  ? Bootstrap.Reply.read(reply)
                  : Bootstrap.Reply.NOT_YET,
          PROBE_MILLIS);
    } catch (ExecutionException | TimeoutException notThere) {
      return Bootstrap.Reply.NOT_YET;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Bootstrap.Reply.NOT_YET;
    }
  }

  /**
   * Tells a node what it is to do itself; returns when it has done it.
   *
   * @throws ExecutionException if it refuses, and why
   */
  void announce(MemberChange change)
      throws ExecutionException, TimeoutException, InterruptedException {
    var unused =
        ask(
            change.peer(),
            change.writeTo(Wire.of(Protocol.CHANGE)),
            reply -> accepted(change, reply),
            CHANGE_MILLIS);
  }

  private static MemberChange accepted(MemberChange change, ByteBuf reply) {
    byte status = reply.readByte();
    if (status != Protocol.OK) {
      String why = status == Protocol.REFUSED ? " refuses: " + Wire.text(reply) : " refuses.";
      throw new IllegalStateException("The node " + change.peer().id() + why);
    }
    return change;
  }

  /**
   * Whether a leader says that this node is none of the members.
   *
   * @param known who may lead, or know who does
   */
  boolean isNoMember(List<Peer> known) {
    List<Peer> asked = new ArrayList<>();
    Deque<Peer> waiting = new ArrayDeque<>(known);
    while (!waiting.isEmpty() && asked.size() < MAX_ASKED) {
      Peer peer = waiting.poll();
      if (peer.id().equals(self.id()) || asked.contains(peer)) {
        continue;
      }
      asked.add(peer);
      Optional<Leading> leading = whoLeads(peer);
      if (leading.isPresent() && leading.get().isServing()) {
        return leading.get().members().stream().noneMatch(one -> one.id().equals(self.id()));
      }
      leading.ifPresent(reported -> waiting.addAll(reported.members()));
    }
    return false;
  }

  private Optional<Leading> whoLeads(Peer peer) {
    try {
      return ask(
          peer,
          Wire.of(Protocol.WHO_LEADS),
          reply ->
              reply.readByte() == Protocol.OK ? Optional.of(Leading.read(reply)) : Optional.empty(),
          WHO_LEADS_MILLIS);
    } catch (ExecutionException | TimeoutException | RuntimeException notThere) {
      log.debug("{} does not tell who leads", peer, notThere);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return Optional.empty();
  }

  private <T> T ask(Peer peer, ByteBuf body, Function<ByteBuf, T> decode, long timeoutMillis)
      throws ExecutionException, TimeoutException, InterruptedException {
    try (NodeConnections once = new NodeConnections(transport::connect)) {
      return once.request(peer.address(), Protocol.SERVICE, body, decode)
          .get(timeoutMillis, TimeUnit.MILLISECONDS);
    }
  }
}
