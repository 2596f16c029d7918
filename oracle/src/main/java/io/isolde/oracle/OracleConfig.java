// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle;

/**
 * The bounds of a {@link StatusOracle}.
 *
 * @param maxRows how many of the last writes are remembered. Default: 1 000 000. Too small: long
 *     transactions are aborted as {@link Conflict.Kind#FORGOTTEN}; it should cover what is written
 *     during the longest transaction, coarse ids included. Too big: 40 to 64 bytes each, allocated
 *     at the start, and slower as it outgrows the processor's caches.
 * @param maxPendingCommits how many commits may be decided but not yet applied. Default: 10 000.
 *     Too small: commits are {@linkplain Refusal#TOO_MANY_PENDING refused} at peaks. Too big: when
 *     replicas are slow, new snapshots fall behind instead of writers being told.
 * @param maxOutcomes how many decisions are kept, so that a repeated request gets the same answer.
 *     Default: 250 000. Too small: at a high rate a client that lost its answer can't learn it. Too
 *     big: about 150 bytes each.
 * @param retentionMicros how far behind the newest timestamp the low watermark stays although
 *     nobody is open there, in microseconds, for readers of the past that are yet to come. Default:
 *     0. Too small: they find nothing. Too big: replicas keep old versions for longer.
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

  /** The largest table whose slots a Java array can hold. */
  private static final int LARGEST_MAX_ROWS = 1 << 28;

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
    if (maxRows > LARGEST_MAX_ROWS) {
      throw new IllegalArgumentException(
          "The option maxRows is " + maxRows + ", but at most " + LARGEST_MAX_ROWS + " rows fit.");
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
}
