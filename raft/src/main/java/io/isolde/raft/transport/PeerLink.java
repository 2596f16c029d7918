// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.transport;

import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;

/** Our Raft connection to one node, opened again when it is needed. */
public final class PeerLink {
  private final InetSocketAddress address;
  private final PeerTransport transport;
  private final KeptConnection<ClientConnection> kept;

  /**
   * A link that isn't connected yet.
   *
   * @param onLost called on an event loop when an open connection broke
   */
  public PeerLink(InetSocketAddress address, PeerTransport transport, Runnable onLost) {
    this.address = address;
    this.transport = transport;
    this.kept = new KeptConnection<>(() -> open(onLost));
  }

  /** The node's. */
  public InetSocketAddress address() {
    return address;
  }

  /** Connects before that is needed, if there is no connection. */
  public void connect() {
    var unused = kept.get();
  }

  /** Connects now if there is no connection, whatever happened a moment ago; says how it went. */
  public CompletableFuture<?> probe() {
    return kept.probe();
  }

  private CompletableFuture<ClientConnection> open(Runnable onLost) {
    if (transport.loops().raft().isShuttingDown()) {
      return CompletableFuture.failedFuture(new IOException("The node is closed."));
    }
    return ClientConnection.open(
        transport.dialing(transport.loops().raft()),
        address,
        Frame.PURPOSE_RAFT,
        transport.name(),
        onLost);
  }

  /** Sends a request as soon as there is a connection. Takes over the body. */
  public void send(byte kind, ByteBuf body, ResponseHandler handler) {
    var unused =
        kept.get()
            .whenComplete(
                (connection, failure) -> {
                  if (failure == null) {
                    connection.sendRaft(kind, body, handler);
                  } else {
                    body.release();
                    handler.onFailure(TransportException.notConnected(address, failure));
                  }
                });
  }

  /** Leaves the connection if requests have waited so long and nothing at all has come. */
  public void leaveIfUnanswered(long millis) {
    kept.leaveIfSilent(millis).ifPresent(ClientConnection::close);
  }

  /** Whether the failure to connect means that no process listens there. */
  public static boolean isRefusal(Throwable failure) {
    return failure instanceof ConnectException
        && failure.getMessage() != null
        && failure.getMessage().contains("refused");
  }

  /** Closes it, for good. */
  public void close() {
    kept.close();
  }
}
