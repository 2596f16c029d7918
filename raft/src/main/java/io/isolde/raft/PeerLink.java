// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft;

import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.net.ConnectException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** Our Raft connection to one peer, opened again when it is needed. */
final class PeerLink {
  /** How long a failed attempt to connect stands for the next ones. */
  private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  private final Peer peer;
  private final PeerTransport transport;
  private final Runnable onLost;

  /** The last attempt to connect; guarded by this. */
  private CompletableFuture<ClientConnection> current;

  private long attemptedNanos;
  private boolean isClosed;

  /**
   * A link that isn't connected yet.
   *
   * @param onLost called on an event loop when an open connection broke
   */
  PeerLink(Peer peer, PeerTransport transport, Runnable onLost) {
    this.peer = peer;
    this.transport = transport;
    this.onLost = onLost;
  }

  Peer peer() {
    return peer;
  }

  /** The open connection, the one that is being opened, or the failure of a moment ago. */
  synchronized CompletableFuture<ClientConnection> connection() {
    if (current != null) {
      boolean pending = !current.isDone();
      boolean failed = current.isCompletedExceptionally();
      if (pending || (!failed && current.join().isOpen())) {
        return current;
      }
      if (failed && System.nanoTime() - attemptedNanos < RETRY_NANOS) {
        return current;
      }
    }
    return connect();
  }

  /** Connects now if there is no connection, whatever happened a moment ago. */
  synchronized CompletableFuture<ClientConnection> probe() {
    boolean usable =
        current != null
            && (!current.isDone()
                || (!current.isCompletedExceptionally() && current.join().isOpen()));
    return usable ? current : connect();
  }

  private CompletableFuture<ClientConnection> connect() {
    if (isClosed || transport.loops().raft().isShuttingDown()) {
      return CompletableFuture.failedFuture(new IOException("The node is closed."));
    }
    attemptedNanos = System.nanoTime();
    current =
        ClientConnection.open(
            transport.dialing(transport.loops().raft()),
            peer.address(),
            Frame.PURPOSE_RAFT,
            transport.name(),
            onLost);
    return current;
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
                    handler.onFailure(
                        new TransportException(
                            TransportException.Reason.CLOSED,
                            "Cannot connect to " + peer + ": " + failure.getMessage(),
                            failure));
                  }
                });
  }

  /**
   * Leaves the connection if requests have waited so long and nothing at all has come. It is of no
   * use then: after a network failure TCP repeats what it sent at ever longer intervals.
   */
  void leaveIfUnanswered(long millis) {
    CompletableFuture<ClientConnection> connection;
    synchronized (this) {
      connection = current;
    }
    if (connection != null
        && connection.isDone()
        && !connection.isCompletedExceptionally()
        && connection.join().unansweredMillis() >= millis) {
      connection.join().close();
    }
  }

  /** Whether the failure to connect means that no process listens there. */
  static boolean isRefusal(Throwable failure) {
    return failure instanceof ConnectException
        && failure.getMessage() != null
        && failure.getMessage().contains("refused");
  }

  synchronized void close() {
    isClosed = true;
    if (current != null) {
      var unused = current.thenAccept(ClientConnection::close);
    }
  }
}
