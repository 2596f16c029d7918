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
  static final int MAX_VERSIONS = 64;

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
   * &lt;k, t&gt;-staleness, for all t: when reads see one of the last k versions (PBS, sections 3.1
   * and 3.4). Here by simulation, which knows how the replicas' delays depend on each other; the
   * paper takes the kth power of the chance to miss one.
   *
   * @param versions k, from 1 to 64
   * @param writeIntervalMicros from the start of a write to that of the next; 0 is the worst case,
   *     all k at once
   */
  public Visibility withinVersions(int versions, double writeIntervalMicros) {
    if (versions < 1 || versions > MAX_VERSIONS) {
      throw new IllegalArgumentException(
          "k must be between 1 and %d, not %d.".formatted(MAX_VERSIONS, versions));
    }
    return Overlap.isCertain(quorums, model)
        ? Visibility.ALWAYS
        : simulated(versions, writeIntervalMicros);
  }

  /** Also where reads must meet writes. */
  Visibility simulated(int versions, double writeIntervalMicros) {
    RandomGenerator random = randoms.get();
    Trial trial = new Trial(model.replicas());
    Contacts contacts = new Contacts(model.replicas());
    Visibility.Trials visible = new Visibility.Trials(trials);
    double[] missing = new double[Visibility.CLOCKS.length];
    for (int n = 0; n < trials; n++) {
      model.drawRow(random, trial);
      model.drawRead(random, trial);
      contacts.read(trial, quorums);
      Arrays.fill(missing, Double.POSITIVE_INFINITY);
      double acknowledged = 0;
      for (int k = 0; k < versions; k++) {
        model.drawWrite(random, trial);
        acknowledged = k == 0 ? contacts.acknowledgedAt(trial, quorums.write()) : acknowledged;
        for (int i = 0; i < missing.length; i++) {
          double since = contacts.missingMicros(trial, Visibility.CLOCKS[i]);
          missing[i] = Math.min(missing[i], since - k * writeIntervalMicros);
        }
      }
      double between = betweenRequests.drawMicros(random);
      for (int i = 0; i < missing.length; i++) {
        visible.record(n, i, missing[i] - acknowledged - between);
      }
    }
    return visible.toVisibility(weight);
  }

  /**
   * Monotonic reads: the probability that a client's second read of a row doesn't show an older
   * version than its first one did. PBS (section 3.2) takes them for a case of k-staleness, k = 1 +
   * the row's rate of writes / the client's rate of reads: as many versions as come between two
   * reads, and one. Here both reads are simulated, since what the first one saw tells of the second
   * one: it is monotonic also when both see the same old version. Each read goes to a coordinator
   * of its own, and writes come at random (Poisson).
   *
   * <p>It is 1 if any two reads have a replica in common. Cassandra's blocking read repair, the
   * default, has then written what the first one shows to all that it asked. R + W &gt; N alone is
   * not enough: a write that is under way can be seen and then not be seen.
   *
   * @param writeIntervalMicros from a write of that row, by whomever, to the next, on average; not
   *     much less than a 64th of the longest delay, as only so many versions are looked at
   * @param readIntervalMicros from the start of the first read to that of the second
   */
  public Estimate monotonicReads(double writeIntervalMicros, double readIntervalMicros) {
    Quorums reads = new Quorums(quorums.read(), quorums.read(), quorums.fanOut());
    if (Overlap.isCertain(reads, model)) {
      return Estimate.exact(1);
    }
    return new MonotonicReads(model, quorums, writeIntervalMicros, readIntervalMicros)
        .simulate(trials, weight, randoms.get());
  }
}
