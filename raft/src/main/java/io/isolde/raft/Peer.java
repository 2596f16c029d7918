// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft;

import java.net.InetSocketAddress;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.util.NetUtils;

/** A member of a group: a name that never changes, and the address of its port. */
public record Peer(String id, InetSocketAddress address) {
  /** Checks the fields. */
  public Peer {
    if (id.isEmpty()) {
      throw new IllegalArgumentException("A peer needs a name.");
    }
    if (address.getPort() == 0) {
      throw new IllegalArgumentException("The address of peer " + id + " needs a port.");
    }
  }

  RaftPeer toRatis() {
    // As it was given: Ratis would look for a name of an address.
    String host = address.getHostString();
    String literal = host.indexOf(':') >= 0 ? "[" + host + "]" : host;
    return RaftPeer.newBuilder().setId(id).setAddress(literal + ":" + address.getPort()).build();
  }

  static Peer of(RaftPeer peer) {
    return new Peer(peer.getId().toString(), NetUtils.createSocketAddr(peer.getAddress()));
  }
}
