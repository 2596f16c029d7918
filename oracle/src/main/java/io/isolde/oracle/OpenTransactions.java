// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle;

import java.util.HashMap;
import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.UUID;

/** The transactions that are begun and neither decided nor ended, with their start timestamps. */
final class OpenTransactions {
  /** Far above what coordinators hold open; a bound against a leak, at some 100 MB. */
  static final int MAX_OPEN = 1 << 20;

  private final Map<UUID, Long> startOf = new HashMap<>();

  /** How many of {@code startOf} have each start timestamp; transactions of one moment share it. */
  private final TreeMap<Long, Integer> countByStart = new TreeMap<>();

  OptionalLong startOf(UUID transactionId) {
    Long start = startOf.get(transactionId);
    return start == null ? OptionalLong.empty() : OptionalLong.of(start);
  }

  boolean contains(UUID transactionId) {
    return startOf.containsKey(transactionId);
  }

  void add(UUID transactionId, long start) {
    if (startOf.size() >= MAX_OPEN) {
      throw new IllegalStateException(
          "There are " + MAX_OPEN + " open transactions, so no other can begin.");
    }
    Long previous = startOf.put(transactionId, start);
    assert previous == null : "a transaction begins once";
    countByStart.merge(start, 1, Integer::sum);
  }

  /** Does nothing if the transaction is not open. */
  void remove(UUID transactionId) {
    if (startOf.isEmpty()) {
      return;
    }
    Long start = startOf.remove(transactionId);
    if (start != null) {
      countByStart.computeIfPresent(start, (key, count) -> count == 1 ? null : count - 1);
    }
    assert startOf.isEmpty() == countByStart.isEmpty();
  }

  /** The smallest start timestamp, or {@code otherwise} if nothing is open. */
  long oldestStart(long otherwise) {
    return startOf.isEmpty() ? otherwise : countByStart.firstKey();
  }

  int size() {
    return startOf.size();
  }
}
