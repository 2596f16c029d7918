// SPDX-License-Identifier: Apache-2.0
package io.isolde.staleness;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;

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
   *     each setting is 40 bytes per trial
   * @param randoms makes generators that all yield the same numbers, so that settings are compared
   *     by the same trials
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
    List<Outcomes> outcomes = simulate(settings);
    double weight = Math.min(trials, model.observations());
    Map<Setting, Prediction> predictions = new LinkedHashMap<>();
    for (int i = 0; i < settings.size(); i++) {
      boolean isStrong = isStrong(settings.get(i));
      Outcomes each = outcomes.get(i);
      predictions.put(
          settings.get(i),
          new Prediction(
              isStrong,
              isStrong ? Visibility.ALWAYS : each.visible.toVisibility(weight),
              new Sorted(each.reads, latencyWeight(asked(settings.get(i)))),
              new Sorted(each.writes, latencyWeight(model.replicas()))));
    }
    return predictions;
  }

  /**
   * How many independent latencies n observations count for if each is made from m of them, those
   * of the replicas asked: n / m at least, as the variance is at most m / n of one's (W. Hoeffding,
   * "A class of statistics with asymptotically normal distribution", 1948). The slowest of m
   * replicas at a high quantile comes close to that.
   */
  private double latencyWeight(int asked) {
    return Math.min(trials, Math.max(1, model.observations() / asked));
  }

  private int asked(Setting setting) {
    int[] counts = model.replicasByDatacenter();
    return fanOut == ReadFanOut.ALL
        ? model.replicas()
        : IntStream.range(0, counts.length).map(setting.read().in(counts)::needed).max().orElse(1);
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

  private List<Outcomes> simulate(List<Setting> settings) {
    RandomGenerator random = randoms.get();
    List<Quorums> quorums = settings.stream().map(this::quorums).toList();
    List<Outcomes> outcomes = new ArrayList<>();
    settings.forEach(setting -> outcomes.add(new Outcomes(trials)));
    Trial trial = new Trial(model.replicas());
    Contacts contacts = new Contacts(model.replicas());
    for (int n = 0; n < trials; n++) {
      model.drawRow(random, trial);
      model.drawWrite(random, trial);
      model.drawRead(random, trial);
      double between = betweenRequests.drawMicros(random);
      for (int i = 0; i < quorums.size(); i++) {
        outcomes.get(i).record(n, trial, quorums.get(i), contacts, between);
      }
    }
    return outcomes;
  }

  /** The results of the trials for one setting. */
  private static final class Outcomes {
    final Visibility.Trials visible;
    final double[] reads;
    final double[] writes;

    Outcomes(int trials) {
      visible = new Visibility.Trials(trials);
      reads = new double[trials];
      writes = new double[trials];
    }

    void record(int n, Trial trial, Quorums quorums, Contacts contacts, double between) {
      double acknowledged = contacts.acknowledgedAt(trial, quorums.write());
      contacts.read(trial, quorums);
      for (int i = 0; i < Visibility.CLOCKS.length; i++) {
        double missing = contacts.missingMicros(trial, Visibility.CLOCKS[i]);
        visible.record(n, i, missing - acknowledged - between);
      }
      reads[n] = contacts.answeredMicros;
      writes[n] = acknowledged;
    }
  }
}
