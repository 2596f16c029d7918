// SPDX-License-Identifier: Apache-2.0
package io.isolde.client.routing;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;

/**
 * Which node leads which token ranges of strong keyspaces, as far as answers have told. A range
 * belongs to a group for as long as its keyspace is there, so one answer from any range of a group
 * tells of a new leader for all ranges that are known. Thread-safe and bounded.
 *
 * @param <N> a node
 */
final class Leaders<N> {
  /** Of all keyspaces. At the bound all is forgotten, and learned again. */
  static final int MAX_RANGES = 10_000;

  private final Map<String, TreeMap<Long, Range>> rangesByEnd = new HashMap<>();
  private final Map<UUID, N> leaders = new HashMap<>();
  private int ranges;

  /**
   * A token range of a group.
   *
   * @param start it is above this token
   * @param end up to and with this one; around the ring if not greater than the start
   */
  record Range(UUID group, long start, long end) {
    boolean contains(long token) {
      return start < end ? token > start && token <= end : token > start || token <= end;
    }

    private boolean overlaps(Range other) {
      return contains(other.end) || other.contains(end);
    }
  }

  /** A node leads the group of a range. */
  synchronized void learn(String keyspace, Range range, N leader) {
    leaders.put(range.group, leader);
    TreeMap<Long, Range> known = rangesByEnd.computeIfAbsent(keyspace, name -> new TreeMap<>());
    if (range.equals(known.get(range.end))) {
      return;
    }
    if (ranges >= MAX_RANGES) {
      forgetAll();
      learn(keyspace, range, leader);
      return;
    }
    int before = known.size();
    known.values().removeIf(range::overlaps); // Of a keyspace of that name that was dropped.
    known.put(range.end, range);
    ranges += known.size() - before;
  }

  /** Returns the node that leads a token's group; empty if that is not known. */
  synchronized Optional<N> leader(String keyspace, long token) {
    return group(keyspace, token).map(leaders::get);
  }

  /** A node did not answer as the leader of a token's group. */
  synchronized void forget(String keyspace, long token, N leader) {
    group(keyspace, token).ifPresent(group -> leaders.remove(group, leader));
  }

  private Optional<UUID> group(String keyspace, long token) {
    TreeMap<Long, Range> known = rangesByEnd.get(keyspace);
    if (known == null) {
      return Optional.empty();
    }
    Map.Entry<Long, Range> next = known.ceilingEntry(token);
    Range range = (next == null ? known.firstEntry() : next).getValue();
    return range.contains(token) ? Optional.of(range.group) : Optional.empty();
  }

  private void forgetAll() {
    rangesByEnd.clear();
    leaders.clear();
    ranges = 0;
  }
}
