// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledFuture;

/** A watch that {@link Changes} has yet to answer. Guarded by that. */
final class WaitingWatch {
  /** It may be ahead of this member. */
  final long after;

  final Set<Long> ids;
  final CompletableFuture<Changes.Notification> answer = new CompletableFuture<>();
  final List<Long> commits = new ArrayList<>(1);
  ScheduledFuture<?> timeout;

  WaitingWatch(long after, Set<Long> ids) {
    this.after = after;
    this.ids = ids;
  }

  void add(long commitTimestamp) {
    boolean isLast = !commits.isEmpty() && commits.get(commits.size() - 1) == commitTimestamp;
    if (!isLast && commits.size() < Changes.MAX_NOTIFIED) {
      commits.add(commitTimestamp);
    }
  }

  /** Notification that there is nothing yet, or what was found. */
  Changes.Notification notification(long position) {
    return Changes.notification(commits, Math.max(after, position));
  }
}
