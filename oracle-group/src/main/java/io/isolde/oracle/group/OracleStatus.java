// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import io.isolde.raft.Peer;
import io.netty.buffer.ByteBuf;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/**
 * What a member knows of the group and of itself. Timestamps are microseconds.
 *
 * @param leader whom it takes for the leader
 * @param term the term that it is in
 * @param members all members
 * @param stable the newest snapshot, as far as it has applied the log
 * @param last the largest timestamp issued
 * @param lowWatermark no open transaction reads below it; 0 unless the member leads
 * @param pendingCommits decided and not yet applied
 * @param inDoubtCommits those of them that snapshots go on without
 * @param committed transactions since the group was founded
 * @param aborted for a conflict, real
 * @param abortedForgotten because a conflict could not be excluded
 * @param appliedIndex the last entry of the log that it has applied
 * @param entries that it proposed since it started
 * @param commands in those
 * @param starts start timestamps that it gave since it started
 * @param beginBatches how often it made sure that it leads, for those
 * @param overloads requests that it refused since it started
 * @param queued commands that wait for an entry of the log
 * @param sessions the coordinators that may decide
 */
public record OracleStatus(
    Optional<Peer> leader,
    long term,
    List<Peer> members,
    long stable,
    long last,
    long lowWatermark,
    long pendingCommits,
    long inDoubtCommits,
    long committed,
    long aborted,
    long abortedForgotten,
    long appliedIndex,
    long entries,
    long commands,
    long starts,
    long beginBatches,
    long overloads,
    long queued,
    List<Session> sessions) {

  /**
   * A coordinator's session.
   *
   * @param silentMillis since the leader heard of it; -1 unless the member leads
   */
  public record Session(long number, UUID coordinator, long silentMillis) {}

  private static final int FIGURES = 15;
  private static final int MAX_SESSIONS = 10_000;

  ByteBuf writeTo(ByteBuf out) {
    new Leading(false, term, leader, members).writeTo(out);
    out.writeLong(stable).writeLong(last).writeLong(lowWatermark).writeLong(pendingCommits);
    out.writeLong(inDoubtCommits)
        .writeLong(committed)
        .writeLong(aborted)
        .writeLong(abortedForgotten);
    out.writeLong(appliedIndex).writeLong(entries).writeLong(commands);
    out.writeLong(starts).writeLong(beginBatches).writeLong(overloads).writeLong(queued);
    out.writeInt(sessions.size());
    for (Session session : sessions) {
      out.writeLong(session.number);
      Wire.write(out, session.coordinator);
      out.writeLong(session.silentMillis);
    }
    return out;
  }

  static OracleStatus read(ByteBuf in) {
    Leading leading = Leading.read(in);
    long[] figures = new long[FIGURES];
    Arrays.setAll(figures, i -> in.readLong());
    return new OracleStatus(
        leading.leader(),
        leading.term(),
        leading.members(),
        figures[0],
        figures[1],
        figures[2],
        figures[3],
        figures[4],
        figures[5],
        figures[6],
        figures[7],
        figures[8],
        figures[9],
        figures[10],
        figures[11],
        figures[12],
        figures[13],
        figures[14],
        sessions(in));
  }

  private static List<Session> sessions(ByteBuf in) {
    int count = in.readInt();
    if (count < 0 || count > MAX_SESSIONS) {
      throw new IllegalArgumentException("A member tells of " + count + " sessions.");
    }
    List<Session> sessions = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      sessions.add(new Session(in.readLong(), Wire.id(in), in.readLong()));
    }
    return sessions;
  }
}
