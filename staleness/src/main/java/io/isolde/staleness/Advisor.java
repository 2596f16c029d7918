// SPDX-License-Identifier: Apache-2.0
package io.isolde.staleness;

import java.util.Comparator;
import java.util.List;
import java.util.Map;

/** Finds the cheapest settings that meet a target. */
public final class Advisor {

  /**
   * What is advised.
   *
   * @param meeting the settings that meet the target, the cheapest first
   * @param undecided those that may or may not, for lack of observations or of knowledge of clocks
   */
  public record Advice(List<Setting> meeting, List<Setting> undecided) {}

  private static final double MEDIAN = 0.5;

  private final double readShare;

  /**
   * Makes an advisor.
   *
   * @param readShare of the requests, between 0 and 1: what is cheap for readers may not be so for
   *     writers
   */
  public Advisor(double readShare) {
    if (!(readShare >= 0 && readShare <= 1)) {
      throw new IllegalArgumentException("A share is between 0 and 1, not " + readShare + ".");
    }
    this.readShare = readShare;
  }

  /** Advises, given what is predicted for each setting. */
  public Advice advise(Map<Setting, Prediction> predictions, Target target) {
    Comparator<Setting> cheapest =
        Comparator.comparingDouble((Setting setting) -> costMicros(predictions.get(setting)))
            // Of those that cost the same: whose replicas do less, then whose name is simpler.
            .thenComparing(Setting::read)
            .thenComparing(Setting::write);
    List<Setting> meeting =
        predictions.keySet().stream()
            .filter(setting -> target.isMetBy(predictions.get(setting)))
            .sorted(cheapest)
            .toList();
    List<Setting> undecided =
        predictions.keySet().stream()
            .filter(setting -> !meeting.contains(setting))
            .filter(setting -> target.mayBeMetBy(predictions.get(setting)))
            .sorted(cheapest)
            .toList();
    return new Advice(meeting, undecided);
  }

  /** The median time of a request, at this share of reads. */
  private double costMicros(Prediction prediction) {
    return readShare * prediction.readMicros(MEDIAN).value()
        + (1 - readShare) * prediction.writeMicros(MEDIAN).value();
  }
}
