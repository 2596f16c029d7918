// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import io.isolde.raft.Peer;
import io.netty.buffer.ByteBuf;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What a member knows of who leads.
 *
 * @param isServing whether it is this member, ready to serve
 * @param term the term that it is in; of two members that claim to lead, the one with the larger
 *     term is right
 * @param leader whom it takes for the leader
 * @param members all that it knows of
 */
record Leading(boolean isServing, long term, Optional<Peer> leader, List<Peer> members) {
  private static final int MAX_MEMBERS = 64;

  Leading {
    members = List.copyOf(members);
  }

  ByteBuf writeTo(ByteBuf out) {
    out.writeBoolean(isServing).writeLong(term).writeBoolean(leader.isPresent());
    leader.ifPresent(peer -> write(out, peer));
    out.writeByte(members.size());
    members.forEach(peer -> write(out, peer));
    return out;
  }

  static Leading read(ByteBuf in) {
    boolean isServing = in.readBoolean();
    long term = in.readLong();
    Optional<Peer> leader = in.readBoolean() ? Optional.of(peer(in)) : Optional.empty();
    int count = in.readByte();
    if (count < 0 || count > MAX_MEMBERS) {
      throw new IllegalArgumentException("A member tells of " + count + " members.");
    }
    List<Peer> members = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      members.add(peer(in));
    }
    return new Leading(isServing, term, leader, members);
  }

  static void write(ByteBuf out, Peer peer) {
    Wire.write(out, peer.id());
    Wire.write(out, peer.address());
  }

  static Peer peer(ByteBuf in) {
    return new Peer(Wire.text(in), Wire.address(in));
  }
}
