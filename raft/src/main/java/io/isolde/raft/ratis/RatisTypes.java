// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.ratis;

import io.isolde.raft.LogPosition;
import io.isolde.raft.Peer;
import java.util.Collection;
import java.util.List;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.util.NetUtils;

/** Our nouns as Ratis has them, and back. */
final class RatisTypes {
  private RatisTypes() {}

  static RaftPeer ratis(Peer peer) {
    // As it was given: Ratis would look for a name of an address.
    String host = peer.address().getHostString();
    String literal = host.indexOf(':') >= 0 ? "[" + host + "]" : host;
    return RaftPeer.newBuilder()
        .setId(peer.id())
        .setAddress(literal + ":" + peer.address().getPort())
        .build();
  }

  static List<RaftPeer> ratis(List<Peer> peers) {
    return peers.stream().map(RatisTypes::ratis).toList();
  }

  static TermIndex ratis(LogPosition position) {
    return TermIndex.valueOf(position.term(), position.index());
  }

  static Peer peer(RaftPeer peer) {
    return new Peer(peer.getId().toString(), NetUtils.createSocketAddr(peer.getAddress()));
  }

  static List<Peer> peers(Collection<RaftPeer> peers) {
    return peers.stream().map(RatisTypes::peer).toList();
  }

  static LogPosition position(TermIndex termIndex) {
    return new LogPosition(termIndex.getTerm(), termIndex.getIndex());
  }
}
