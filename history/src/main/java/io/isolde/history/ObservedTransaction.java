// SPDX-License-Identifier: Apache-2.0
package io.isolde.history;

import java.util.List;

/**
 * What a client did in one transaction, and what it saw.
 *
 * @param id its place in the history
 * @param operations in their order; of one that failed, those that were answered
 * @param outcome what the client was told
 * @param beginNanos a moment before it began, on a clock that all clients share
 * @param endNanos a moment after its answer was there
 */
public record ObservedTransaction(
    int id, List<Operation> operations, Outcome outcome, long beginNanos, long endNanos) {

  /** What the client was told. */
  public enum Outcome {
    COMMITTED,
    ABORTED,
    /** Nothing; it may become visible or not. */
    UNKNOWN
  }

  public ObservedTransaction {
    operations = List.copyOf(operations);
    if (endNanos < beginNanos) {
      throw new IllegalArgumentException("Transaction " + id + " ends before it begins.");
    }
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder("T" + id + " " + outcome + ":");
    for (Operation operation : operations) {
      text.append(' ').append(describe(operation));
    }
    return text.toString();
  }

  private static String describe(Operation operation) {
    if (operation instanceof Operation.Append append) {
      return "append(%d, %d)".formatted(append.key(), append.value());
    } else if (operation instanceof Operation.ReadList read) {
      return "read(%d) = %s".formatted(read.key(), read.values());
    } else if (operation instanceof Operation.Write write) {
      return "write(%d, %d)".formatted(write.key(), write.value());
    }
    Operation.Read read = (Operation.Read) operation;
    return "read(%d) = %s".formatted(read.key(), read.value());
  }
}
