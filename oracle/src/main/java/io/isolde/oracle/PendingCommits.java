// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle;

import java.util.TreeSet;

/** The commits that are decided but not yet applied. They are applied in any order. */
final class PendingCommits {
  /** At most {@code maxPending}; added in ascending order. */
  private final TreeSet<Long> timestamps = new TreeSet<>();

  private final int maxPending;

  PendingCommits(int maxPending) {
    this.maxPending = maxPending;
  }

  void add(long commitTimestamp) {
    assert !isFull() : "a commit is refused before it exceeds the bound";
    assert isEmpty() || commitTimestamp > timestamps.last() : "commits are decided in order";
    timestamps.add(commitTimestamp);
  }

  void remove(long commitTimestamp) {
    if (!timestamps.remove(commitTimestamp)) {
      throw new IllegalArgumentException(
          "No commit with timestamp " + commitTimestamp + " waits for being applied.");
    }
  }

  boolean isFull() {
    return timestamps.size() >= maxPending;
  }

  boolean isEmpty() {
    return timestamps.isEmpty();
  }

  long smallest() {
    return timestamps.first();
  }

  int size() {
    return timestamps.size();
  }
}
