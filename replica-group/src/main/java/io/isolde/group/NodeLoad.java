// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import io.netty.buffer.ByteBuf;

/**
 * What a node is busy with that slows down the groups that it leads.
 *
 * @param busyBytes to go through
 * @param compactionPermit whether it does heavy work, or is about to
 * @param sinceMillis by its clock, when it began to wait for its turn
 * @param isLeader whether it leads any group
 */
public record NodeLoad(
    long busyBytes, CompactionPermit.State compactionPermit, long sinceMillis, boolean isLeader) {
  /** About. */
  static final int BYTES = 40;

  ByteBuf writeTo(ByteBuf out) {
    out.writeLong(busyBytes).writeLong(sinceMillis).writeBoolean(isLeader);
    GroupMessages.text(out, compactionPermit.name());
    return out;
  }

  static NodeLoad read(ByteBuf in) {
    long busyBytes = in.readLong();
    long sinceMillis = in.readLong();
    boolean isLeader = in.readBoolean();
    CompactionPermit.State compactionPermit =
        CompactionPermit.State.valueOf(GroupMessages.text(in));
    return new NodeLoad(busyBytes, compactionPermit, sinceMillis, isLeader);
  }
}
