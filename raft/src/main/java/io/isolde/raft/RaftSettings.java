// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft;

/**
 * How a {@link RaftNode} runs its groups.
 *
 * @param electionTimeoutMinMillis 1,000. Silence after which a follower may stand. Too small: an
 *     overloaded machine loses leaders that are alive (below 1 s we saw it). Too big: a suspended
 *     or cut-off leader is replaced late: a quarter later than this if the others have not heard of
 *     it either. A dead process is found sooner. See {@code LeaderWatch}.
 * @param electionTimeoutMaxMillis 2,000. Time-outs are drawn below it. Too close to the minimum:
 *     split votes.
 * @param leaseRatio 0.2. The part of the minimum for which a leader may answer reads after a
 *     majority has answered it. Too small: idle leaders ask before each read. Too big: nobody may
 *     replace a dead leader for that long.
 * @param leaseReads true. Whether a leader answers reads under its lease, which rests on clocks
 *     that run about equally fast; off: it asks a majority for each. Off: a round trip for each
 *     read.
 * @param requestTimeoutMillis 3,000. For one Raft request to a peer. Too small: a slow disk looks
 *     like a lost message. Too big: a lost message is noticed late.
 * @param stepMillis 100. How much later the next follower stands when a leader is gone. Too small:
 *     two stand at once. Too big: slow if the first cannot win.
 * @param fsync true. Whether an entry counts only when it is on disk. Off: a power failure of a
 *     majority can lose what was committed.
 * @param segmentBytes 32 MiB. The size of a log file. Too small: many files. Too big: the log is
 *     purged in large steps.
 * @param appendBytes 4 MiB. Entries in one message, and the largest entry. Too small: large
 *     requests are refused, and followers catch up slowly. Too big: heartbeats share the disk with
 *     large writes.
 * @param appendEntries 256. Entries in one message. As for the bytes.
 * @param outstandingAppends 8. Messages under way to a follower. 1: each waits for the one before.
 *     Too big: memory, and more to repeat when the connection breaks.
 * @param snapshotEveryEntries 400,000. Entries between snapshots. Too small: snapshots all the
 *     time. Too big: a long log to replay at the start.
 * @param installSnapshots true. Whether the leader sends its snapshot to a follower that is too far
 *     behind; off: the state machine fetches it when it is told.
 * @param pendingRequests 4,096. Requests that wait at the leader. Too small: overload errors in
 *     bursts. Too big: memory and latency.
 * @param pendingBytes 64 MiB. The same, in bytes.
 */
public record RaftSettings(
    int electionTimeoutMinMillis,
    int electionTimeoutMaxMillis,
    double leaseRatio,
    boolean leaseReads,
    int requestTimeoutMillis,
    int stepMillis,
    boolean fsync,
    int segmentBytes,
    int appendBytes,
    int appendEntries,
    int outstandingAppends,
    long snapshotEveryEntries,
    boolean installSnapshots,
    int pendingRequests,
    int pendingBytes) {
  /** More than the length and the checksum of an entry. */
  private static final int CHECKSUM_BYTES = 1 << 12;

  /** Bytes of a snapshot in one message: small, so that appends of other groups pass between. */
  public static final int SNAPSHOT_CHUNK_BYTES = 1 << 20;

  /** Refuses what cannot work. */
  public RaftSettings {
    require(electionTimeoutMinMillis >= 100, "electionTimeoutMinMillis must be at least 100.");
    require(
        electionTimeoutMaxMillis >= electionTimeoutMinMillis + electionTimeoutMinMillis / 2,
        "electionTimeoutMaxMillis must exceed electionTimeoutMinMillis by half, or votes split.");
    require(leaseRatio > 0 && leaseRatio <= 0.9, "leaseRatio must be above 0 and at most 0.9.");
    require(requestTimeoutMillis >= 100, "requestTimeoutMillis must be at least 100.");
    require(stepMillis >= 10, "stepMillis must be at least 10.");
    require(segmentBytes >= 1 << 16, "segmentBytes must be at least 64 KiB.");
    require(appendBytes >= 1 << 12, "appendBytes must be at least 4 KiB.");
    require(appendBytes <= segmentBytes, "appendBytes must not exceed segmentBytes.");
    require(appendEntries >= 1, "appendEntries must be at least 1.");
    require(
        outstandingAppends >= 1 && outstandingAppends <= 1024,
        "outstandingAppends must be between 1 and 1,024.");
    require(snapshotEveryEntries >= 1, "snapshotEveryEntries must be at least 1.");
    require(pendingRequests >= 1, "pendingRequests must be at least 1.");
    require(pendingBytes >= appendBytes, "pendingBytes must not be below appendBytes.");
  }

  private static void require(boolean holds, String otherwise) {
    if (!holds) {
      throw new IllegalArgumentException(otherwise);
    }
  }

  /** The defaults. */
  public static RaftSettings defaults() {
    return new RaftSettings(
        1000, 2000, 0.2, true, 3000, 100, true, 32 << 20, 4 << 20, 256, 8, 400_000, true, 4096,
        64 << 20);
  }

  /** How long a leader may answer reads without asking, since a majority's answer. */
  public long leaseMillis() {
    return (long) (electionTimeoutMinMillis * leaseRatio);
  }

  /** How long a disk may take for one write: as long as a leader may be silent. */
  public long stalledDiskMillis() {
    return electionTimeoutMaxMillis;
  }

  /**
   * Bytes of entries that are under way to one follower, beside the last message: a slow one holds
   * up their encoded form, in our buffers and in its own.
   */
  public long outstandingBytes() {
    return pendingBytes / 4L;
  }

  /**
   * What each group takes of the memory outside of the heap, as long as it runs: what an append to
   * its log is made in.
   */
  public int bufferBytes() {
    return appendBytes + CHECKSUM_BYTES;
  }

  /**
   * These settings within so much memory, unless the largest messages need more.
   *
   * @param waitingBytes for what waits at the leader; a quarter of it is under way to a follower
   * @param fileBytes for one of the three log files that stay in memory to be sent
   */
  public RaftSettings withinMemory(long waitingBytes, long fileBytes) {
    Draft draft = new Draft(this);
    draft.pendingBytes = (int) Math.max(2L * appendBytes, Math.min(pendingBytes, waitingBytes));
    draft.segmentBytes = (int) Math.max(appendBytes, Math.min(segmentBytes, fileBytes));
    return draft.settings();
  }

  /** How often an idle leader lets its followers hear of it, as Ratis has it. */
  public long heartbeatMillis() {
    return electionTimeoutMinMillis / 2;
  }

  /**
   * After so long without a word from the leader a follower asks the others whether they have heard
   * of it: two heartbeats, which come twice in the minimum, and a half.
   */
  public long silenceMillis() {
    return electionTimeoutMinMillis * 5L / 4;
  }

  /** These settings with another time-out for requests to peers. */
  public RaftSettings withRequestTimeout(int millis) {
    Draft draft = new Draft(this);
    draft.requestTimeoutMillis = millis;
    return draft.settings();
  }

  /** These settings with other times of elections and leases. */
  public RaftSettings withElections(int minMillis, int maxMillis, double newLeaseRatio) {
    Draft draft = new Draft(this);
    draft.electionTimeoutMinMillis = minMillis;
    draft.electionTimeoutMaxMillis = maxMillis;
    draft.leaseRatio = newLeaseRatio;
    return draft.settings();
  }

  /** These settings with reads under the lease, or not. */
  public RaftSettings withLeaseReads(boolean on) {
    Draft draft = new Draft(this);
    draft.leaseReads = on;
    return draft.settings();
  }

  /** These settings with another durability. */
  public RaftSettings withFsync(boolean on) {
    Draft draft = new Draft(this);
    draft.fsync = on;
    return draft.settings();
  }

  /** These settings with other log files. */
  public RaftSettings withSegmentBytes(int bytes) {
    Draft draft = new Draft(this);
    draft.segmentBytes = bytes;
    return draft.settings();
  }

  /** These settings with another way of appending. */
  public RaftSettings withAppends(int bytes, int entries, int outstanding) {
    Draft draft = new Draft(this);
    draft.appendBytes = bytes;
    draft.appendEntries = entries;
    draft.outstandingAppends = outstanding;
    return draft.settings();
  }

  /** These settings with other snapshots. */
  public RaftSettings withSnapshots(long everyEntries, boolean install) {
    Draft draft = new Draft(this);
    draft.snapshotEveryEntries = everyEntries;
    draft.installSnapshots = install;
    return draft.settings();
  }

  /** Settings that are being changed. */
  private static final class Draft {
    private int electionTimeoutMinMillis;
    private int electionTimeoutMaxMillis;
    private double leaseRatio;
    private boolean leaseReads;
    private int requestTimeoutMillis;
    private int stepMillis;
    private boolean fsync;
    private int segmentBytes;
    private int appendBytes;
    private int appendEntries;
    private int outstandingAppends;
    private long snapshotEveryEntries;
    private boolean installSnapshots;
    private int pendingRequests;
    private int pendingBytes;

    private Draft(RaftSettings from) {
      electionTimeoutMinMillis = from.electionTimeoutMinMillis;
      electionTimeoutMaxMillis = from.electionTimeoutMaxMillis;
      leaseRatio = from.leaseRatio;
      leaseReads = from.leaseReads;
      requestTimeoutMillis = from.requestTimeoutMillis;
      stepMillis = from.stepMillis;
      fsync = from.fsync;
      segmentBytes = from.segmentBytes;
      appendBytes = from.appendBytes;
      appendEntries = from.appendEntries;
      outstandingAppends = from.outstandingAppends;
      snapshotEveryEntries = from.snapshotEveryEntries;
      installSnapshots = from.installSnapshots;
      pendingRequests = from.pendingRequests;
      pendingBytes = from.pendingBytes;
    }

    private RaftSettings settings() {
      return new RaftSettings(
          electionTimeoutMinMillis,
          electionTimeoutMaxMillis,
          leaseRatio,
          leaseReads,
          requestTimeoutMillis,
          stepMillis,
          fsync,
          segmentBytes,
          appendBytes,
          appendEntries,
          outstandingAppends,
          snapshotEveryEntries,
          installSnapshots,
          pendingRequests,
          pendingBytes);
    }
  }
}
