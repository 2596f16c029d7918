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
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Asks other nodes one thing each, over a connection for that: rare, and bounded in time. */
final class Neighbours {
  private static final Logger log = LoggerFactory.getLogger(Neighbours.class);
  private static final long PROBE_MILLIS = 500;
  private static final long CHANGE_MILLIS = 20_000;

  /** Of each of six others at most; well below {@link #CHANGE_MILLIS} in all. */
  private static final long WHO_LEADS_MILLIS = 2_000;

  private final Peer self;
  private final PeerTransport transport;

  Neighbours(Peer self, PeerTransport transport) {
    this.self = self;
    this.transport = transport;
  }

  /** What the other founders say; of those who say nothing, that they can't tell yet. */
  List<Founding.Reply> probe(Founding founding, List<Peer> founders) {
    List<Founding.Reply> replies = new ArrayList<>();
    for (Peer founder : founders) {
      if (!founder.id().equals(self.id())) {
        replies.add(probe(founding, founder));
      }
    }
    return replies;
  }

  private Founding.Reply probe(Founding founding, Peer founder) {
    try {
      ByteBuf reply =
          ask(founder.address(), founding.writeMembers(Wire.of(Protocol.FOUND)), PROBE_MILLIS);
      try {
        return reply.readByte() == Protocol.OK
            ? Founding.Reply.read(reply)
            : Founding.Reply.NOT_YET;
      } finally {
        reply.release();
      }
    } catch (ExecutionException | TimeoutException | IndexOutOfBoundsException notThere) {
      return Founding.Reply.NOT_YET;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Founding.Reply.NOT_YET;
    }
  }

  /**
   * Tells a node what it is to do itself; returns when it has done it.
   *
   * @throws IllegalStateException if it refuses
   */
  void tell(MemberChange change) throws ExecutionException, TimeoutException, InterruptedException {
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

  /** Whether a leader says that this node is none of the members. */
  boolean isNoMember(List<Peer> known) {
    for (Peer peer : known) {
      if (peer.id().equals(self.id())) {
        continue;
      }
      try {
        ByteBuf reply = ask(peer.address(), Wire.of(Protocol.WHO_LEADS), WHO_LEADS_MILLIS);
        try {
          if (reply.readByte() == Protocol.OK) {
            Leading leading = Leading.read(reply);
            if (leading.isServing()) {
              return leading.members().stream().noneMatch(one -> one.id().equals(self.id()));
            }
          }
        } finally {
          reply.release();
        }
      } catch (ExecutionException | TimeoutException | RuntimeException notThere) {
        log.debug("{} does not tell who leads", peer, notThere);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return false;
      }
    }
    return false;
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
