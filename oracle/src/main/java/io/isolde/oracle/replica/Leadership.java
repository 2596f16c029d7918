// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.replica;

import io.isolde.oracle.OracleConfig;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;

/**
 * What a leader knows beyond the log, for one term: which start timestamps it has given out, and
 * which entries are under way. With it, a transaction begins without an entry in the log.
 *
 * <p>A start timestamp T promises that every commit at or below T is applied, or set aside, and
 * that no other will come. Four rules keep it:
 *
 * <ul>
 *   <li>While an entry is under way or a commit is neither applied nor set aside, T is what the
 *       replica has as stable, or what was given out before. Only otherwise does T follow the
 *       clock.
 *   <li>Each entry carries the largest T given out, and commits nothing at or below it.
 *   <li>T is at most what an applied entry has reserved, and the next leader commits above that.
 *   <li>None is given before the first entry of this leader is applied, and none once that of
 *       another is: what is reserved then is the other's.
 * </ul>
 *
 * <p>The caller makes sure that it leads after it was asked and before it calls {@link
 * #startTimestamp}; if the call comes late, T is only older than it could be. It serialises all
 * calls with those of the replica.
 */
public final class Leadership {
  private static final long EVEN = ~1L;

  private static final long NOT_YET = -1;

  private final OracleReplica replica;
  private final long reservationMicros;

  /** Those that this leader made and that may still be applied; by identity. */
  private final Set<LogEntry> underWay = Collections.newSetFromMap(new IdentityHashMap<>());

  private LogEntry first;

  /** Which one of the replica's {@link OracleReplica#leaders} this is. */
  private long number = NOT_YET;

  /** Only grows; at most what is reserved in the replica. */
  private long floor;

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
   * The first entry of the term.
   *
   * @param config the bounds from now on
   */
  public LogEntry firstEntry(OracleConfig config, long nowMicros) {
    if (first != null) {
      throw new IllegalStateException("A leader has one first entry.");
    }
    floor = replica.stable();
    first = make(List.of(new Command.Lead(config)), nowMicros);
    return first;
  }

  /**
   * The next entry for the log. It is under way until {@link #entryApplied} or {@link
   * #entryDropped}; for the rest of the term if it is never known what became of it.
   *
   * @throws IllegalStateException unless this leader {@linkplain #isServing() serves}
   */
  public LogEntry entry(List<Command> commands, long nowMicros) {
    requireServing();
    return make(commands, nowMicros);
  }

  private LogEntry make(List<Command> commands, long nowMicros) {
    LogEntry entry =
        new LogEntry(nowMicros, floor, Math.max(nowMicros + reservationMicros, floor), commands);
    underWay.add(entry);
    return entry;
  }

  /** An entry was applied to the replica. Does nothing if this leader did not make it. */
  @SuppressWarnings("ReferenceEquality") // another leader's may be equal
  public void entryApplied(LogEntry entry) {
    underWay.remove(entry);
    if (entry == first) {
      number = replica.leaders();
    }
  }

  /** An entry will not be applied, for sure. One that may be applied must not be told here. */
  public void entryDropped(LogEntry entry) {
    underWay.remove(entry);
  }

  /** Whether the first entry is applied, and that of no later leader. */
  public boolean isServing() {
    return number == replica.leaders();
  }

  /**
   * The newest snapshot: every commit at or below it is applied, or in the {@linkplain
   * OracleReplica#setAside() set} that the replica has now, and no other will come.
   *
   * @throws IllegalStateException unless this leader {@linkplain #isServing() serves}
   */
  public long startTimestamp(long nowMicros) {
    requireServing();
    long start = replica.stable();
    if (underWay.isEmpty() && !replica.hasPendingCommits()) {
      start = Math.max(start, Math.min(nowMicros, replica.reservedUntil()) & EVEN);
    }
    floor = Math.max(floor, start);
    return floor;
  }

  private void requireServing() {
    if (!isServing()) {
      throw new IllegalStateException(
          "This leader does not serve: its first entry is not applied, or another one leads.");
    }
  }

  /** Whether start timestamps will soon stop following the clock if no entry is made. */
  public boolean needsReservation(long nowMicros) {
    return underWay.isEmpty() && nowMicros + reservationMicros / 2 > replica.reservedUntil();
  }

  /** How many entries are under way. */
  public int entriesUnderWay() {
    return underWay.size();
  }
}
