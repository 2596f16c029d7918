// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.transport;

import io.netty.buffer.ByteBuf;
import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;

/**
 * A connection to a node for requests that are not Raft's. It doesn't reconnect, and puts no time
 * limit on an answer: the user knows which node to try next, and when it is too late. All methods
 * may be called from any thread.
 */
public interface PeerClient extends AutoCloseable {
  /**
   * Connects, within {@link TransportSettings#connectTimeoutMillis}.
   *
   * @param onClosed called once on an event loop if the connection was opened and is closed
   */
  static CompletableFuture<PeerClient> connect(
      InetSocketAddress address,
      EventLoops loops,
      TransportSettings settings,
      TransportSecurity security,
      Runnable onClosed) {
    OtherBuilds otherBuilds = new OtherBuilds(Formats.ofThisBuild(), new LogLimit());
    return ClientConnection.forApplication(
        new Dialing(loops.application(), null, settings, security, otherBuilds), address, onClosed);
  }

  /** Sends a request. Takes over {@code body}. */
  void send(byte service, ByteBuf body, ResponseHandler handler);

  /** Whether requests can still be sent. */
  boolean isOpen();

  /**
   * For how long requests have been waiting and nothing at all has come; 0 if none waits. After a
   * network failure TCP repeats what it sent at ever longer intervals, and a new connection is the
   * quicker way.
   */
  long unansweredMillis();

  /** Closes it when those that wait for an answer have had this time. */
  void closeAfter(long millis);

  /** Closes the connection; requests without an answer fail. */
  @Override
  void close();
}
