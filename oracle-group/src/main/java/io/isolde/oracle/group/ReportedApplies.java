// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Commits that a coordinator has told to be applied, for as long as the log may not know it: a
 * leader that comes before that has to be told again. Thread-safe.
 */
final class ReportedApplies {
  /**
   * Several renewals' worth of all that one coordinator can commit. About, if many come at once.
   */
  static final int MOST = 1 << 15;

  private static final int ASK_EACH = 1 << 10;

  private final Set<Long> commits = ConcurrentHashMap.newKeySet();

  /**
   * Keeps one.
   *
   * @param whenHalfFull called now and then once there are many: time to ask which of them the log
   *     knows
   * @return false if there are too many, so that the log must know it before anything else
   */
  boolean add(long commitTimestamp, Runnable whenHalfFull) {
    int size = commits.size();
    if (size < MOST && commits.add(commitTimestamp) && size >= MOST / 2 && size % ASK_EACH == 0) {
      whenHalfFull.run();
    }
    return size < MOST || commits.contains(commitTimestamp);
  }

  /** What a leader must know. */
  List<Long> all() {
    return List.copyOf(commits);
  }

  /**
   * A leader was told.
   *
   * @param some of {@link #all}
   * @param unlogged those of them of which the log does not know it yet
   */
  void heard(List<Long> some, List<Long> unlogged) {
    Set<Long> logged = new HashSet<>(some);
    unlogged.forEach(logged::remove);
    commits.removeAll(logged);
  }
}
