// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.replica.simulation;

import io.isolde.oracle.SerializationGraph;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** The rows, with all their versions: by commit timestamp who wrote them. */
final class Store {
  private final Map<Long, TreeMap<Long, Integer>> versions = new HashMap<>();

  /** Its replicas don't answer, until then. */
  private long stuckRow;

  private long stuckUntil;

  void stick(long row, long untilMicros) {
    stuckRow = row;
    stuckUntil = untilMicros;
  }

  boolean canApply(Transaction transaction, long nowMicros) {
    return nowMicros >= stuckUntil || !transaction.writes.contains(stuckRow);
  }

  /** Who wrote what a snapshot has of a row. */
  int read(long row, long snapshot) {
    TreeMap<Long, Integer> ofRow = versions.get(row);
    var found = ofRow == null ? null : ofRow.floorEntry(snapshot);
    return found == null ? SerializationGraph.NOBODY : found.getValue();
  }

  /** Harmless if repeated; otherwise versions of a row must come in order. */
  void apply(Transaction transaction, long commitTimestamp) {
    for (long row : transaction.writes) {
      TreeMap<Long, Integer> ofRow = versions.computeIfAbsent(row, unseen -> new TreeMap<>());
      if (!ofRow.containsKey(commitTimestamp)) {
        Broken.unless(
            ofRow.isEmpty() || ofRow.lastKey() < commitTimestamp,
            "versions of a row come in order",
            row,
            ofRow,
            commitTimestamp);
        ofRow.put(commitTimestamp, transaction.number);
      }
    }
  }

  /** The timestamps of all commits that are applied. */
  Set<Long> applied() {
    return versions.values().stream()
        .flatMap(ofRow -> ofRow.keySet().stream())
        .collect(Collectors.toSet());
  }

  boolean has(Transaction transaction, long commitTimestamp) {
    return transaction.writes.stream()
        .allMatch(
            row -> versions.containsKey(row) && versions.get(row).containsKey(commitTimestamp));
  }
}
