// SPDX-License-Identifier: Apache-2.0
package io.isolde.history;

import io.isolde.history.KeyVersions.Seen;
import io.isolde.history.ObservedTransaction.Outcome;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Finds the order of versions in a history of appends to lists: each read of a list tells the order
 * of all writes before it (Elle, section 4.2.2).
 */
final class ListAppends {
  private record Read(ObservedTransaction by, List<Integer> values) {}

  private final List<ObservedTransaction> history;
  private final Writers writers;
  private final List<Anomaly> anomalies;
  private final Map<Integer, List<Read>> reads = new HashMap<>();

  ListAppends(List<ObservedTransaction> history, Writers writers, List<Anomaly> anomalies) {
    this.history = history;
    this.writers = writers;
    this.anomalies = anomalies;
  }

  List<KeyVersions> versions() {
    for (ObservedTransaction transaction : history) {
      collect(transaction);
    }
    List<KeyVersions> versions = new ArrayList<>();
    reads.forEach((key, ofKey) -> versions.add(versions(key, ofKey)));
    return versions;
  }

  /** What it read before its own appends; and whether it saw those. */
  private void collect(ObservedTransaction transaction) {
    Map<Integer, List<Integer>> own = new HashMap<>();
    Map<Integer, List<Integer>> first = new HashMap<>();
    for (Operation operation : transaction.operations()) {
      if (operation instanceof Operation.Append append) {
        own.computeIfAbsent(append.key(), k -> new ArrayList<>()).add(append.value());
      } else if (operation instanceof Operation.ReadList read) {
        collect(transaction, read, own.getOrDefault(read.key(), List.of()), first);
      }
    }
  }

  private void collect(
      ObservedTransaction transaction,
      Operation.ReadList read,
      List<Integer> own,
      Map<Integer, List<Integer>> first) {
    List<Integer> values = read.values();
    int outside = values.size() - own.size();
    if (outside < 0 || !values.subList(outside, values.size()).equals(own)) {
      anomalies.add(Anomaly.of(Phenomenon.INTERNAL, transaction.toString()));
      return;
    }
    List<Integer> before = values.subList(0, outside);
    List<Integer> sawFirst = first.putIfAbsent(read.key(), before);
    if (sawFirst != null && !sawFirst.equals(before)) {
      anomalies.add(Anomaly.of(Phenomenon.INTERNAL, transaction.toString()));
      return;
    }
    if (sawFirst == null && transaction.outcome() != Outcome.ABORTED) {
      reads.computeIfAbsent(read.key(), k -> new ArrayList<>()).add(new Read(transaction, before));
    }
    // With what it had appended itself: that is in the order too, if it is committed.
    if (!own.isEmpty() && transaction.outcome() == Outcome.COMMITTED) {
      reads.computeIfAbsent(read.key(), k -> new ArrayList<>()).add(new Read(transaction, values));
    }
  }

  private KeyVersions versions(int key, List<Read> ofKey) {
    Read longest = ofKey.get(0);
    for (Read read : ofKey) {
      longest = read.values.size() > longest.values.size() ? read : longest;
    }
    if (new HashSet<>(longest.values).size() != longest.values.size()) {
      anomalies.add(Anomaly.of(Phenomenon.GARBAGE_READ, longest.by.toString()));
    }
    for (int value : longest.values) {
      Anomaly complaint = writers.complaint(longest.by, key, value);
      if (complaint != null) {
        anomalies.add(complaint);
      }
    }
    List<Seen> seen = new ArrayList<>();
    for (Read read : ofKey) {
      check(key, read, longest).ifPresent(seen::add);
    }
    return new KeyVersions(key, longest.values, seen);
  }

  private Optional<Seen> check(int key, Read read, Read longest) {
    int length = read.values.size();
    if (!longest.values.subList(0, length).equals(read.values)) {
      anomalies.add(
          Anomaly.of(Phenomenon.INCOMPATIBLE_ORDER, read.by.toString(), longest.by.toString()));
      return Optional.empty();
    }
    if (length > 0) {
      int last = read.values.get(length - 1);
      ObservedTransaction writer = writers.of(key, last);
      if (writer != null && writer.id() != read.by.id() && writers.isIntermediate(key, last)) {
        anomalies.add(Anomaly.of(Phenomenon.G1B, read.by.toString(), writer.toString()));
      }
    }
    return Optional.of(new Seen(read.by.id(), length - 1));
  }
}
