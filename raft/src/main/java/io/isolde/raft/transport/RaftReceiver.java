// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.transport;

import io.netty.buffer.ByteBuf;

/** Gets the Raft requests of the port, whose kinds and contents are its own business. */
public interface RaftReceiver {
  /** Answers everything with an error while no node runs. */
  RaftReceiver NONE =
      new RaftReceiver() {
        @Override
        public void onRequest(ServerConnection from, byte kind, long requestId, ByteBuf body) {
          body.release();
          from.fail(requestId, "No Raft node runs here.");
        }

        @Override
        public void onClosed(String sender) {}
      };

  /**
   * A request, to be answered once. Called on event loops.
   *
   * @param kind as the sender gave it
   * @param body belongs to the receiver, who releases it
   */
  void onRequest(ServerConnection from, byte kind, long requestId, ByteBuf body);

  /** A member's connection is closed. */
  void onClosed(String sender);
}
