// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import io.isolde.oracle.replica.RecentChanges;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Those that {@link Changes} has yet to answer, and what they watch. Guarded by that. */
final class WaitingWatches {
  private static final int MAX_WAITING = 100_000;
  private static final int MAX_WATCHED_IDS = 1 << 20;

  private final Set<WaitingWatch> all = new LinkedHashSet<>();
  private final Map<Long, Set<WaitingWatch>> byId = new HashMap<>();
  private int watchedIds;

  boolean isEmpty() {
    return all.isEmpty();
  }

  int size() {
    return all.size();
  }

  boolean contains(WaitingWatch waiter) {
    return all.contains(waiter);
  }

  List<WaitingWatch> all() {
    return List.copyOf(all);
  }

  boolean hasRoomFor(WaitingWatch waiter) {
    return all.size() < MAX_WAITING && watchedIds + waiter.ids.size() <= MAX_WATCHED_IDS;
  }

  void add(WaitingWatch waiter) {
    all.add(waiter);
    watchedIds += waiter.ids.size();
    waiter.ids.forEach(id -> byId.computeIfAbsent(id, key -> new HashSet<>(2)).add(waiter));
  }

  void remove(WaitingWatch waiter) {
    if (!all.remove(waiter)) {
      return;
    }
    watchedIds -= waiter.ids.size();
    for (long id : waiter.ids) {
      byId.computeIfPresent(
          id,
          (key, watching) -> {
            watching.remove(waiter);
            return watching.isEmpty() ? null : watching;
          });
    }
    waiter.timeout.cancel(false);
  }

  /** Whether somebody watches an id. */
  boolean areOf(long id) {
    return byId.containsKey(id);
  }

  /** Those that watch one of some changes, which are noted with them. */
  Set<WaitingWatch> watching(List<RecentChanges.Change> changes) {
    Set<WaitingWatch> woken = new LinkedHashSet<>();
    for (RecentChanges.Change change : changes) {
      for (long id : change.ids()) {
        for (WaitingWatch waiter : byId.getOrDefault(id, Set.of())) {
          if (change.commitTimestamp() > waiter.after) {
            waiter.add(change.commitTimestamp());
            woken.add(waiter);
          }
        }
      }
    }
    return woken;
  }

  @Override
  public String toString() {
    return all.size() + " watches of " + watchedIds + " rows";
  }
}
