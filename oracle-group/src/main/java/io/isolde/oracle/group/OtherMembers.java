// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import io.isolde.raft.Peer;
import io.isolde.raft.PeerClient;
import io.isolde.raft.PeerTransport;
import io.isolde.raft.ResponseHandler;
import io.isolde.raft.TransportException;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
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
      ByteBuf reply =
          ask(
              initialMember.address(),
              bootstrap.writeMembers(Wire.of(Protocol.FOUND)),
              PROBE_MILLIS);
      try {
        return reply.readByte() == Protocol.OK
            ? Bootstrap.Reply.read(reply)
            : Bootstrap.Reply.NOT_YET;
      } finally {
        reply.release();
      }
    } catch (ExecutionException | TimeoutException | IndexOutOfBoundsException notThere) {
      return Bootstrap.Reply.NOT_YET;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Bootstrap.Reply.NOT_YET;
    }
  }

  /**
   * Tells a node what it is to do itself; returns when it has done it.
   *
   * @throws IllegalStateException if it refuses
   */
  void announce(MemberChange change)
      throws ExecutionException, TimeoutException, InterruptedException {
    ByteBuf reply =
        ask(change.peer().address(), change.writeTo(Wire.of(Protocol.CHANGE)), CHANGE_MILLIS);
    try {
      byte status = reply.readByte();
      if (status != Protocol.OK) {
        String why = status == Protocol.REFUSED ? " refuses: " + Wire.text(reply) : " refuses.";
        throw new IllegalStateException("The node " + change.peer().id() + why);
      }
    } finally {
      reply.release();
    }
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
      ByteBuf reply = ask(peer.address(), Wire.of(Protocol.WHO_LEADS), WHO_LEADS_MILLIS);
      try {
        return reply.readByte() == Protocol.OK
            ? Optional.of(Leading.read(reply))
            : Optional.empty();
      } finally {
        reply.release();
      }
    } catch (ExecutionException | TimeoutException | RuntimeException notThere) {
      log.debug("{} does not tell who leads", peer, notThere);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return Optional.empty();
  }

  private ByteBuf ask(InetSocketAddress address, ByteBuf body, long timeoutMillis)
      throws ExecutionException, TimeoutException, InterruptedException {
    CompletableFuture<ByteBuf> answer = new CompletableFuture<>();
    CompletableFuture<PeerClient> connecting =
        transport.connect(
            address, () -> answer.completeExceptionally(new IOException("It hung up.")));
    boolean isSent = false;
    try {
      PeerClient client = connecting.get(timeoutMillis, TimeUnit.MILLISECONDS);
      isSent = true;
      client.send(Protocol.SERVICE, body, new Answered(answer));
      return answer.get(timeoutMillis, TimeUnit.MILLISECONDS);
    } finally {
      if (!isSent) {
        body.release();
      }
      // An answer that comes later is released by who gets it.
      answer.completeExceptionally(new IOException("It is too late."));
      var unused = connecting.thenAccept(PeerClient::close);
    }
  }

  private record Answered(CompletableFuture<ByteBuf> answer) implements ResponseHandler {
    @Override
    public void onResponse(ByteBuf body) {
      if (!answer.complete(body)) {
        body.release();
      }
    }

    @Override
    public void onFailure(TransportException cause) {
      answer.completeExceptionally(cause);
    }
  }
}
