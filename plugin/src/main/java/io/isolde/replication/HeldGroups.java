// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;

/**
 * Of which groups this node has to keep the rows, whatever the layout says: it can be older than
 * what the group's leader has decided, and a cleanup that went by it would delete a voter's rows.
 * Static, as Cassandra makes replication strategies by itself.
 */
final class HeldGroups {
  private static final Set<UUID> emptied = ConcurrentHashMap.newKeySet();

  /** Until it is known which there are: all. */
  private static volatile Predicate<UUID> isHere = group -> true;

  private HeldGroups() {}

  /** Says from now on whether this node has a log of a group, or is to have one. */
  static void are(Predicate<UUID> groups) {
    isHere = groups;
  }

  static boolean isHeld(UUID group, boolean isInLayout) {
    return (isInLayout || isHere.test(group)) && !emptied.contains(group);
  }

  /** What is to be done while a group's rows are not kept. */
  interface Emptying<E extends Exception> {
    void run() throws E;
  }

  static <E extends Exception> void empty(UUID group, Emptying<E> action) throws E {
    emptied.add(group);
    try {
      action.run();
    } finally {
      emptied.remove(group);
    }
  }
}
