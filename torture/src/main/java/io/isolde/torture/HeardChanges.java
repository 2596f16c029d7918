// SPDX-License-Identifier: Apache-2.0
package io.isolde.torture;

import io.isolde.client.WatchListener;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** What a watch of some rows has reported, and what it must have reported. */
final class HeardChanges implements WatchListener {
  private final Set<Integer> rows;
  private final long after;
  private final List<Long> heard = new ArrayList<>();
  private final List<String> failures = new ArrayList<>();

  /**
   * Nothing yet.
   *
   * @param rows that are watched
   * @param after where the watch starts
   */
  HeardChanges(Set<Integer> rows, long after) {
    this.rows = rows;
    this.after = after;
  }

  @Override
  public synchronized void changed(long commitTimestamp) {
    heard.add(commitTimestamp);
  }

  @Override
  public synchronized void lost(long position) {
    failures.add("A watch of %s lost track at %d.".formatted(rows, position));
  }

  @Override
  public synchronized void failed(Throwable error) {
    failures.add("A watch of %s ended: %s".formatted(rows, error));
  }

  /**
   * What must not be: each commit is reported once and in order, and no other.
   *
   * @param commits the rows that each has written, by its timestamp, in order
   */
  synchronized List<String> violations(Map<Long, Set<Integer>> commits) {
    List<Long> expected =
        commits.entrySet().stream()
            .filter(commit -> commit.getKey() > after)
            .filter(commit -> commit.getValue().stream().anyMatch(rows::contains))
            .map(Map.Entry::getKey)
            .toList();
    List<String> violations = new ArrayList<>(failures);
    if (!heard.equals(expected)) {
      List<Long> missed = new ArrayList<>(expected);
      missed.removeAll(heard);
      List<Long> others = new ArrayList<>(heard);
      expected.forEach(others::remove);
      violations.add(
          "A watch of %s heard of %d commits, not of these %d: missed %s, beside or doubled %s%s"
              .formatted(
                  rows,
                  heard.size(),
                  expected.size(),
                  missed,
                  others,
                  missed.isEmpty() && others.isEmpty() ? ", in another order" : ""));
    }
    return violations;
  }
}
