// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.transport;

import io.netty.buffer.ByteBuf;

/** Answers the requests that are not Raft's. Called on event loops: it must not block. */
@FunctionalInterface
public interface ApplicationHandler {
  /** Refuses everything, for nodes that serve Raft only. */
  ApplicationHandler NONE =
      (from, service, requestId, body) -> {
        body.release();
        from.fail(requestId, "This node serves no requests of its own.");
      };

  /**
   * A request; it must be answered exactly once, from any thread, with {@link
   * PeerConnection#respond}, {@link PeerConnection#write} or {@link PeerConnection#fail}.
   *
   * @param body belongs to the handler, who releases it
   */
  void onRequest(PeerConnection from, byte service, long requestId, ByteBuf body);
}
