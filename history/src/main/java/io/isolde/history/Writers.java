// SPDX-License-Identifier: Apache-2.0
package io.isolde.history;

import io.isolde.history.ObservedTransaction.Outcome;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Who wrote which value, and which of them count. */
final class Writers {
  record Cell(int key, int value) {}

  private final Map<Cell, ObservedTransaction> writers = new HashMap<>();

  /** The values that one transaction wrote to a key, but for the last. */
  private final Set<Cell> intermediate = new HashSet<>();

  private final Set<Integer> committed = new HashSet<>();

  Writers(List<ObservedTransaction> history) {
    for (ObservedTransaction transaction : history) {
      if (transaction.outcome() == Outcome.COMMITTED) {
        committed.add(transaction.id());
      }
      Map<Integer, Cell> last = new HashMap<>();
      for (Operation operation : transaction.operations()) {
        cell(operation).ifPresent(cell -> add(transaction, cell, last));
      }
    }
  }

  private static Optional<Cell> cell(Operation operation) {
    if (operation instanceof Operation.Append append) {
      return Optional.of(new Cell(append.key(), append.value()));
    } else if (operation instanceof Operation.Write write) {
      return Optional.of(new Cell(write.key(), write.value()));
    }
    return Optional.empty();
  }

  private void add(ObservedTransaction transaction, Cell cell, Map<Integer, Cell> last) {
    if (writers.put(cell, transaction) != null) {
      throw new IllegalArgumentException(
          "The value %d is written to key %d twice.".formatted(cell.value(), cell.key()));
    }
    Cell before = last.put(cell.key(), cell);
    if (before != null) {
      intermediate.add(before);
    }
  }

  /** Null if nobody did. */
  ObservedTransaction of(int key, int value) {
    return writers.get(new Cell(key, value));
  }

  boolean isIntermediate(int key, int value) {
    return intermediate.contains(new Cell(key, value));
  }

  /** Its client knows no outcome, but somebody saw what it wrote. */
  void saw(ObservedTransaction writer) {
    if (writer.outcome() == Outcome.UNKNOWN) {
      committed.add(writer.id());
    }
  }

  boolean isCommitted(ObservedTransaction transaction) {
    return committed.contains(transaction.id());
  }

  /** All values that a transaction wrote that its client knows to be committed, by key. */
  Map<Integer, List<Integer>> acknowledged() {
    Map<Integer, List<Integer>> values = new HashMap<>();
    writers.forEach(
        (cell, writer) -> {
          if (writer.outcome() == Outcome.COMMITTED) {
            values.computeIfAbsent(cell.key(), k -> new ArrayList<>()).add(cell.value());
          }
        });
    values.values().forEach(Collections::sort);
    return values;
  }

  /** Complains of a read of something that should not be there; null if all is well. */
  Anomaly complaint(ObservedTransaction reader, int key, int value) {
    ObservedTransaction writer = of(key, value);
    if (writer == null) {
      return Anomaly.of(Phenomenon.GARBAGE_READ, reader.toString());
    }
    if (writer.outcome() == Outcome.ABORTED) {
      return Anomaly.of(Phenomenon.G1A, reader.toString(), writer.toString());
    }
    saw(writer);
    return null;
  }
}
