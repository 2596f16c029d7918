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

/**
 * This node's connections to other nodes' ports: one to each, opened again when it is needed, or
 * when nothing comes any more on the one that is there: after a network failure TCP repeats what it
 * sent at ever longer intervals, of many seconds when the network has long been well again.
 */
final class NodeConnections implements AutoCloseable {
  /** A connection on which requests wait, and nothing came for so long, is not used for others. */
  static final long SILENT_MILLIS = 1_000;

  /** It is not closed at once: what its requests ask for may just take long. */
  private static final long LINGER_MILLIS = 60_000;

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
    leaveIfSilent(address);
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

  private void leaveIfSilent(InetSocketAddress address) {
    CompletableFuture<PeerClient> connection = connections.get(address);
    if (connection != null
        && connection.isDone()
        && isOpen(connection)
        && connection.join().unansweredMillis() >= SILENT_MILLIS
        && connections.remove(address, connection)) {
      connection.join().closeAfter(LINGER_MILLIS);
    }
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
