// SPDX-License-Identifier: Apache-2.0
package io.isolde.client.routing;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Which node leads which token ranges of strong keyspaces, as far as answers say. A range belongs
 * to a group for as long as its keyspace is there. So one answer from any range of a group tells of
 * a new leader for all of its ranges. Thread-safe and bounded; who asks never waits.
 *
 * @param <N> a node
 */
final class Leaders<N> {
  /** Of all keyspaces. At the bound all is forgotten, and learned again. */
  static final int MAX_RANGES = 10_000;

  private static final Comparator<Range> BY_END = Comparator.comparingLong(Range::end);

  /** Replaced as a whole by who learns, who holds the monitor. Sorted by their ends. */
  private volatile Map<String, Range[]> ranges = Map.of();

  private final Map<UUID, N> leaders = new ConcurrentHashMap<>();

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

  /** Whether anything is known of a keyspace. */
  boolean knows(String keyspace) {
    return ranges.containsKey(keyspace);
  }

  /** A node leads the group of a range. */
  void learn(String keyspace, Range range, N leader) {
    if (!range.equals(find(keyspace, range.end))) {
      add(keyspace, range);
    }
    leaders.put(range.group, leader);
  }

  private synchronized void add(String keyspace, Range range) {
    Map<String, Range[]> all = new HashMap<>(ranges);
    if (all.values().stream().mapToInt(known -> known.length).sum() >= MAX_RANGES) {
      all.clear();
      leaders.clear();
    }
    List<Range> known = new ArrayList<>(List.of(all.getOrDefault(keyspace, new Range[0])));
    List<Range> gone = known.stream().filter(range::overlaps).toList();
    known.removeAll(gone); // Of a keyspace of that name that was dropped.
    for (Range old : gone) {
      if (known.stream().noneMatch(kept -> kept.group.equals(old.group))) {
        leaders.remove(old.group);
      }
    }
    known.add(range);
    known.sort(BY_END);
    all.put(keyspace, known.toArray(Range[]::new));
    ranges = all;
  }

  /** Returns the node that leads a token's group; empty if that is not known. */
  Optional<N> leader(String keyspace, long token) {
    return Optional.ofNullable(find(keyspace, token)).map(range -> leaders.get(range.group));
  }

  /** A node is perhaps not the leader of a token's group, if it was taken for that. */
  void doubt(String keyspace, long token, N leader) {
    Range range = find(keyspace, token);
    if (range != null) {
      leaders.remove(range.group, leader);
    }
  }

  /** Returns null if there is none. */
  private Range find(String keyspace, long token) {
    Range[] known = ranges.get(keyspace);
    if (known == null) {
      return null;
    }
    int at = Arrays.binarySearch(known, new Range(null, token, token), BY_END);
    int next = at >= 0 ? at : -at - 1;
    Range range = known[next == known.length ? 0 : next];
    return range.contains(token) ? range : null;
  }
}
