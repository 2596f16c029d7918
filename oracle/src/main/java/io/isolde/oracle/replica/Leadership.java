// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.replica;

import io.isolde.oracle.OracleConfig;
import java.util.List;

/**
 * What a leader knows beyond the log, for one term: which start timestamps it has given out, and
 * which entries are under way. With it, a transaction begins without an entry in the log.
 *
 * <p>A start timestamp T promises that every commit at or below T is applied and that no other will
 * come. Three rules keep it:
 *
 * <ul>
 *   <li>While an entry is under way or a commit is not applied, T is what the replica has as
 *       stable. Only otherwise does T follow the clock.
 *   <li>Each entry carries the largest T given out, and commits nothing at or below it.
 *   <li>T is at most what an applied entry has reserved, and the next leader commits above that.
 * </ul>
 *
 * <p>The caller makes sure that it leads when it calls {@link #startTimestamp}, and serialises all
 * calls with those of the replica.
 */
public final class Leadership {
  private static final long EVEN = ~1L;

  private final OracleReplica replica;
  private final long reservationMicros;

  /** Only grows; at most what is reserved in the replica. */
  private long floor;

  private int entriesUnderWay;

  /**
   * @param reservationMicros how far ahead of the clock start timestamps are reserved; see {@code
   *     timestamp_reservation}
   */
  public Leadership(OracleReplica replica, long reservationMicros) {
    if (reservationMicros < 1) {
      throw new IllegalArgumentException(
          "The reservation is " + reservationMicros + " microseconds, but must be positive.");
    }
    this.replica = replica;
    this.reservationMicros = reservationMicros;
  }

  /**
   * The first entry of the term. No start timestamp may be given out before it is applied.
   *
   * @param config the bounds from now on
   */
  public LogEntry firstEntry(OracleConfig config, long nowMicros) {
    floor = replica.stable();
    return entry(List.of(new Command.Lead(config)), nowMicros);
  }

  /** The next entry for the log. It is under way until {@link #entryApplied()}. */
  public LogEntry entry(List<Command> commands, long nowMicros) {
    entriesUnderWay++;
    long time = Math.max(nowMicros, floor);
    return new LogEntry(time, floor, Math.max(time, replica.last()) + reservationMicros, commands);
  }

  /** An entry of this term was applied to the replica. */
  public void entryApplied() {
    assert entriesUnderWay > 0;
    entriesUnderWay--;
  }

  /** The newest snapshot: every commit at or below it is applied, and no other will come. */
  public long startTimestamp(long nowMicros) {
    long start = replica.stable();
    if (entriesUnderWay == 0 && !replica.hasPendingCommits()) {
      start = Math.max(start, Math.min(nowMicros, replica.reservedUntil()) & EVEN);
    }
    floor = Math.max(floor, start);
    return floor;
  }

  /** Whether start timestamps will soon stop following the clock if no entry is made. */
  public boolean needsReservation(long nowMicros) {
    return entriesUnderWay == 0 && nowMicros + reservationMicros / 2 > replica.reservedUntil();
  }

  /** How many entries are under way. */
  public int entriesUnderWay() {
    return entriesUnderWay;
  }
}
