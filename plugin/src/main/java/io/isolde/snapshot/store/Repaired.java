// SPDX-License-Identifier: Apache-2.0
package io.isolde.snapshot.store;

/**
 * When SSTables of snapshots were repaired, or rather, why an incremental repair passes them by.
 */
final class Repaired {
  /**
   * Cassandra's time of the last repair, in milliseconds. Any above 0 will do: an incremental
   * repair splits and rewrites only what no repair has seen, and rewriting drops what has expired.
   */
  static final long AT_MILLIS = 1;

  private Repaired() {}
}
