// SPDX-License-Identifier: Apache-2.0
package io.isolde.notification;

import java.util.ArrayList;
import java.util.List;

/** The commits of a simulated cluster, in their order; it forgets the old ones. */
final class SimulatedOracle {
  record Commit(long timestamp, int key) {}

  static final int KEYS = 6;
  private static final int REMEMBERED = 150;

  private final List<Commit> commits = new ArrayList<>();

  long commit(int key) {
    long timestamp = 2 * (commits.size() + 1L);
    commits.add(new Commit(timestamp, key));
    return timestamp;
  }

  long last() {
    return 2L * commits.size();
  }

  /** Nothing is known of what was at or before. */
  long coversFrom() {
    return Math.max(0, 2L * (commits.size() - REMEMBERED));
  }

  List<Long> of(int key, long after, long upTo) {
    List<Long> found = new ArrayList<>();
    for (long i = after / 2; i < Math.min(upTo / 2, commits.size()); i++) {
      Commit commit = commits.get((int) i);
      if (commit.key == key) {
        found.add(commit.timestamp);
      }
    }
    return found;
  }
}
