// SPDX-License-Identifier: Apache-2.0
package io.isolde.client;

/**
 * Hears what a {@link Watch} reports. One call comes after the other has returned; while one runs,
 * nothing more is asked for.
 */
public interface WatchListener {
  /**
   * A commit has changed what is watched, or may have. It comes once for each commit, in the order
   * of the commits. Whoever reads now, reads what the commit has written, or something newer.
   *
   * @param commitTimestamp in microseconds on the oracle's scale
   */
  void changed(long commitTimestamp);

  /**
   * There may have been changes which nobody knows any more: the watch was away for too long, or
   * the table was truncated. What is watched has to be read anew; later changes are reported as
   * before.
   *
   * @param position what was lost was committed at or before this timestamp (microseconds)
   */
  void lost(long position);

  /**
   * The watch has ended: the statement is refused, or one of the calls above has thrown. Another
   * watch after {@link Watch#position} goes on where this one has ended.
   */
  default void failed(Throwable error) {}
}
