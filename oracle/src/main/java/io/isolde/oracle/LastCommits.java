// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle;

/**
 * The last commit timestamp of each id, for the last {@code maxRows} writes (Appendix A). What
 * falls out leaves only {@link #tmax()} behind, the largest timestamp forgotten: an id that is not
 * found was last committed at or below it.
 *
 * <p>All memory is allocated at the start and no operation allocates any. Ids and timestamps lie
 * side by side, so that a look-up touches one cache line.
 */
/*
 * Table: open addressing with linear probing at a load of at most 2/3; removal shifts the following
 * entries back, so that no tombstones pile up. A slot with timestamp NEVER is free.
 *
 * Ring: the writes in order. An id that is written again gets a second entry; the first one stays
 * and is recognised when it falls out, because the table then holds a newer timestamp.
 */
final class LastCommits {
  /** No commit is known. Also marks a free slot; commit timestamps are positive. */
  static final long NEVER = 0;

  /** 2^64 divided by the golden ratio: spreads ids that are not hashes (Fibonacci hashing). */
  private static final long SPREAD = 0x9E3779B97F4A7C15L;

  /** Slot s holds an id at 2s and its timestamp at 2s + 1. */
  private final long[] slots;

  private final int mask;
  private final int shift;

  /** As the slots; the oldest write lies at {@code oldest}. */
  private final long[] ring;

  private final int maxRows;
  private int oldest;

  /** {@code rows <= writes <= maxRows}: each id in the table has an entry in the ring. */
  private int writes;

  private int rows;

  /** Only grows. */
  private long tmax;

  /**
   * @param maxRows how many writes are remembered
   * @param tmax commits at or below this are forgotten already
   */
  LastCommits(int maxRows, long tmax) {
    int mostRows = maxRows + 1; // while one comes and another goes
    int capacity = Integer.highestOneBit(mostRows + mostRows / 2) << 1;
    this.slots = new long[2 * capacity];
    this.mask = capacity - 1;
    this.shift = Long.numberOfLeadingZeros(mask);
    this.ring = new long[2 * maxRows];
    this.maxRows = maxRows;
    this.tmax = tmax;
  }

  /** The last commit timestamp of an id, or {@link #NEVER}. */
  long get(long id) {
    return timestampAt(slotOf(id));
  }

  /** Records a commit. Timestamps don't go back; the same id twice at one timestamp counts once. */
  void put(long id, long timestamp) {
    int slot = slotOf(id);
    long previous = timestampAt(slot);
    assert timestamp >= tmax && timestamp >= previous : "commits are recorded in order";
    if (previous == timestamp) {
      return;
    }
    if (previous == NEVER) {
      rows++;
    }
    set(slot, id, timestamp);
    remember(id, timestamp);
    assert rows <= writes && writes <= maxRows;
  }

  int rows() {
    return rows;
  }

  long tmax() {
    return tmax;
  }

  private void remember(long id, long timestamp) {
    if (writes == maxRows) {
      forgetOldest();
    }
    int end = oldest + writes < maxRows ? oldest + writes : oldest + writes - maxRows;
    ring[2 * end] = id;
    ring[2 * end + 1] = timestamp;
    writes++;
  }

  private void forgetOldest() {
    long timestamp = ring[2 * oldest + 1];
    int slot = slotOf(ring[2 * oldest]);
    if (timestampAt(slot) == timestamp) {
      free(slot);
      rows--;
      assert timestamp >= tmax;
      tmax = timestamp;
    }
    oldest = oldest + 1 == maxRows ? 0 : oldest + 1;
    writes--;
  }

  /** The slot that holds an id, or the free one where it belongs. */
  private int slotOf(long id) {
    int slot = home(id);
    while (slots[2 * slot + 1] != NEVER && slots[2 * slot] != id) {
      slot = following(slot);
    }
    return slot;
  }

  /** Frees a slot and closes the gap, so that every id is still reached from its home. */
  private void free(int slot) {
    int gap = slot;
    for (int i = following(gap); timestampAt(i) != NEVER; i = following(i)) {
      int distanceFromHome = (i - home(slots[2 * i])) & mask;
      int distanceFromGap = (i - gap) & mask;
      if (distanceFromHome >= distanceFromGap) {
        set(gap, slots[2 * i], timestampAt(i));
        gap = i;
      }
    }
    slots[2 * gap + 1] = NEVER;
  }

  private long timestampAt(int slot) {
    return slots[2 * slot + 1];
  }

  private void set(int slot, long id, long timestamp) {
    slots[2 * slot] = id;
    slots[2 * slot + 1] = timestamp;
  }

  private int home(long id) {
    return (int) ((id * SPREAD) >>> shift);
  }

  private int following(int slot) {
    return (slot + 1) & mask;
  }
}
