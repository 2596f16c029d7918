// SPDX-License-Identifier: Apache-2.0
package io.isolde.cql;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * Transactions whose client has lost the connection that they were bound to, until it comes back.
 * The last ones only; thread-safe.
 */
final class LostTransactions {
  private static final int REMEMBERED = 1_000;

  private final Map<String, UUID> byClient =
      new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, UUID> eldest) {
          return size() > REMEMBERED;
        }
      };

  private volatile boolean isEmpty = true;

  synchronized void add(String client, UUID transaction) {
    byClient.put(client, transaction);
    isEmpty = false;
  }

  /** Costs nothing as long as there are none. */
  Optional<UUID> take(String client) {
    return isEmpty ? Optional.empty() : taken(client);
  }

  private synchronized Optional<UUID> taken(String client) {
    Optional<UUID> taken = Optional.ofNullable(byClient.remove(client));
    isEmpty = byClient.isEmpty();
    return taken;
  }

  boolean isEmpty() {
    return isEmpty;
  }
}
