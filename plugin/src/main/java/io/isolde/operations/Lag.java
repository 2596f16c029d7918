// SPDX-License-Identifier: Apache-2.0
package io.isolde.operations;

/**
 * For how long the newest snapshot has not reached a timestamp that is in use. Without commits both
 * stand still, so the clock alone does not tell. Thread-safe; as exact as it is looked at often.
 */
final class Lag {
  /** What was the newest timestamp when the snapshot had reached the one before. */
  private long awaited;

  private long sinceMillis;

  /**
   * Returns the milliseconds.
   *
   * @param stable the newest snapshot
   * @param last the newest timestamp in use
   */
  synchronized long look(long nowMillis, long stable, long last) {
    if (stable >= awaited) {
      awaited = last;
      sinceMillis = nowMillis;
    }
    return stable >= awaited ? 0 : nowMillis - sinceMillis;
  }
}
