// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import io.isolde.group.GroupFailure.Reason;
import io.isolde.raft.PeerClient;
import io.isolde.raft.ResponseHandler;
import io.isolde.raft.TransportException;
import io.netty.buffer.ByteBuf;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/** This node's connections to other nodes' ports: one to each, opened again when it is needed. */
final class NodeConnections implements AutoCloseable {
  /** How to connect to a node's port. */
  interface Connector {
    CompletableFuture<PeerClient> connect(InetSocketAddress address, Runnable onClosed);
  }

  private final Connector connector;
  private final Map<InetSocketAddress, CompletableFuture<PeerClient>> connections =
      new ConcurrentHashMap<>();

  NodeConnections(Connector connector) {
    this.connector = connector;
  }

  /** Sends a request and completes with the answer; fails with a {@link GroupFailure}. */
  CompletableFuture<byte[]> request(InetSocketAddress address, ByteBuf message) {
    CompletableFuture<byte[]> answer = new CompletableFuture<>();
    CompletableFuture<PeerClient> connection =
        connections.compute(
            address,
            (key, old) ->
                old == null || (old.isDone() && !isOpen(old))
                    ? connector.connect(key, () -> {})
                    : old);
    var unused =
        connection.whenComplete(
            (peer, failure) -> {
              if (failure != null) {
                message.release();
                answer.completeExceptionally(
                    new GroupFailure(Reason.NOT_LEADER, "Cannot connect to " + address + "."));
              } else {
                peer.send(Protocol.SERVICE, message, new Response(answer));
              }
            });
    return answer;
  }

  /** Whether a request would be on its way at once. */
  boolean isConnected(InetSocketAddress address) {
    CompletableFuture<PeerClient> connection = connections.get(address);
    return connection != null && connection.isDone() && isOpen(connection);
  }

  private static boolean isOpen(CompletableFuture<PeerClient> connection) {
    return !connection.isCompletedExceptionally() && connection.join().isOpen();
  }

  private record Response(CompletableFuture<byte[]> answer) implements ResponseHandler {
    @Override
    public void onResponse(ByteBuf body) {
      try {
        byte status = body.readByte();
        if (status == Protocol.OK) {
          answer.complete(Protocol.rest(body));
        } else {
          answer.completeExceptionally(Protocol.failure(body));
        }
      } catch (RuntimeException e) {
        answer.completeExceptionally(new GroupFailure(Reason.UNKNOWN, "A strange answer: " + e));
      } finally {
        body.release();
      }
    }

    @Override
    public void onFailure(TransportException cause) {
      Reason reason =
          cause.reason() == TransportException.Reason.BUSY ? Reason.OVERLOADED : Reason.UNKNOWN;
      answer.completeExceptionally(new GroupFailure(reason, cause.getMessage()));
    }
  }

  @Override
  public void close() {
    for (CompletableFuture<PeerClient> connection : connections.values()) {
      var unused = connection.thenAccept(PeerClient::close);
    }
  }
}
