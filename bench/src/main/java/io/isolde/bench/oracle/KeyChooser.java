// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.oracle;

import io.isolde.oracle.CommitRequest;
import io.isolde.oracle.IsolationLevel;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.function.LongSupplier;

/** Chooses rows out of 20 million, as hashes, like those that the oracle gets. */
public final class KeyChooser {
  static final int KEYS = 20_000_000;

  /** That of YCSB. */
  private static final double ZIPFIAN_CONSTANT = 0.99;

  private static final ThreadLocal<KeyChooser> OF_THREAD =
      ThreadLocal.withInitial(() -> uniform(new SplittableRandom()));

  private final LongSupplier keys;

  private KeyChooser(LongSupplier keys) {
    this.keys = keys;
  }

  /** As {@link #uniform}, for the one thread that asks. */
  public static KeyChooser uniformOfThisThread() {
    return OF_THREAD.get();
  }

  /** All with the same probability. */
  public static KeyChooser uniform(SplittableRandom random) {
    return new KeyChooser(() -> random.nextLong(KEYS));
  }

  /**
   * A few again and again: the scrambled Zipfian distribution of YCSB, after J. Gray et al.,
   * "Quickly Generating Billion-Record Synthetic Databases", SIGMOD 1994. The hash scrambles.
   */
  public static KeyChooser zipfian(SplittableRandom random) {
    return new KeyChooser(() -> zipfianRank(random));
  }

  /** Popular are those that are near the newest, as in YCSB's distribution "latest". */
  static KeyChooser latest(SplittableRandom random, LongSupplier newest) {
    return new KeyChooser(() -> Math.floorMod(newest.getAsLong() - zipfianRank(random), KEYS));
  }

  /** What takes a second to compute, once. */
  private static final class Zeta {
    private static final double OF_ALL = zeta(KEYS);
    private static final double OF_TWO = zeta(2);
    private static final double ALPHA = 1 / (1 - ZIPFIAN_CONSTANT);
    private static final double ETA =
        (1 - Math.pow(2.0 / KEYS, 1 - ZIPFIAN_CONSTANT)) / (1 - OF_TWO / OF_ALL);

    private Zeta() {}
  }

  private static long zipfianRank(SplittableRandom random) {
    double u = random.nextDouble();
    if (u * Zeta.OF_ALL < Zeta.OF_TWO) {
      return u * Zeta.OF_ALL < 1 ? 0 : 1;
    }
    return (long) (KEYS * Math.pow(Zeta.ETA * u - Zeta.ETA + 1, Zeta.ALPHA));
  }

  private static double zeta(int n) {
    double sum = 0;
    for (int i = 1; i <= n; i++) {
      sum += Math.pow(i, -ZIPFIAN_CONSTANT);
    }
    return sum;
  }

  /** A row, as a hash. */
  public long next() {
    return hash(keys.getAsLong());
  }

  void fill(long[] hashes) {
    Arrays.setAll(hashes, i -> next());
  }

  /** A transaction that read some rows and wrote others. */
  public CommitRequest request(IsolationLevel level, long start, int rowsRead, int rowsWritten) {
    long[] reads = new long[rowsRead];
    long[] writes = new long[rowsWritten];
    fill(reads);
    fill(writes);
    return new CommitRequest(new UUID(next(), next()), level, start, reads, writes, writes);
  }

  /** The finalizer of SplitMix64: different for different numbers. */
  static long hash(long number) {
    long mixed = (number ^ (number >>> 30)) * 0xBF58476D1CE4E5B9L;
    mixed = (mixed ^ (mixed >>> 27)) * 0x94D049BB133111EBL;
    return mixed ^ (mixed >>> 31);
  }
}
