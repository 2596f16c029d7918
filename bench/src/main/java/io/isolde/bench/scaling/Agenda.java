// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.scaling;

import java.util.Comparator;
import java.util.PriorityQueue;

/** Simulated time: what is to happen, in its order. The same calls give the same order. */
final class Agenda {
  private record Entry(double micros, long number, Runnable step) {}

  private final PriorityQueue<Entry> entries =
      new PriorityQueue<>(Comparator.comparingDouble(Entry::micros).thenComparing(Entry::number));

  private double nowMicros;
  private long count;

  double nowMicros() {
    return nowMicros;
  }

  /** Does something later; what is due at the same moment happens in the order of these calls. */
  void after(double delayMicros, Runnable step) {
    if (!(delayMicros >= 0)) {
      throw new IllegalArgumentException("Nothing can happen after " + delayMicros + " us.");
    }
    entries.add(new Entry(nowMicros + delayMicros, count++, step));
  }

  /** Goes on until this moment. */
  void runUntil(double micros) {
    while (!entries.isEmpty() && entries.peek().micros <= micros) {
      Entry next = entries.poll();
      nowMicros = next.micros;
      next.step.run();
    }
    nowMicros = Math.max(nowMicros, micros);
  }
}
