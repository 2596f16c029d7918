// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.transport;

import io.netty.buffer.ByteBuf;
import java.net.InetSocketAddress;

/**
 * The server's end of an application connection. All methods may be called from any thread.
 *
 * <p>A reader that is too slow is bounded twice: above the high water mark its requests are no
 * longer read, and at twice the mark the connection is closed.
 */
public interface PeerConnection {
  /** Answers a request and sends it. Takes over {@code body}. */
  default void respond(long requestId, ByteBuf body) {
    write(requestId, body);
    flush();
  }

  /** Answers a request without sending it yet. Takes over {@code body}. */
  void write(long requestId, ByteBuf body);

  /** Sends what was written. */
  void flush();

  /** Answers that the request failed; the caller gets the message. */
  void fail(long requestId, String message);

  /** Whether answers can still get through. */
  boolean isOpen();

  /** Where the connection comes from. */
  InetSocketAddress remoteAddress();

  /** Closes the connection. */
  void close();
}
