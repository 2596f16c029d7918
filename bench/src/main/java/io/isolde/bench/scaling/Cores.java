// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.scaling;

import java.util.PriorityQueue;

/** The cores of a simulated machine: work waits for the first that is free, in order of arrival. */
final class Cores {
  private final Agenda agenda;
  private final int count;
  private final PriorityQueue<Double> freeAtMicros = new PriorityQueue<>();
  private double usedMicros;
  private double sinceMicros;

  Cores(Agenda agenda, int count) {
    this.agenda = agenda;
    this.count = count;
    for (int core = 0; core < count; core++) {
      freeAtMicros.add(0.0);
    }
  }

  /** Works for some time of one core, and then goes on. */
  void work(double micros, Runnable then) {
    double now = agenda.nowMicros();
    double end = Math.max(now, freeAtMicros.poll()) + micros;
    freeAtMicros.add(end);
    usedMicros += micros;
    agenda.after(end - now, then);
  }

  /** Counts from now on. */
  void reset() {
    usedMicros = 0;
    sinceMicros = agenda.nowMicros();
  }

  /** Returns the share of the cores' time that was asked for since the count began. */
  double load() {
    return usedMicros / (count * (agenda.nowMicros() - sinceMicros));
  }
}
