// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Foresees that memory will be full, so that whoever needs some will have to wait: the memory of
 * memtables, whose writers then wait for flushes; the old objects of the heap, which are then
 * collected while all else stands still. It is the straight line through the oldest and the newest
 * reading of the last seconds that tells. Pure: readings come from outside.
 */
public final class StallForecast {
  /** How far ahead it looks: a hand-over takes a tenth of a second, if all is well. */
  static final long AHEAD_MILLIS = 2_000;

  /** What was longer ago tells nothing. */
  static final long WINDOW_MILLIS = 4_000;

  /** From here on there is no room to speak of. */
  static final double FULL = 0.95;

  /** Below it nothing is foreseen, however steep the rise: flushes and collections begin here. */
  static final double HALF = 0.5;

  private static final int MAX_READINGS = 64;

  private record Reading(long atMillis, long usedBytes) {}

  /** At most {@link #MAX_READINGS}, the newest last. */
  private final Deque<Reading> readings = new ArrayDeque<>();

  private boolean isComing;

  /**
   * Takes a reading.
   *
   * @param mostBytes that there can be; nothing is foreseen if that is 0 or less
   * @return whether a stall is foreseen now and was not at the reading before
   */
  public boolean read(long nowMillis, long usedBytes, long mostBytes) {
    while (!readings.isEmpty()
        && (nowMillis - readings.peek().atMillis > WINDOW_MILLIS
            || readings.size() == MAX_READINGS)) {
      readings.poll();
    }
    readings.add(new Reading(nowMillis, usedBytes));
    boolean wasComing = isComing;
    double share = mostBytes <= 0 ? 0 : (double) usedBytes / mostBytes;
    boolean isForeseen = share >= HALF && foreseen(nowMillis, usedBytes) >= FULL * mostBytes;
    // Once foreseen, it is over when there is room again, not when the rise pauses.
    isComing = isForeseen || (wasComing && share >= HALF);
    return isComing && !wasComing;
  }

  /** Whether a stall is foreseen, or has come and is not over. */
  public boolean isComing() {
    return isComing;
  }

  private double foreseen(long nowMillis, long usedBytes) {
    Reading oldest = readings.peek();
    long tookMillis = nowMillis - oldest.atMillis;
    if (tookMillis <= 0) {
      return usedBytes;
    }
    double bytesPerMilli = (double) (usedBytes - oldest.usedBytes) / tookMillis;
    return usedBytes + Math.max(0, bytesPerMilli) * AHEAD_MILLIS;
  }
}
