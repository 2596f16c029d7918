// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.UUID;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.server.protocol.TermIndex;

/**
 * Would you vote for me now, because the leader's process is dead?
 *
 * @param term the asker's current term
 * @param lastEntry the end of the asker's log
 */
record EarlyQuestion(RaftGroupId group, String deadLeader, long term, TermIndex lastEntry) {
  private static final int FIXED_BYTES = 5 * Long.BYTES;

  ByteBuf encode() {
    UUID uuid = group.getUuid();
    byte[] leader = deadLeader.getBytes(StandardCharsets.UTF_8);
    return Unpooled.buffer(FIXED_BYTES + leader.length)
        .writeLong(uuid.getMostSignificantBits())
        .writeLong(uuid.getLeastSignificantBits())
        .writeLong(term)
        .writeLong(lastEntry.getTerm())
        .writeLong(lastEntry.getIndex())
        .writeBytes(leader);
  }

  static EarlyQuestion decode(ByteBuf body) throws IOException {
    if (body.readableBytes() < FIXED_BYTES) {
      throw new IOException("A question of " + body.readableBytes() + " bytes is too short.");
    }
    RaftGroupId group = RaftGroupId.valueOf(new UUID(body.readLong(), body.readLong()));
    long term = body.readLong();
    TermIndex lastEntry = TermIndex.valueOf(body.readLong(), body.readLong());
    return new EarlyQuestion(group, body.toString(StandardCharsets.UTF_8), term, lastEntry);
  }
}
