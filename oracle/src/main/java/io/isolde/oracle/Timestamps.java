// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/**
 * Issues timestamps: even microseconds, strictly increasing whatever the clock does, and never
 * above what is reserved.
 */
final class Timestamps {
  /** The distance of two commits; the odd timestamp between them belongs to deletions. */
  static final long STEP = 2;

  /** Even, only grows, and {@code last <= reservedUntil}. */
  private long last;

  /** Only grows. */
  private long reservedUntil;

  Timestamps(long firstMicros) {
    if (firstMicros < 0) {
      throw new IllegalArgumentException(
          "Timestamps can't start at " + firstMicros + ": they are positive.");
    }
    last = even(firstMicros);
    reservedUntil = last;
  }

  Timestamps copy() {
    Timestamps copy = new Timestamps(last);
    copy.reserve(reservedUntil);
    return copy;
  }

  void writeTo(DataOutput out) throws IOException {
    out.writeLong(last);
    out.writeLong(reservedUntil);
  }

  static Timestamps readFrom(DataInput in) throws IOException {
    Timestamps timestamps = new Timestamps(in.readLong());
    timestamps.reserve(in.readLong());
    return timestamps;
  }

  /** A fresh timestamp; throws, changing nothing, if none is reserved. */
  long next(long nowMicros) {
    long next = Math.max(last + STEP, even(nowMicros));
    requireReserved(next);
    last = next;
    assert last <= reservedUntil && isEven(last);
    return next;
  }

  void advanceTo(long timestampMicros) {
    requireReserved(timestampMicros);
    last = Math.max(last, even(timestampMicros));
  }

  void reserve(long untilMicros) {
    reservedUntil = Math.max(reservedUntil, untilMicros);
  }

  long last() {
    return last;
  }

  long reservedUntil() {
    return reservedUntil;
  }

  private void requireReserved(long timestampMicros) {
    if (timestampMicros > reservedUntil) {
      throw new IllegalStateException(
          "The timestamp "
              + timestampMicros
              + " is above the reservation, which ends at "
              + reservedUntil
              + ".");
    }
  }

  private static long even(long micros) {
    return micros & -STEP;
  }

  private static boolean isEven(long micros) {
    return micros == even(micros);
  }
}
