// SPDX-License-Identifier: Apache-2.0
package io.isolde.transaction;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/** Why the last transactions that this node ended by itself had to end. Bounded, thread-safe. */
final class ExpiredTransactions {
  private static final int REMEMBERED = 10_000;

  private final Map<UUID, String> reasons =
      new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<UUID, String> eldest) {
          return size() > REMEMBERED;
        }
      };

  synchronized void add(UUID id, String reason) {
    reasons.put(id, reason);
  }

  synchronized Optional<String> reasonOf(UUID id) {
    return Optional.ofNullable(reasons.get(id));
  }
}
