// SPDX-License-Identifier: Apache-2.0
package io.isolde.staleness;

import java.util.Arrays;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/** Predicts which of several versions of a row reads see. */
public final class VersionPredictor {
  /** From a write of a row to the next, on average, where nobody says: ten writes a second. */
  public static final double ASSUMED_WRITE_INTERVAL_MICROS = 100_000;

  /** Older versions than so many are taken for visible. */
  private static final int MOST_VERSIONS = 64;

  private final DelayModel model;
  private final Quorums quorums;
  private final int trials;
  private final Supplier<RandomGenerator> randoms;
  private final Delay betweenRequests;
  private final double weight;

  /** Whether any two reads have a replica in common. */
  private final boolean doReadsMeet;

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
    this.doReadsMeet =
        Overlap.isCertain(new Quorums(quorums.read(), quorums.read(), quorums.fanOut()), model);
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
   * Monotonic reads: the probability that a client's second read of a row doesn't show an older
   * version than its first one did. PBS (section 3.2) takes them for a case of k-staleness, k = 1 +
   * the row's rate of writes / the client's rate of reads: as many versions as come between two
   * reads, and one. Here both reads are simulated, since what the first one saw tells of the second
   * one: it is monotonic also when both see the same old version. Each read goes to a coordinator
   * of its own, and writes come at random (Poisson).
   *
   * <p>It is 1 if any two reads have a replica in common, since Cassandra's blocking read repair,
   * the default, has written what the first one shows to all that it asked. R + W &gt; N alone is
   * not enough: a write that is under way can be seen and then not be seen.
   *
   * @param writeIntervalMicros from a write of that row, by whomever, to the next, on average; not
   *     much less than a 64th of the longest delay, as only so many versions are looked at
   * @param readIntervalMicros from the start of the first read to that of the second
   */
  public Estimate monotonicReads(double writeIntervalMicros, double readIntervalMicros) {
    if (doReadsMeet) {
      return Estimate.exact(1);
    }
    RandomGenerator random = randoms.get();
    Trial trial = new Trial(model.replicas());
    Contacts contacts = new Contacts(model.replicas());
    double[] first = new double[model.replicas()];
    double[] second = new double[model.replicas()];
    int monotonic = 0;
    for (int n = 0; n < trials; n++) {
      model.drawRow(random, trial);
      drawLooks(random, trial, contacts, 0, first);
      drawLooks(random, trial, contacts, readIntervalMicros, second);
      monotonic += isMonotonic(random, trial, writeIntervalMicros, first, second) ? 1 : 0;
    }
    return Estimate.ofShare((double) monotonic / trials, weight);
  }

  /** By replica: when a read looks at its data; never, for one that it does not count. */
  private void drawLooks(
      RandomGenerator random, Trial trial, Contacts contacts, double start, double[] looks) {
    model.drawRead(random, trial);
    contacts.read(trial, quorums);
    Arrays.fill(looks, Double.NEGATIVE_INFINITY);
    for (int i = 0; i < contacts.answering; i++) {
      int replica = contacts.replicas[i];
      looks[replica] = start + trial.requestMicros[replica];
    }
  }

  /** Goes back in time from the newest version that either of the reads may see. */
  private boolean isMonotonic(
      RandomGenerator random, Trial trial, double meanGap, double[] first, double[] second) {
    double start = Math.max(latest(first), latest(second));
    for (int version = 0; version < MOST_VERSIONS; version++) {
      start -= meanGap * random.nextExponential();
      model.drawWrite(random, trial);
      if (isSeen(trial, start, second)) {
        return true;
      }
      if (isSeen(trial, start, first)) {
        return false;
      }
    }
    return true;
  }

  private static double latest(double[] looks) {
    return Arrays.stream(looks).max().orElseThrow();
  }

  private static boolean isSeen(Trial trial, double start, double[] looks) {
    for (int i = 0; i < looks.length; i++) {
      if (start + trial.writeMicros[i] <= looks[i]) {
        return true;
      }
    }
    return false;
  }

  private static void requireVersions(int versions) {
    if (versions < 1 || versions > MOST_VERSIONS) {
      throw new IllegalArgumentException(
          "k must be between 1 and %d, not %d.".formatted(MOST_VERSIONS, versions));
    }
  }
}
