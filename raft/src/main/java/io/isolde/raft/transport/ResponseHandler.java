// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.transport;

import io.netty.buffer.ByteBuf;

/**
 * Gets the answer to a request, once. Called on an event loop, or, when nothing could be sent, on
 * the thread that sent; it must not block.
 */
public interface ResponseHandler {
  /**
   * The answer.
   *
   * @param body belongs to the handler, who releases it
   */
  void onResponse(ByteBuf body);

  /** There will be no answer. */
  void onFailure(TransportException cause);
}
