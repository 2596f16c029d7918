// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.group;

/**
 * When the next log entry may be proposed. An entry costs the members far more than an item in it,
 * so entries should be large; but an item that waits for the entry before waits twice as long.
 * Pure.
 */
public interface Pace {
  /**
   * Whether an entry may go now.
   *
   * @param underWay entries that are
   * @param waiting items that wait for it
   * @param lastSize items in the entry before
   */
  boolean mayPropose(int underWay, int waiting, int lastSize);

  /** The next one goes at once while not more than so many are under way with it. */
  static Pace atOnce(int maxUnderWay) {
    return (underWay, waiting, lastSize) -> underWay < maxUnderWay;
  }

  /**
   * While entries are under way the next one waits until it is as large as the last: with few
   * requests in flight several small entries are under way, with many there are few large ones.
   */
  static Pace asLargeAsTheLast(int maxUnderWay) {
    return (underWay, waiting, lastSize) ->
        underWay == 0 || (underWay < maxUnderWay && waiting >= lastSize);
  }
}
