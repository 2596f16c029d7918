// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.configuration;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;

/** The last changes; of older ones it is known that they are forgotten. */
final class ChangeHistory {
  static final int MAX_CHANGES = 4096;
  static final long MAX_BYTES = 4 << 20;

  /** Their versions have no gap. */
  private final ArrayDeque<VersionedChange> changes = new ArrayDeque<>();

  private long bytes;

  /** The changes up to this version are forgotten. */
  private long forgottenUpTo;

  void restore(long newForgottenUpTo, List<VersionedChange> kept) {
    forgottenUpTo = newForgottenUpTo;
    kept.forEach(this::add);
  }

  void add(VersionedChange change) {
    changes.add(change);
    bytes += change.change().bytes();
    while (changes.size() > MAX_CHANGES || bytes > MAX_BYTES) {
      VersionedChange oldest = changes.remove();
      bytes -= oldest.change().bytes();
      forgottenUpTo = oldest.version();
    }
  }

  /**
   * The changes after a version, the oldest first.
   *
   * @param maxBytes more are left out, but for the first one
   * @return empty if some of them are forgotten
   */
  Optional<List<VersionedChange>> after(long version, long maxBytes) {
    if (version < forgottenUpTo) {
      return Optional.empty();
    }
    List<VersionedChange> found = new ArrayList<>();
    long foundBytes = 0;
    for (VersionedChange change : changes) {
      if (change.version() <= version) {
        continue;
      }
      foundBytes += change.change().bytes();
      if (foundBytes > maxBytes && !found.isEmpty()) {
        break;
      }
      found.add(change);
    }
    return Optional.of(found);
  }

  /** The last ones, the newest first. */
  List<VersionedChange> last(int count) {
    List<VersionedChange> found = new ArrayList<>();
    Iterator<VersionedChange> newestFirst = changes.descendingIterator();
    while (found.size() < count && newestFirst.hasNext()) {
      found.add(newestFirst.next());
    }
    return found;
  }

  long forgottenUpTo() {
    return forgottenUpTo;
  }

  List<VersionedChange> all() {
    return List.copyOf(changes);
  }
}
