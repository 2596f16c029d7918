// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import io.netty.buffer.ByteBuf;

/**
 * How a member of a group is doing, as it says itself.
 *
 * @param appliedIndex the newest entry of the log that it has applied
 * @param committedIndex the newest that it knows to be committed
 * @param queuedWrites that wait for the log there
 * @param compactionsPending of the group's keyspace on that node, as estimated
 */
public record ReplicaStatus(
    Role role,
    long appliedIndex,
    long committedIndex,
    long lastMicros,
    int queuedWrites,
    int compactionsPending,
    CompactionPermit.State compactionPermit) {
  /** About. */
  private static final int BYTES = 64;

  /** What a member is in its group. */
  public enum Role {
    LEADER,
    FOLLOWER,
    /** It knows no leader. */
    NO_LEADER,
    /** It copies another's storage, as the log that it needs is gone. */
    COPYING
  }

  /**
   * Whether it leads, or can take over now: it follows closely, and does not compact heavily.
   *
   * @param lagEntries that are committed, and that it has not applied
   */
  public boolean canLead(long lagEntries) {
    return role == Role.LEADER
        || (follows(lagEntries) && compactionPermit == CompactionPermit.State.IDLE);
  }

  /**
   * Whether it has nearly all that is committed.
   *
   * @param lagEntries as of {@link #canLead}
   */
  public boolean follows(long lagEntries) {
    return role == Role.LEADER
        || (role == Role.FOLLOWER && lagEntries <= HandOverPolicy.MAX_ENTRIES_BEHIND);
  }

  static ReplicaStatus of(ReplicaGroup group, Requests requests) {
    return new ReplicaStatus(
        group.role(),
        group.appliedIndex(),
        group.appliedIndex() + group.lagEntries(),
        group.lastMicros(),
        group.queued(),
        requests.compactionsPending(group.id()),
        requests.load().compactionPermit());
  }

  ByteBuf answer() {
    ByteBuf out = GroupMessages.buffer(1 + BYTES).writeByte(GroupMessages.OK);
    GroupMessages.text(out, role.name());
    GroupMessages.text(out, compactionPermit.name());
    return out.writeLong(appliedIndex)
        .writeLong(committedIndex)
        .writeLong(lastMicros)
        .writeInt(queuedWrites)
        .writeInt(compactionsPending);
  }

  static ReplicaStatus read(ByteBuf in) {
    Role role = Role.valueOf(GroupMessages.text(in));
    CompactionPermit.State compactionPermit =
        CompactionPermit.State.valueOf(GroupMessages.text(in));
    return new ReplicaStatus(
        role,
        in.readLong(),
        in.readLong(),
        in.readLong(),
        in.readInt(),
        in.readInt(),
        compactionPermit);
  }
}
