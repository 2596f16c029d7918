// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.transport;

import io.netty.buffer.ByteBuf;
import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;

/**
 * A connection to a node for requests that are not Raft's. It doesn't reconnect, and puts no time
 * limit on an answer: the user knows which node to try next, and when it is too late.
 */
public final class PeerClient implements Connection, AutoCloseable {
  private final CallerEnd connection;

  PeerClient(CallerEnd connection) {
    this.connection = connection;
  }

  /**
   * Connects, within {@link TransportSettings#connectTimeoutMillis}.
   *
   * @param onClosed called once on an event loop if the connection was opened and is closed
   */
  public static CompletableFuture<PeerClient> connect(
      InetSocketAddress address,
      EventLoops loops,
      TransportSettings settings,
      TransportSecurity security,
      Runnable onClosed) {
    OtherBuilds otherBuilds = new OtherBuilds(Formats.ofThisBuild(), new LogLimit());
    return connect(
        new Dialing(loops.application(), null, settings, security, otherBuilds), address, onClosed);
  }

  static CompletableFuture<PeerClient> connect(
      Dialing dialing, InetSocketAddress address, Runnable onClosed) {
    return ClientConnection.open(dialing, address, Frame.PURPOSE_APPLICATION, "", onClosed)
        .thenApply(PeerClient::new);
  }

  /** Sends a request. Takes over {@code body}. May be called from any thread. */
  public void send(byte service, ByteBuf body, ResponseHandler handler) {
    connection.sendApplication(service, body, handler);
  }

  @Override
  public boolean isOpen() {
    return connection.isOpen();
  }

  /**
   * For how long requests have been waiting and nothing at all has come. After a network failure
   * TCP repeats what it sent at ever longer intervals, and a new connection is the quicker way.
   */
  @Override
  public long unansweredMillis() {
    return connection.unansweredMillis();
  }

  @Override
  public void closeAfter(long millis) {
    connection.closeAfter(millis);
  }

  /** Closes the connection; requests without an answer fail. */
  @Override
  public void close() {
    connection.close();
  }
}
