// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.replica;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Which commits have waited for too long to be applied, and so are to be in doubt. Only the leader
 * knows; it is not replicated, and a new leader gives every commit the whole time again, unless it
 * is told to {@linkplain #hasten hurry}.
 *
 * <p>Times are milliseconds of a clock that only goes forward.
 */
public final class OverdueCommits {
  /** Within the time that a commit may take. */
  private static final int MOMENTS = 16;

  /** Commits up to {@code last} were decided by then. */
  private record Moment(long atMillis, long last) {}

  private final long overdueMillis;
  private final Deque<Moment> moments = new ArrayDeque<>();

  /** When the log was asked to set a commit aside. Bounded as the commits in doubt. */
  private final Map<Long, Long> askedAtMillis = new HashMap<>();

  private long lastLookMillis;

  /** Commits up to here are overdue if they are pending. Only grows. */
  private long overdueUpTo = -1;

  /**
   * @param overdueMillis how long a commit may take to be applied before it is in doubt
   */
  public OverdueCommits(long overdueMillis, long nowMillis) {
    this.overdueMillis = overdueMillis;
    this.lastLookMillis = nowMillis;
  }

  /**
   * What the log is to be asked for now. To be called several times within the time that a commit
   * may take: a leader that was away for longer can't tell what was applied meanwhile.
   *
   * @return commit timestamps, the oldest first
   */
  public List<Long> due(OracleReplica replica, long nowMillis) {
    look(replica.last(), nowMillis);
    List<Long> overdue = replica.overdue(overdueUpTo);
    askedAtMillis.keySet().retainAll(overdue);
    List<Long> due = new ArrayList<>(0);
    for (long commitTimestamp : overdue) {
      Long asked = askedAtMillis.get(commitTimestamp);
      if (asked == null || nowMillis - asked >= overdueMillis) {
        askedAtMillis.put(commitTimestamp, nowMillis);
        due.add(commitTimestamp);
      }
    }
    return due;
  }

  /** Nothing up to here need be waited for any longer. */
  public void hasten(long upToMicros) {
    overdueUpTo = Math.max(overdueUpTo, upToMicros);
  }

  private void look(long last, long nowMillis) {
    if (nowMillis - lastLookMillis > overdueMillis / 2) {
      moments.clear();
    }
    lastLookMillis = nowMillis;
    if (moments.isEmpty() || nowMillis - moments.getLast().atMillis >= overdueMillis / MOMENTS) {
      moments.add(new Moment(nowMillis, last));
    }
    while (!moments.isEmpty() && nowMillis - moments.getFirst().atMillis >= overdueMillis) {
      hasten(moments.remove().last);
    }
  }
}
