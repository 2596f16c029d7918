// SPDX-License-Identifier: Apache-2.0
package io.isolde.peers;

import java.util.HashMap;
import java.util.Map;
import java.util.UUID;

/**
 * Names that are about to be in the schema, as one node has promised them: each to one maker at a
 * time. For one thread at a time.
 */
final class ReservedNames {
  /** With more, further ones are refused. */
  static final int MAX_NAMES = 1_024;

  /** Who has not made it within this time has to ask again. */
  static final long MAX_MILLIS = 60_000;

  private record Promise(UUID maker, long untilMillis) {}

  private final Map<String, Promise> promises = new HashMap<>();

  /** Whether the maker may make it, as far as this node knows. */
  boolean reserve(String name, UUID maker, long nowMillis) {
    Promise before = promises.get(name);
    if (before != null && !before.maker.equals(maker) && nowMillis < before.untilMillis) {
      return false;
    }
    if (promises.size() >= MAX_NAMES) {
      promises.values().removeIf(promise -> nowMillis >= promise.untilMillis);
    }
    if (promises.size() >= MAX_NAMES && before == null) {
      return false;
    }
    promises.put(name, new Promise(maker, nowMillis + MAX_MILLIS));
    return true;
  }

  /** The maker has not made it. */
  void release(String name, UUID maker) {
    promises.computeIfPresent(name, (key, promise) -> promise.maker.equals(maker) ? null : promise);
  }

  /** It is in the schema; from now on that keeps others out, until it is dropped. */
  void made(String name) {
    promises.remove(name);
  }
}
