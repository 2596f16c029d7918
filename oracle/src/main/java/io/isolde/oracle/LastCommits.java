// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/**
 * The last commit timestamp of each id, in bounded memory. Appendix A keeps one Tmax, the largest
 * timestamp forgotten, for all that falls out. Here every bucket has its own: an id that is not
 * found was last committed at or below the Tmax of its bucket. That is strictly finer, as no
 * bucket's Tmax is above the one that Appendix A would have: fewer transactions are aborted in
 * vain, and still no conflict is missed.
 *
 * <p>All memory is allocated at the start and no operation allocates any. An operation touches one
 * bucket, which is two cache lines, and a look-up of an unknown id only the first of them.
 */
/*
 * Bucket, from its index on: its Tmax, 7 ids, a long that is not used, 7 timestamps. A slot is known
 * by the index of its id. The newest comes first, and the last falls out, so nothing needs to be
 * searched for; free slots, which have timestamp NEVER, are behind all others. Therefore an id that
 * equals what lies in free slots is found in a free slot only if it is in no other.
 *
 * The Tmax of a bucket is never above a timestamp that it still holds.
 */
final class LastCommits {
  /** No commit is known. Also marks a free slot; commit timestamps are positive. */
  static final long NEVER = 0;

  static final int SLOTS_PER_BUCKET = 7;

  /** From a slot's id to its timestamp. */
  private static final int TIMESTAMP = SLOTS_PER_BUCKET + 1;

  private static final int BUCKET_LONGS = 2 * TIMESTAMP;
  private static final int BUCKET_BITS = Integer.numberOfTrailingZeros(BUCKET_LONGS);

  /**
   * An array begins with a header of two longs; after as many more as fill a cache line, buckets
   * begin where lines do, if the JVM lets large arrays begin there.
   */
  private static final int FIRST_BUCKET = 6;

  private static final int NOT_FOUND = -1;

  /** 2^64 divided by the golden ratio: spreads ids that are not hashes (Fibonacci hashing). */
  private static final long SPREAD = 0x9E3779B97F4A7C15L;

  private final long[] table;
  private final int shift;

  /** Slots taken. */
  private int rows;

  /** The largest Tmax of all buckets. Only grows. */
  private long tmax;

  /** Says nothing. Without a place for what it read, {@link #fetch} would be optimised away. */
  @SuppressWarnings("UnusedVariable")
  private long fetched;

  /**
   * @param maxRows slots; rounded up until the number of buckets is a power of two
   * @param tmax commits at or below this are forgotten already
   */
  LastCommits(int maxRows, long tmax) {
    int bucketBits = bucketBits(maxRows);
    this.table = new long[FIRST_BUCKET + (BUCKET_LONGS << bucketBits)];
    this.shift = Long.SIZE - bucketBits;
    this.tmax = tmax;
    if (tmax != NEVER) {
      for (int bucket = FIRST_BUCKET; bucket < table.length; bucket += BUCKET_LONGS) {
        table[bucket] = tmax;
      }
    }
  }

  private LastCommits(long[] table, int shift, int rows, long tmax) {
    this.table = table;
    this.shift = shift;
    this.rows = rows;
    this.tmax = tmax;
  }

  private static int bucketBits(int maxRows) {
    int buckets = (maxRows - 1) / SLOTS_PER_BUCKET + 1;
    return Integer.SIZE - Integer.numberOfLeadingZeros(buckets - 1);
  }

  /** The last commit timestamp of an id; if it is forgotten, an upper bound of it. */
  long atMost(long id) {
    int bucket = bucketOf(id);
    int slot = find(bucket, id);
    return slot == NOT_FOUND ? table[bucket] : Math.max(table[bucket], table[slot + TIMESTAMP]);
  }

  /** The last commit timestamp of an id, or {@link #NEVER}. */
  long get(long id) {
    int slot = find(bucketOf(id), id);
    return slot == NOT_FOUND ? NEVER : table[slot + TIMESTAMP];
  }

  /**
   * To be called with ids that will be looked up or put next. It only reads, from one bucket after
   * the other and without a branch, so that the processor fetches all of them at the same time;
   * otherwise it would wait for each. With 20 ids a commit takes a third less time.
   */
  void fetch(long[] ids) {
    long sum = 0;
    for (long id : ids) {
      int bucket = bucketOf(id);
      sum += table[bucket] + table[bucket + BUCKET_LONGS - 1];
    }
    fetched = sum;
  }

  /** Records a commit. Timestamps don't go back. */
  void put(long id, long timestamp) {
    int bucket = bucketOf(id);
    int newest = bucket + 1;
    int found = find(bucket, id);
    int slot = found == NOT_FOUND ? bucket + SLOTS_PER_BUCKET : found;
    assert timestamp >= table[newest + TIMESTAMP] : "commits are recorded in order";
    if (table[slot + TIMESTAMP] == NEVER) {
      rows++;
    } else if (found == NOT_FOUND) {
      forget(bucket, table[slot + TIMESTAMP]);
    }
    for (int i = slot; i > newest; i--) {
      table[i] = table[i - 1];
      table[i + TIMESTAMP] = table[i - 1 + TIMESTAMP];
    }
    table[newest] = id;
    table[newest + TIMESTAMP] = timestamp;
  }

  private void forget(int bucket, long timestamp) {
    assert timestamp >= table[bucket] : "the Tmax of a bucket only grows";
    table[bucket] = timestamp;
    tmax = Math.max(tmax, timestamp);
  }

  int rows() {
    return rows;
  }

  /** The largest timestamp forgotten. */
  long tmax() {
    return tmax;
  }

  LastCommits copy() {
    return new LastCommits(table.clone(), shift, rows, tmax);
  }

  void writeTo(DataOutput out) throws IOException {
    out.writeInt(rows);
    out.writeLong(tmax);
    LongArrays.write(table, FIRST_BUCKET, table.length - FIRST_BUCKET, out);
  }

  /**
   * @param maxRows as it was when this was written
   */
  static LastCommits readFrom(int maxRows, DataInput in) throws IOException {
    int rows = in.readInt();
    long tmax = in.readLong();
    LastCommits empty = new LastCommits(maxRows, NEVER);
    LongArrays.read(empty.table, FIRST_BUCKET, empty.table.length - FIRST_BUCKET, in);
    return new LastCommits(empty.table, empty.shift, rows, tmax);
  }

  /** The slot of an id in its bucket; perhaps a free one if there is none. */
  private int find(int bucket, long id) {
    for (int slot = bucket + 1; slot <= bucket + SLOTS_PER_BUCKET; slot++) {
      if (table[slot] == id) {
        return slot;
      }
    }
    return NOT_FOUND;
  }

  private int bucketOf(long id) {
    // A single bucket has 0 bits: a shift by 64 would be none.
    int number = (int) ((id * SPREAD) >>> 1 >>> (shift - 1));
    return FIRST_BUCKET + (number << BUCKET_BITS);
  }
}
