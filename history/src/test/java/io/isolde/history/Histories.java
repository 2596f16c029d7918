// SPDX-License-Identifier: Apache-2.0
package io.isolde.history;

import io.isolde.history.ObservedTransaction.Outcome;
import java.util.ArrayList;
import java.util.List;

/** Writes down a history; transactions overlap unless told otherwise. */
final class Histories {
  private final List<ObservedTransaction> transactions = new ArrayList<>();

  Histories committed(Operation... operations) {
    return add(Outcome.COMMITTED, 0, Long.MAX_VALUE, operations);
  }

  Histories aborted(Operation... operations) {
    return add(Outcome.ABORTED, 0, Long.MAX_VALUE, operations);
  }

  Histories unknown(Operation... operations) {
    return add(Outcome.UNKNOWN, 0, Long.MAX_VALUE, operations);
  }

  Histories committed(long begin, long end, Operation... operations) {
    return add(Outcome.COMMITTED, begin, end, operations);
  }

  private Histories add(Outcome outcome, long begin, long end, Operation... operations) {
    transactions.add(
        new ObservedTransaction(transactions.size(), List.of(operations), outcome, begin, end));
    return this;
  }

  List<Phenomenon> serializable() {
    return check(HistoryChecker.Level.SERIALIZABLE, false);
  }

  List<Phenomenon> snapshot() {
    return check(HistoryChecker.Level.SNAPSHOT, false);
  }

  List<Phenomenon> withFinalReads() {
    return check(HistoryChecker.Level.SERIALIZABLE, true);
  }

  List<Anomaly> anomalies() {
    return HistoryChecker.check(transactions, HistoryChecker.Level.SERIALIZABLE, false);
  }

  private List<Phenomenon> check(HistoryChecker.Level level, boolean hasFinalReads) {
    return HistoryChecker.check(transactions, level, hasFinalReads).stream()
        .map(Anomaly::phenomenon)
        .toList();
  }

  static Operation append(int key, int value) {
    return new Operation.Append(key, value);
  }

  static Operation list(int key, Integer... values) {
    return new Operation.ReadList(key, List.of(values));
  }

  static Operation write(int key, int value) {
    return new Operation.Write(key, value);
  }

  static Operation read(int key, Integer value) {
    return new Operation.Read(key, value);
  }
}
