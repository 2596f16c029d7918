// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.notifications;

import java.util.ArrayList;
import java.util.List;

/** What writers did: the ids of their commits, and how many more there may be. */
final class CommitLog {
  /**
   * What it has after some time.
   *
   * @param ids of commits that were acknowledged, ascending
   * @param doubtful how many may have been committed without an answer
   */
  record Written(List<Long> ids, int doubtful) {}

  private final List<Long> ids = new ArrayList<>();
  private int doubtful;

  /**
   * A commit was acknowledged, and no other one was under way.
   *
   * @throws IllegalStateException if it is not after the one before, so that there is no order
   */
  synchronized void committed(long id) {
    if (!ids.isEmpty() && id <= ids.get(ids.size() - 1)) {
      throw new IllegalStateException(
          "The commit %d was acknowledged after %d.".formatted(id, ids.get(ids.size() - 1)));
    }
    ids.add(id);
  }

  /** One of several commits that were under way at the same time was acknowledged. */
  synchronized void committedAmongOthers(long id) {
    ids.add(id);
  }

  /** A commit had no answer. */
  synchronized void doubtful() {
    doubtful++;
  }

  synchronized Written written() {
    return new Written(ids.stream().sorted().toList(), doubtful);
  }
}
