// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import io.isolde.raft.Peer;
import io.netty.buffer.ByteBuf;

/**
 * A change of the group.
 *
 * @param kind what to do
 * @param peer to whom
 */
public record MemberChange(Kind kind, Peer peer) {

  /** What to do. */
  public enum Kind {
    /** The leader takes a node in. */
    ADD(1),
    /** The leader lets a member go. */
    REMOVE(2),
    /** The leader hands over to a member. */
    LEAD(3),
    /** To a node that is about to be added: start as a member without a vote. */
    JOIN(4),
    /** To a node that was removed: stop, and forget the log. */
    LEAVE(5);

    private final int code;

    Kind(int code) {
      this.code = code;
    }

    private static Kind of(int code) {
      for (Kind kind : values()) {
        if (kind.code == code) {
          return kind;
        }
      }
      throw new IllegalArgumentException("There is no change " + code + " of the members.");
    }
  }

  ByteBuf writeTo(ByteBuf out) {
    out.writeByte(kind.code);
    Leading.write(out, peer);
    return out;
  }

  static MemberChange read(ByteBuf in) {
    return new MemberChange(Kind.of(in.readByte()), Leading.peer(in));
  }
}
