// SPDX-License-Identifier: Apache-2.0
package io.isolde.staleness;

import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/** Predicts which of several versions of a row reads see. */
public final class VersionPredictor {
  /** Older versions than so many are taken for visible. */
  private static final int MOST_VERSIONS = 64;

  private final DelayModel model;
  private final Quorums quorums;
  private final int trials;
  private final Supplier<RandomGenerator> randoms;
  private final Delay betweenRequests;
  private final double weight;

  VersionPredictor(
      DelayModel model,
      Quorums quorums,
      int trials,
      Supplier<RandomGenerator> randoms,
      Delay betweenRequests) {
    this.model = model;
    this.quorums = quorums;
    this.trials = trials;
    this.randoms = randoms;
    this.betweenRequests = betweenRequests;
    this.weight = Math.min(trials, model.observations());
  }

  /**
   * &lt;k, t&gt;-staleness: the probability that a read sees one of the last k versions (PBS,
   * sections 3.1 and 3.4). Here by simulation, which knows how the replicas' delays depend on each
   * other; the paper takes the kth power of the chance to miss one.
   *
   * @param versions k, from 1 to 64
   * @param micros t: from the acknowledgement of the newest version to the read
   * @param writeIntervalMicros from the start of a write to that of the next; 0 is the worst case,
   *     all k at once
   */
  public Estimate withinVersions(int versions, double micros, double writeIntervalMicros) {
    requireVersions(versions);
    RandomGenerator random = randoms.get();
    Trial trial = new Trial(model.replicas());
    Contacts contacts = new Contacts(model.replicas());
    double[] visibleAt = new double[model.replicas()];
    int seen = 0;
    for (int n = 0; n < trials; n++) {
      model.drawRow(random, trial);
      double acknowledged = 0;
      for (int k = 0; k < versions; k++) {
        model.drawWrite(random, trial);
        acknowledged = k == 0 ? contacts.acknowledgedAt(trial, quorums.write()) : acknowledged;
        keepEarliest(visibleAt, trial, -k * writeIntervalMicros, k == 0);
      }
      model.drawRead(random, trial);
      double start = acknowledged + micros + betweenRequests.drawMicros(random);
      seen += sees(visibleAt, trial, contacts, start) ? 1 : 0;
    }
    return Estimate.ofShare((double) seen / trials, weight);
  }

  private static void keepEarliest(double[] visibleAt, Trial trial, double start, boolean isFirst) {
    for (int i = 0; i < visibleAt.length; i++) {
      double at = start + trial.writeMicros[i];
      visibleAt[i] = isFirst ? at : Math.min(visibleAt[i], at);
    }
  }

  private boolean sees(double[] visibleAt, Trial trial, Contacts contacts, double start) {
    contacts.read(trial, quorums);
    for (int i = 0; i < contacts.answering; i++) {
      int replica = contacts.replicas[i];
      if (visibleAt[replica] <= start + trial.requestMicros[replica]) {
        return true;
      }
    }
    return false;
  }

  /**
   * Monotonic reads: the probability that a client's next read of a row doesn't show an older
   * version than the last one did (PBS, section 3.2). Writes of that row come at random times.
   *
   * @param writesPerSecond of that row, by everybody
   * @param readsPerSecond of that row, by that client, one after another
   */
  public Estimate monotonicReads(double writesPerSecond, double readsPerSecond) {
    RandomGenerator random = randoms.get();
    Trial trial = new Trial(model.replicas());
    Contacts contacts = new Contacts(model.replicas());
    double pauseMicros = 1e6 / readsPerSecond;
    double meanGapMicros = 1e6 / writesPerSecond;
    double[][] visibleAt = new double[MOST_VERSIONS][model.replicas()];
    int monotonic = 0;
    for (int n = 0; n < trials; n++) {
      model.drawRow(random, trial);
      int versions = drawVersions(random, trial, visibleAt, pauseMicros, meanGapMicros);
      int first = newest(random, trial, contacts, visibleAt, versions, 0);
      int second = newest(random, trial, contacts, visibleAt, versions, pauseMicros);
      monotonic += second <= first ? 1 : 0;
    }
    return Estimate.ofShare((double) monotonic / trials, weight);
  }

  /** From the newest back in time; the newest starts before the second read. */
  private int drawVersions(
      RandomGenerator random, Trial trial, double[][] visibleAt, double last, double meanGap) {
    double start = last;
    for (int version = 0; version < MOST_VERSIONS; version++) {
      start -= meanGap * random.nextExponential();
      model.drawWrite(random, trial);
      for (int i = 0; i < trial.replicas(); i++) {
        visibleAt[version][i] = start + trial.writeMicros[i];
      }
    }
    return MOST_VERSIONS;
  }

  /** The number of the newest version that a read sees; 0 is the newest of all. */
  private int newest(
      RandomGenerator random,
      Trial trial,
      Contacts contacts,
      double[][] visibleAt,
      int versions,
      double start) {
    model.drawRead(random, trial);
    for (int version = 0; version < versions; version++) {
      if (sees(visibleAt[version], trial, contacts, start)) {
        return version;
      }
    }
    return versions;
  }

  private static void requireVersions(int versions) {
    if (versions < 1 || versions > MOST_VERSIONS) {
      throw new IllegalArgumentException(
          "k must be between 1 and %d, not %d.".formatted(MOST_VERSIONS, versions));
    }
  }
}
