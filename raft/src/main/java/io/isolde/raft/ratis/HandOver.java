// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.ratis;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.util.UUID;
import org.apache.ratis.protocol.RaftGroupId;

/**
 * One replica's part in planned changes of the leader. An election that the leader asked for does
 * not wait for its lease to end. And what the leader sent may arrive when it has long given up and
 * answers reads under its lease again. So the transfer target asks whether the hand-over is still
 * on before it stands. A leader that has said yes reads no more under a lease in that term, however
 * the hand-over ends.
 */
final class HandOver {
  private static final long NEVER = -1;

  /** To whom this leader is handing over; null if to nobody. */
  private String transferTarget;

  private long offeredTerm = NEVER;

  /** The term in which a transfer target was told that it may stand. */
  private long takenTerm = NEVER;

  /** The term that this transfer target may stand for at once. */
  private long grantedTerm = NEVER;

  /** A transfer target's question: is it still on? */
  record Question(RaftGroupId group, long term) {
    private static final int BYTES = 3 * Long.BYTES;

    ByteBuf encode() {
      UUID uuid = group.getUuid();
      return Unpooled.buffer(BYTES)
          .writeLong(uuid.getMostSignificantBits())
          .writeLong(uuid.getLeastSignificantBits())
          .writeLong(term);
    }

    static Question decode(ByteBuf body) throws IOException {
      if (body.readableBytes() != BYTES) {
        throw new IOException("A question has not " + body.readableBytes() + " bytes.");
      }
      RaftGroupId group = RaftGroupId.valueOf(new UUID(body.readLong(), body.readLong()));
      return new Question(group, body.readLong());
    }
  }

  /** This leader begins to hand over; false if it is doing so already. */
  synchronized boolean offer(String to, long term) {
    if (transferTarget != null) {
      return false;
    }
    transferTarget = to;
    offeredTerm = term;
    return true;
  }

  /** Whether a transfer target may stand; from now on this leader has no lease in its term. */
  synchronized boolean take(String by, long term) {
    if (!by.equals(transferTarget) || term != offeredTerm) {
      return false;
    }
    takenTerm = term;
    return true;
  }

  /** The hand-over has ended: nobody may stand for it who has not been told so yet. */
  synchronized void end() {
    transferTarget = null;
  }

  /** Whether somebody may have been elected in the place of this leader, lease or no lease. */
  synchronized boolean isTaken(long term) {
    return takenTerm == term;
  }

  /** The leader has let this transfer target stand. */
  synchronized void grant(long term) {
    grantedTerm = term;
  }

  /** Whether the leader wants this election, and has no lease any more. */
  synchronized boolean isGranted(long term) {
    return grantedTerm == term;
  }
}
