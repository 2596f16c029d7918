// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.ratis;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.UUID;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.server.protocol.TermIndex;

/**
 * Would you vote for me now, because the leader's process is dead, or because it is silent?
 *
 * @param isSilent whether it is silent; else it is dead
 * @param term the asker's current term
 * @param lastEntry the end of the asker's log
 */
record EarlyQuestion(
    RaftGroupId group, String leader, boolean isSilent, long term, TermIndex lastEntry) {
  private static final int FIXED_BYTES = 5 * Long.BYTES + 1;

  ByteBuf encode() {
    UUID uuid = group.getUuid();
    byte[] leaderId = leader.getBytes(StandardCharsets.UTF_8);
    return Unpooled.buffer(FIXED_BYTES + leaderId.length)
        .writeLong(uuid.getMostSignificantBits())
        .writeLong(uuid.getLeastSignificantBits())
        .writeLong(term)
        .writeLong(lastEntry.getTerm())
        .writeLong(lastEntry.getIndex())
        .writeBoolean(isSilent)
        .writeBytes(leaderId);
  }

  static EarlyQuestion decode(ByteBuf body) throws IOException {
    if (body.readableBytes() < FIXED_BYTES) {
      throw new IOException("A question of " + body.readableBytes() + " bytes is too short.");
    }
    RaftGroupId group = RaftGroupId.valueOf(new UUID(body.readLong(), body.readLong()));
    long term = body.readLong();
    TermIndex lastEntry = TermIndex.valueOf(body.readLong(), body.readLong());
    boolean isSilent = body.readBoolean();
    String leader = body.toString(StandardCharsets.UTF_8);
    return new EarlyQuestion(group, leader, isSilent, term, lastEntry);
  }
}
