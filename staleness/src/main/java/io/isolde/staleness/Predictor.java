// SPDX-License-Identifier: Apache-2.0
package io.isolde.staleness;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/**
 * Predicts staleness by Monte Carlo simulation (PBS, sections 4 and 5): draws the one-way delays of
 * a write and of a read that follows it, and asks whether the read was there in time.
 *
 * <p>A write is acknowledged as soon as enough replicas' W + A have passed; a replica that a read
 * reaches R after its start, t after the acknowledgement, shows the write if its W has passed by
 * then. So one trial yields the least t for which the read is fresh, and all trials the whole
 * curve.
 */
public final class Predictor {
  private final DelayModel model;
  private final ReadFanOut fanOut;
  private final int trials;
  private final Supplier<RandomGenerator> randoms;
  private Delay betweenRequests = Delay.NONE;

  /**
   * Makes a predictor.
   *
   * @param trials how many writes and reads are simulated; 10,000 give two digits, and memory for
   *     each setting is 24 bytes per trial
   * @param randoms makes generators that all yield the same numbers, so that settings and clocks
   *     are compared by the same trials
   */
  public Predictor(
      DelayModel model, ReadFanOut fanOut, int trials, Supplier<RandomGenerator> randoms) {
    if (trials < 1) {
      throw new IllegalArgumentException("At least one trial is needed, not " + trials + ".");
    }
    this.model = model;
    this.fanOut = fanOut;
    this.trials = trials;
    this.randoms = randoms;
  }

  /**
   * The same, for a t that is measured where the client is: from the arrival of the write's answer
   * to the sending of the read. The way in between, to and fro, is time for the write to spread.
   */
  public Predictor withClientRoundTrip(Delay roundTrip) {
    Predictor predictor = new Predictor(model, fanOut, trials, randoms);
    predictor.betweenRequests = roundTrip;
    return predictor;
  }

  /** Predicts for all settings by the same trials. */
  public Map<Setting, Prediction> predict(List<Setting> settings) {
    List<Outcomes> estimates = simulate(model, settings);
    List<Outcomes> best = simulate(model.atClockBound(-1), settings);
    List<Outcomes> worst = simulate(model.atClockBound(1), settings);
    double weight = Math.min(trials, model.observations());
    Map<Setting, Prediction> predictions = new LinkedHashMap<>();
    for (int i = 0; i < settings.size(); i++) {
      Outcomes outcomes = estimates.get(i);
      predictions.put(
          settings.get(i),
          new Prediction(
              isStrong(settings.get(i)),
              new Sorted(outcomes.visible, weight),
              new Sorted(best.get(i).visible, weight),
              new Sorted(worst.get(i).visible, weight),
              new Sorted(outcomes.reads, weight),
              new Sorted(outcomes.writes, weight)));
    }
    return predictions;
  }

  /** Predicts for one setting. */
  public Prediction predict(Setting setting) {
    return predict(List.of(setting)).get(setting);
  }

  /** What several writes before a read mean for it: k-staleness and monotonic reads. */
  public VersionPredictor versions(Setting setting) {
    return new VersionPredictor(model, quorums(setting), trials, randoms, betweenRequests);
  }

  private boolean isStrong(Setting setting) {
    return Overlap.isCertain(quorums(setting), model);
  }

  private Quorums quorums(Setting setting) {
    int[] counts = model.replicasByDatacenter();
    return new Quorums(setting.read().in(counts), setting.write().in(counts), fanOut);
  }

  private List<Outcomes> simulate(DelayModel delays, List<Setting> settings) {
    RandomGenerator random = randoms.get();
    List<Quorums> quorums = settings.stream().map(this::quorums).toList();
    List<Outcomes> outcomes = new ArrayList<>();
    settings.forEach(setting -> outcomes.add(new Outcomes(trials)));
    Trial trial = new Trial(delays.replicas());
    Contacts contacts = new Contacts(delays.replicas());
    for (int n = 0; n < trials; n++) {
      delays.drawRow(random, trial);
      delays.drawWrite(random, trial);
      delays.drawRead(random, trial);
      double between = betweenRequests.drawMicros(random);
      for (int i = 0; i < quorums.size(); i++) {
        outcomes.get(i).record(n, trial, quorums.get(i), contacts, between);
      }
    }
    return outcomes;
  }

  /** The results of the trials for one setting. */
  private static final class Outcomes {
    final double[] visible;
    final double[] reads;
    final double[] writes;

    Outcomes(int trials) {
      visible = new double[trials];
      reads = new double[trials];
      writes = new double[trials];
    }

    void record(int n, Trial trial, Quorums quorums, Contacts contacts, double between) {
      double acknowledged = contacts.acknowledgedAt(trial, quorums.write());
      contacts.read(trial, quorums);
      double least = Double.POSITIVE_INFINITY;
      for (int i = 0; i < contacts.answering; i++) {
        int replica = contacts.replicas[i];
        least = Math.min(least, trial.writeMicros[replica] - trial.requestMicros[replica]);
      }
      visible[n] = Math.max(0, least - acknowledged - between);
      reads[n] = contacts.answeredMicros;
      writes[n] = acknowledged;
    }
  }
}
