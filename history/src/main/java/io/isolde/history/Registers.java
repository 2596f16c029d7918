// SPDX-License-Identifier: Apache-2.0
package io.isolde.history;

import io.isolde.history.KeyVersions.Seen;
import io.isolde.history.ObservedTransaction.Outcome;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Finds the order of versions in a history of registers: who replaces a value has read it in the
 * same transaction, so that every version names the one before it.
 */
final class Registers {
  private final List<ObservedTransaction> history;
  private final Writers writers;
  private final List<Anomaly> anomalies;

  /** By key, from a value to the one that replaced it; null stands for none. */
  private final Map<Integer, Map<Integer, Integer>> next = new HashMap<>();

  private final Map<Integer, Map<ObservedTransaction, Integer>> reads = new HashMap<>();

  Registers(List<ObservedTransaction> history, Writers writers, List<Anomaly> anomalies) {
    this.history = history;
    this.writers = writers;
    this.anomalies = anomalies;
  }

  List<KeyVersions> versions() {
    history.stream().filter(t -> t.outcome() != Outcome.ABORTED).forEach(this::collectReads);
    // Only now is it known which of those without an outcome were seen by somebody.
    history.stream().filter(writers::isCommitted).forEach(this::collectWrites);
    List<KeyVersions> versions = new ArrayList<>();
    reads.forEach((key, ofKey) -> versions.add(versions(key, ofKey)));
    return versions;
  }

  private void collectReads(ObservedTransaction transaction) {
    Map<Integer, Integer> current = new HashMap<>();
    for (Operation operation : transaction.operations()) {
      if (operation instanceof Operation.Write write) {
        current.put(write.key(), write.value());
      } else if (operation instanceof Operation.Read read) {
        if (!current.containsKey(read.key())) {
          current.put(read.key(), read.value());
          sawFirst(transaction, read);
        } else if (!Objects.equals(current.get(read.key()), read.value())) {
          anomalies.add(Anomaly.of(Phenomenon.INTERNAL, transaction.toString()));
        }
      }
    }
  }

  private void sawFirst(ObservedTransaction transaction, Operation.Read read) {
    if (read.value() != null) {
      Anomaly complaint = writers.complaint(transaction, read.key(), read.value());
      if (complaint != null) {
        anomalies.add(complaint);
      } else if (writers.isIntermediate(read.key(), read.value())) {
        anomalies.add(
            Anomaly.of(
                Phenomenon.G1B,
                transaction.toString(),
                writers.of(read.key(), read.value()).toString()));
      }
    }
    reads.computeIfAbsent(read.key(), k -> new HashMap<>()).put(transaction, read.value());
  }

  private void collectWrites(ObservedTransaction transaction) {
    for (Operation operation : transaction.operations()) {
      if (operation instanceof Operation.Write write
          && !writers.isIntermediate(write.key(), write.value())) {
        Map<ObservedTransaction, Integer> ofKey = reads.getOrDefault(write.key(), Map.of());
        if (!ofKey.containsKey(transaction)) {
          throw new IllegalArgumentException(
              transaction + " writes key " + write.key() + " without having read it.");
        }
        replaced(transaction, write, ofKey.get(transaction));
      }
    }
  }

  private void replaced(ObservedTransaction transaction, Operation.Write write, Integer before) {
    Map<Integer, Integer> ofKey = next.computeIfAbsent(write.key(), k -> new HashMap<>());
    Integer other = ofKey.putIfAbsent(before, write.value());
    if (other != null) {
      anomalies.add(
          Anomaly.of(
              Phenomenon.LOST_UPDATE,
              transaction.toString(),
              writers.of(write.key(), other).toString()));
    }
  }

  private KeyVersions versions(int key, Map<ObservedTransaction, Integer> ofKey) {
    Map<Integer, Integer> following =
        next.getOrDefault(key, Collections.emptyMap()); // which may be asked for null
    List<Integer> order = new ArrayList<>();
    Map<Integer, Integer> positions = new HashMap<>();
    for (Integer value = following.get(null);
        value != null && !positions.containsKey(value);
        value = following.get(value)) {
      positions.put(value, order.size());
      order.add(value);
    }
    List<Seen> seen = new ArrayList<>();
    ofKey.forEach(
        (reader, value) -> {
          Integer position = value == null ? Integer.valueOf(-1) : positions.get(value);
          if (position != null) {
            seen.add(new Seen(reader.id(), position));
          }
        });
    return new KeyVersions(key, order, seen);
  }
}
