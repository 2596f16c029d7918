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

  /**
   * What is promised.
   *
   * @param isForMore whether the maker has more to do when the name is in the schema
   */
  private record Promise(UUID maker, boolean isForMore, long untilMillis) {
    boolean holds(long nowMillis) {
      return nowMillis < untilMillis;
    }
  }

  private final Map<String, Promise> promises = new HashMap<>();

  /** Whether the maker may make it, as far as this node knows. */
  boolean reserve(String name, UUID maker, boolean isForMore, long nowMillis) {
    Promise before = promises.get(name);
    if (before != null && !before.maker.equals(maker) && before.holds(nowMillis)) {
      return false;
    }
    if (promises.size() >= MAX_NAMES) {
      promises.values().removeIf(promise -> !promise.holds(nowMillis));
    }
    if (promises.size() >= MAX_NAMES && before == null) {
      return false;
    }
    promises.put(name, new Promise(maker, isForMore, nowMillis + MAX_MILLIS));
    return true;
  }

  /** Whether somebody has the promise. */
  boolean isReserved(String name, long nowMillis) {
    Promise promise = promises.get(name);
    return promise != null && promise.holds(nowMillis);
  }

  /** The maker has given up, or has done all that it had to. */
  void release(String name, UUID maker) {
    promises.computeIfPresent(name, (key, promise) -> promise.maker.equals(maker) ? null : promise);
  }

  /** It is in the schema; from now on that keeps others out, until it is dropped. */
  void made(String name) {
    promises.computeIfPresent(name, (key, promise) -> promise.isForMore ? promise : null);
  }
}
