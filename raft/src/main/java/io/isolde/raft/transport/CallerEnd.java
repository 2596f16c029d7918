// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.transport;

import io.netty.buffer.ByteBuf;

/** The caller's end of a connection for application requests. */
interface CallerEnd extends Connection {
  /** Sends a request. Takes over the body. May be called from any thread. */
  void sendApplication(byte service, ByteBuf body, ResponseHandler handler);
}
