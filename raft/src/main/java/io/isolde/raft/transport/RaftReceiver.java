// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.transport;

import io.netty.buffer.ByteBuf;

/** Gets the Raft requests of the port. */
interface RaftReceiver {
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

  /** A request; takes over the body. Called on event loops. */
  void onRequest(ServerConnection from, byte kind, long requestId, ByteBuf body);

  /** A member's connection is closed. */
  void onClosed(String sender);
}
