// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.transport;

import io.isolde.raft.Peer;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.net.ConnectException;
import java.util.concurrent.CompletableFuture;

/** Our Raft connection to one peer, opened again when it is needed. */
final class PeerLink {
  private final Peer peer;
  private final PeerTransport transport;
  private final KeptConnection<ClientConnection> kept;

  /**
   * A link that isn't connected yet.
   *
   * @param onLost called on an event loop when an open connection broke
   */
  PeerLink(Peer peer, PeerTransport transport, Runnable onLost) {
    this.peer = peer;
    this.transport = transport;
    this.kept = new KeptConnection<>(() -> connect(onLost));
  }

  Peer peer() {
    return peer;
  }

  /** See {@link KeptConnection#get}. */
  CompletableFuture<ClientConnection> connection() {
    return kept.get();
  }

  /** See {@link KeptConnection#probe}. */
  CompletableFuture<ClientConnection> probe() {
    return kept.probe();
  }

  private CompletableFuture<ClientConnection> connect(Runnable onLost) {
    if (transport.loops().raft().isShuttingDown()) {
      return CompletableFuture.failedFuture(new IOException("The node is closed."));
    }
    return ClientConnection.open(
        transport.dialing(transport.loops().raft()),
        peer.address(),
        Frame.PURPOSE_RAFT,
        transport.name(),
        onLost);
  }

  /** Sends a request as soon as there is a connection. Takes over the body. */
  void send(byte kind, ByteBuf body, ResponseHandler handler) {
    var unused =
        connection()
            .whenComplete(
                (connection, failure) -> {
                  if (failure == null) {
                    connection.send(kind, body, handler);
                  } else {
                    body.release();
                    handler.onFailure(TransportException.notConnected(peer.address(), failure));
                  }
                });
  }

  /** Leaves the connection if requests have waited so long and nothing at all has come. */
  void leaveIfUnanswered(long millis) {
    kept.leaveIfSilent(millis).ifPresent(ClientConnection::close);
  }

  /** Whether the failure to connect means that no process listens there. */
  static boolean isRefusal(Throwable failure) {
    return failure instanceof ConnectException
        && failure.getMessage() != null
        && failure.getMessage().contains("refused");
  }

  void close() {
    kept.close();
  }
}
