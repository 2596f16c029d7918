// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import static java.util.Objects.requireNonNull;

import io.isolde.oracle.OracleConfig;
import io.isolde.oracle.replica.OracleReplica;
import io.isolde.raft.RaftSettings;
import java.util.function.Consumer;

/**
 * How a member runs.
 *
 * @param bounds of the oracle itself; the leader's count
 * @param raft of the log. Default: as {@link RaftSettings#defaults()}, with appends of 8 MiB and a
 *     snapshot every 20,000 entries: an entry may hold thousands of commits, and their writes
 * @param reservationMicros how far ahead of the clock start timestamps are reserved. Default: 3 s.
 *     Too small: many entries in the log for nothing. Too big: after a change of leaders,
 *     timestamps are ahead of the clock for that long
 * @param leaseMillis how long a coordinator may be silent before it is fenced. Default: 2 s. Too
 *     small: a long garbage collection costs a coordinator its transactions. Too big: what a dead
 *     coordinator left is finished late, and its rows are in doubt until then
 * @param overdueMillis how long a decided commit may take to be applied before snapshots go on
 *     without it; those that a new leader finds have a quarter of a second at most. Default: 1 s.
 *     Too small: commits of a busy moment are in doubt, and coordinators keep asking which. Too
 *     big: for so long nobody sees anything newer than a commit that is stuck
 * @param maxQueued requests that wait at the leader. Default: 65,536. Too small: refused at peaks.
 *     Too big: they wait longer than their senders do
 * @param maxPendingWriteBytes of commits that are decided and not applied: the leader refuses more.
 *     Default: 128 MiB. Too small: large commits are refused while a replica is slow. Too big:
 *     memory of all members
 * @param logKeepMillis how long the log is kept when the state after it is saved, as long as it is
 *     not large: nodes that died come back for what they have lost. Default: 60 s. Too small: it is
 *     gone by then. Too big: a large log, and a member is slow to start
 */
public record OracleGroupConfig(
    OracleConfig bounds,
    RaftSettings raft,
    long reservationMicros,
    long leaseMillis,
    long overdueMillis,
    int maxQueued,
    long maxPendingWriteBytes,
    long logKeepMillis) {
  private static final long ENTRIES_PER_SNAPSHOT = 20_000;

  private static final int APPEND_BYTES = 8 << 20;

  /** What a commit may carry by default, ids and writes: {@link Sequencer} takes no more. */
  public static final int MAX_COMMIT_BYTES = APPEND_BYTES / 4 * 3 - 1024;

  private static final int APPEND_ENTRIES = 256;
  private static final int OUTSTANDING_APPENDS = 8;

  public OracleGroupConfig {
    requireNonNull(bounds);
    requireNonNull(raft);
    require(reservationMicros >= 100_000, "The reservation must be at least 0.1 s.");
    require(leaseMillis >= 100, "The lease of coordinators must be at least 100 ms.");
    require(overdueMillis >= 100, "A commit must have at least 100 ms to be applied.");
    require(maxQueued >= 1, "At least one request must be allowed to wait.");
    require(maxPendingWriteBytes >= 1, "At least one byte of writes must be allowed to wait.");
    require(logKeepMillis >= 0, "The log can't be kept for less than no time.");
  }

  public static OracleGroupConfig defaults() {
    return new OracleGroupConfig(
        OracleConfig.defaults(),
        RaftSettings.defaults()
            .withAppends(APPEND_BYTES, APPEND_ENTRIES, OUTSTANDING_APPENDS)
            .withSnapshots(ENTRIES_PER_SNAPSHOT, true),
        3_000_000,
        2_000,
        1_000,
        1 << 16,
        OracleReplica.MAX_PENDING_WRITE_BYTES,
        60_000);
  }

  public OracleGroupConfig withBounds(OracleConfig newBounds) {
    return with(draft -> draft.bounds = newBounds);
  }

  public OracleGroupConfig withRaft(RaftSettings newRaft) {
    return with(draft -> draft.raft = newRaft);
  }

  public OracleGroupConfig withLeaseMillis(long millis) {
    return with(draft -> draft.leaseMillis = millis);
  }

  public OracleGroupConfig withOverdueMillis(long millis) {
    return with(draft -> draft.overdueMillis = millis);
  }

  public OracleGroupConfig withReservationMicros(long micros) {
    return with(draft -> draft.reservationMicros = micros);
  }

  public OracleGroupConfig withMaxQueued(int requests) {
    return with(draft -> draft.maxQueued = requests);
  }

  public OracleGroupConfig withMaxPendingWriteBytes(long bytes) {
    return with(draft -> draft.maxPendingWriteBytes = bytes);
  }

  /**
   * With writes that are decided and not applied in so much memory; one large commit always fits.
   */
  public OracleGroupConfig withinMemory(long decidedBytes) {
    return withMaxPendingWriteBytes(
        Math.max(MAX_COMMIT_BYTES, Math.min(maxPendingWriteBytes, decidedBytes)));
  }

  public OracleGroupConfig withLogKeepMillis(long millis) {
    return with(draft -> draft.logKeepMillis = millis);
  }

  private OracleGroupConfig with(Consumer<Draft> change) {
    Draft draft = new Draft(this);
    change.accept(draft);
    return draft.config();
  }

  private static void require(boolean holds, String sentence) {
    if (!holds) {
      throw new IllegalArgumentException(sentence);
    }
  }

  /** A config that is being changed. */
  private static final class Draft {
    private OracleConfig bounds;
    private RaftSettings raft;
    private long reservationMicros;
    private long leaseMillis;
    private long overdueMillis;
    private int maxQueued;
    private long maxPendingWriteBytes;
    private long logKeepMillis;

    private Draft(OracleGroupConfig from) {
      bounds = from.bounds;
      raft = from.raft;
      reservationMicros = from.reservationMicros;
      leaseMillis = from.leaseMillis;
      overdueMillis = from.overdueMillis;
      maxQueued = from.maxQueued;
      maxPendingWriteBytes = from.maxPendingWriteBytes;
      logKeepMillis = from.logKeepMillis;
    }

    private OracleGroupConfig config() {
      return new OracleGroupConfig(
          bounds,
          raft,
          reservationMicros,
          leaseMillis,
          overdueMillis,
          maxQueued,
          maxPendingWriteBytes,
          logKeepMillis);
    }
  }
}
