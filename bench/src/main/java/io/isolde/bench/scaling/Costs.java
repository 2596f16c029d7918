// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.scaling;

/**
 * What a member of the oracle pays, in microseconds of one core.
 *
 * @param entry for an entry of the log, without what is in it
 * @param commit for a commit of {@link #ROWS} rows without writes, until it is applied
 * @param row for each further row
 * @param kibibyte for each KiB of writes that come with a commit
 * @param begin for a start timestamp
 */
record Costs(double entry, double commit, double row, double kibibyte, double begin) {
  static final int ROWS = 10;

  /** Returns what commits cost without their entries. */
  double ofCommit(int rows, int bytes) {
    return Math.max(0, commit + (rows - ROWS) * row) + bytes / 1024.0 * kibibyte;
  }
}
