// SPDX-License-Identifier: Apache-2.0
package io.isolde.peers;

import io.isolde.raft.transport.PeerTransport;
import java.net.InetSocketAddress;

/** This node's port for other nodes, which the oracle opens, and where theirs are. */
public interface NodePort {
  /** What serves this node's port, and connects to others. */
  PeerTransport transport();

  /** Where the port of another node is, by the address that it has in the cluster. */
  InetSocketAddress addressOf(String address);

  /** This node's address in the cluster. */
  String address();
}
