// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/**
 * The bounds of a {@link StatusOracle}.
 *
 * @param maxRows for how many ids the last commit is remembered. Default: 1 000 000. Too small:
 *     long transactions are aborted as {@link Conflict.Kind#FORGOTTEN}. They lie in buckets of
 *     seven, which fill unevenly: if a quarter as many are written while a transaction runs, one id
 *     in 2000 that it reads is forgotten; if half, one in 40. Coarse ids count, too. Too big: 18
 *     bytes each, allocated at the start, and slower as it outgrows the processor's caches. There
 *     are more than asked for, up to twice as many: the number of buckets is a power of two.
 * @param maxPendingCommits how many commits may be decided but not yet applied. Default: 10 000.
 *     Too small: commits are {@linkplain Refusal#TOO_MANY_PENDING refused} at peaks. Too big: when
 *     replicas are slow, new snapshots fall behind instead of writers being told.
 * @param maxOutcomes how many decisions are kept, so that a repeated request gets the same answer.
 *     Default: 250 000. Too small: at a high rate a client that lost its answer can't learn it. Too
 *     big: 50 to 70 bytes each, allocated at the start, and as many more for an abort.
 * @param retentionMicros how far behind the newest timestamp the low watermark stays although
 *     nobody is open there, in microseconds. It is for readers of the past that are yet to come.
 *     Default: 0. Too small: they find nothing. Too big: replicas keep old versions for longer.
 * @param outcomeRetentionMicros for how long they are kept at most, in microseconds. Default: 5
 *     minutes. Too small: as for {@code maxOutcomes}, at any rate. Too big: no harm, the count
 *     bounds it.
 */
public record OracleConfig(
    int maxRows,
    int maxPendingCommits,
    int maxOutcomes,
    long outcomeRetentionMicros,
    long retentionMicros) {

  /** The largest tables that a Java array can hold, as a round number. */
  private static final int MAX_TABLE = 1 << 28;

  private static final OracleConfig DEFAULTS =
      new OracleConfig(1_000_000, 10_000, 250_000, 300_000_000L, 0);

  public OracleConfig {
    requireAtLeastOne("maxRows", maxRows);
    requireAtLeastOne("maxPendingCommits", maxPendingCommits);
    requireAtLeastOne("maxOutcomes", maxOutcomes);
    requireAtLeastOne("outcomeRetentionMicros", outcomeRetentionMicros);
    if (retentionMicros < 0) {
      throw new IllegalArgumentException(
          "The option retentionMicros is " + retentionMicros + ", but it must not be negative.");
    }
    requireFits("maxRows", maxRows);
    requireFits("maxOutcomes", maxOutcomes);
  }

  private static void requireFits(String option, int value) {
    if (value > MAX_TABLE) {
      throw new IllegalArgumentException(
          "The option " + option + " is " + value + ", but at most " + MAX_TABLE + " fit.");
    }
  }

  private static void requireAtLeastOne(String option, long value) {
    if (value < 1) {
      throw new IllegalArgumentException(
          "The option " + option + " is " + value + ", but it must be at least 1.");
    }
  }

  public static OracleConfig defaults() {
    return DEFAULTS;
  }

  public OracleConfig withMaxRows(int rows) {
    return new OracleConfig(
        rows, maxPendingCommits, maxOutcomes, outcomeRetentionMicros, retentionMicros);
  }

  public OracleConfig withMaxPendingCommits(int commits) {
    return new OracleConfig(maxRows, commits, maxOutcomes, outcomeRetentionMicros, retentionMicros);
  }

  public OracleConfig withMaxOutcomes(int outcomes) {
    return new OracleConfig(
        maxRows, maxPendingCommits, outcomes, outcomeRetentionMicros, retentionMicros);
  }

  public OracleConfig withOutcomeRetentionMicros(long micros) {
    return new OracleConfig(maxRows, maxPendingCommits, maxOutcomes, micros, retentionMicros);
  }

  public OracleConfig withRetentionMicros(long micros) {
    return new OracleConfig(
        maxRows, maxPendingCommits, maxOutcomes, outcomeRetentionMicros, micros);
  }

  void writeTo(DataOutput out) throws IOException {
    out.writeInt(maxRows);
    out.writeInt(maxPendingCommits);
    out.writeInt(maxOutcomes);
    out.writeLong(outcomeRetentionMicros);
    out.writeLong(retentionMicros);
  }

  static OracleConfig readFrom(DataInput in) throws IOException {
    return new OracleConfig(in.readInt(), in.readInt(), in.readInt(), in.readLong(), in.readLong());
  }
}
