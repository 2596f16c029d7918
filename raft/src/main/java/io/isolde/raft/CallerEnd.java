// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft;

import io.netty.buffer.ByteBuf;

/** The caller's end of a connection for application requests. */
interface CallerEnd {
  /** Sends a request. Takes over the body. May be called from any thread. */
  void sendApplication(byte service, ByteBuf body, ResponseHandler handler);

  boolean isOpen();

  /** For how long requests have been waiting and nothing has come; 0 if none waits. */
  long unansweredMillis();

  /** Closes it when those that wait for an answer have had this time. */
  void closeAfter(long millis);

  /** Requests without an answer fail. */
  void close();
}
