// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle;

/**
 * Finds the position of a transaction among {@link Outcomes} by its id. The ids themselves are
 * compared by the caller, who has them.
 */
/*
 * Open addressing with linear probing at a load of at most 1/2; removal shifts the following entries
 * back, so that no tombstones pile up. An entry has the hash in its upper half, so that other ids
 * are rarely looked at, and its position plus one in its lower half; 0 is free.
 */
final class OutcomeIndex {
  private static final long SPREAD = 0x9E3779B97F4A7C15L;

  /** What {@link #first} and {@link #next} return after the last candidate. */
  static final int NONE = -1;

  private final long[] entries;
  private final int mask;
  private final int shift;

  OutcomeIndex(int maxEntries) {
    int bits = Integer.SIZE - Integer.numberOfLeadingZeros(2 * maxEntries - 1);
    entries = new long[1 << bits];
    mask = entries.length - 1;
    shift = Integer.SIZE - bits;
  }

  private OutcomeIndex(OutcomeIndex other) {
    entries = other.entries.clone();
    mask = other.mask;
    shift = other.shift;
  }

  OutcomeIndex copy() {
    return new OutcomeIndex(this);
  }

  static int hash(long mostSignificantBits, long leastSignificantBits) {
    long mixed = mostSignificantBits * SPREAD;
    mixed = ((mixed ^ (mixed >>> 32)) + leastSignificantBits) * SPREAD;
    return (int) (((mixed ^ (mixed >>> 32)) * SPREAD) >>> 32);
  }

  /** The first place where an id with a hash may be. */
  int first(int hash) {
    return candidate(hash, home(hash));
  }

  /** The next such place. */
  int next(int hash, int place) {
    return candidate(hash, following(place));
  }

  private int candidate(int hash, int from) {
    int place = from;
    while (entries[place] != 0) {
      if (hashAt(place) == hash) {
        return place;
      }
      place = following(place);
    }
    return NONE;
  }

  int positionAt(int place) {
    return (int) entries[place] - 1;
  }

  void add(int hash, int position) {
    int place = home(hash);
    while (entries[place] != 0) {
      place = following(place);
    }
    entries[place] = ((long) hash << 32) | (position + 1);
  }

  void remove(int hash, int position) {
    int place = first(hash);
    while (positionAt(place) != position) {
      place = next(hash, place);
    }
    free(place);
  }

  /** Frees a place and closes the gap, so that every entry is still reached from its home. */
  private void free(int place) {
    int gap = place;
    for (int i = following(gap); entries[i] != 0; i = following(i)) {
      int distanceFromHome = (i - home(hashAt(i))) & mask;
      int distanceFromGap = (i - gap) & mask;
      if (distanceFromHome >= distanceFromGap) {
        entries[gap] = entries[i];
        gap = i;
      }
    }
    entries[gap] = 0;
  }

  private int hashAt(int place) {
    return (int) (entries[place] >>> 32);
  }

  private int home(int hash) {
    return hash >>> shift;
  }

  private int following(int place) {
    return (place + 1) & mask;
  }
}
