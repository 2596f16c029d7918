// SPDX-License-Identifier: Apache-2.0
package io.isolde.configuration;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

/**
 * Entries of the configuration of which this node does not know. A node that has just started, or
 * whose schema is behind, does not know of all yet. So only what has been missing for a while is
 * gone.
 */
final class Missing {
  static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(15);

  private final Map<UUID, Long> sinceNanos = new HashMap<>();

  /** What is missing now; returns what is gone. */
  Set<UUID> gone(Set<UUID> missing, long nowNanos) {
    sinceNanos.keySet().retainAll(missing);
    Set<UUID> gone = new HashSet<>();
    for (UUID id : missing) {
      if (nowNanos - sinceNanos.computeIfAbsent(id, first -> nowNanos) >= PATIENCE_NANOS) {
        gone.add(id);
      }
    }
    return gone;
  }

  /** Others look for what is gone, or nothing is known. */
  void forget() {
    sinceNanos.clear();
  }

  boolean isEmpty() {
    return sinceNanos.isEmpty();
  }
}
