// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import java.util.TreeMap;

/**
 * How far back a coordinator's transactions read. One that is being begun counts with what was
 * stable when it asked, since its start timestamp is not below that. Thread-safe.
 */
final class OpenStarts {
  private final TreeMap<Long, Integer> countByStart = new TreeMap<>();

  /** Only grows. */
  private long stable;

  /** A snapshot that was heard of. */
  synchronized void heard(long stableMicros) {
    stable = Math.max(stable, stableMicros);
  }

  /** The newest snapshot that was heard of. */
  synchronized long newest() {
    return stable;
  }

  /** A transaction asks for its start; returns what to {@link #close} or {@link #replace}. */
  synchronized long asking() {
    add(stable);
    return stable;
  }

  /** The transaction that asked got its start. */
  synchronized void replace(long asked, long start) {
    assert start >= asked : "a start timestamp is not below what was stable when it was asked for";
    close(asked);
    add(start);
    heard(start);
  }

  synchronized void add(long start) {
    countByStart.merge(start, 1, Integer::sum);
  }

  synchronized void close(long start) {
    countByStart.computeIfPresent(start, (key, count) -> count == 1 ? null : count - 1);
  }

  /** The oldest of all; what was heard last if there is none. */
  synchronized long oldest() {
    return countByStart.isEmpty() ? stable : countByStart.firstKey();
  }
}
