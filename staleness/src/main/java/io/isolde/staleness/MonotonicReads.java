// SPDX-License-Identifier: Apache-2.0
package io.isolde.staleness;

import java.util.random.RandomGenerator;

/** Simulates two reads of a row among writes of it, and whether the second goes back in time. */
final class MonotonicReads {
  private final DelayModel model;
  private final Quorums quorums;
  private final double writeIntervalMicros;
  private final double readIntervalMicros;
  private final Trial trial;
  private final Contacts contacts;
  private final Look first;
  private final Look second;

  MonotonicReads(
      DelayModel model, Quorums quorums, double writeIntervalMicros, double readIntervalMicros) {
    this.model = model;
    this.quorums = quorums;
    this.writeIntervalMicros = writeIntervalMicros;
    this.readIntervalMicros = readIntervalMicros;
    this.trial = new Trial(model.replicas());
    this.contacts = new Contacts(model.replicas());
    this.first = new Look(model.replicas());
    this.second = new Look(model.replicas());
  }

  /**
   * The share of monotonic pairs of reads.
   *
   * @param weight how many independent trials they count for
   */
  Estimate simulate(int trials, double weight, RandomGenerator random) {
    int[] backwards = new int[Visibility.CLOCKS.length];
    for (int n = 0; n < trials; n++) {
      model.drawRow(random, trial);
      draw(random, 0, first);
      draw(random, readIntervalMicros, second);
      count(random, backwards);
    }
    Estimate estimate = null;
    for (int each : backwards) {
      Estimate share = Estimate.ofShare(1 - (double) each / trials, weight);
      estimate = estimate == null ? share : estimate.spanning(share);
    }
    return estimate;
  }

  private void draw(RandomGenerator random, double start, Look look) {
    model.drawRead(random, trial);
    contacts.read(trial, quorums);
    look.set(trial, contacts, start);
  }

  /**
   * Goes back in time from the newest version that either of the reads may see. Ends when it is
   * known for each bound of the clocks which read saw one first; counts where only the first did.
   */
  private void count(RandomGenerator random, int[] backwards) {
    boolean[] isDecided = new boolean[backwards.length];
    int undecided = backwards.length;
    double start = Math.max(first.end(), second.end());
    for (int version = 0; version < VersionPredictor.MAX_VERSIONS && undecided > 0; version++) {
      start -= writeIntervalMicros * random.nextExponential();
      model.drawWrite(random, trial);
      for (int i = 0; i < backwards.length; i++) {
        int clock = Visibility.CLOCKS[i];
        if (isDecided[i]) {
          continue;
        }
        boolean isSeenAgain = second.sees(trial, start, -clock, first);
        isDecided[i] = isSeenAgain || first.sees(trial, start, clock, second);
        undecided -= isDecided[i] ? 1 : 0;
        backwards[i] += isDecided[i] && !isSeenAgain ? 1 : 0;
      }
    }
  }
}
