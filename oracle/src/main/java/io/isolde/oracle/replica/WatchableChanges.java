// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.replica;

import io.isolde.oracle.StatusOracle;
import io.isolde.oracle.configuration.ConfigurationState;
import java.util.ArrayList;
import java.util.List;

/**
 * What one entry has changed of the configuration. Each change has its place among the commits, so
 * that it can be watched as they are.
 */
final class WatchableChanges {
  private final List<RecentChanges.Change> changes = new ArrayList<>();

  /** Another entry follows. */
  void clear() {
    changes.clear();
  }

  /** A command was applied. */
  void note(ConfigurationState configuration, StatusOracle oracle, long timeMicros) {
    long[] ids = configuration.takeChangedIds();
    if (ids.length > 0) {
      changes.add(new RecentChanges.Change(oracle.next(timeMicros), ids));
    }
  }

  /** Those of the entry, in their order. */
  List<RecentChanges.Change> all() {
    return List.copyOf(changes);
  }
}
