// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.failover;

import io.isolde.bench.kit.Pause;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.LongSupplier;

/** What some events of one kind looked like to clients. */
final class Gaps {
  /** Load before an event, and after what it caused is over. */
  static final long CALM_MILLIS = 1_000;

  /** For how long a leader hangs or is cut off. */
  static final long OUTAGE_MILLIS = 4_000;

  private static final int PATIENCE_SECONDS = 120;

  /**
   * One event.
   *
   * @param millis the longest time without a success, for each clock
   * @param failed requests that failed
   */
  record Gap(List<Double> millis, long failed) {
    double longestMillis() {
      return millis.stream().mapToDouble(each -> each).max().orElseThrow();
    }
  }

  private final List<Gap> gaps = new ArrayList<>();

  /** Looks at clients from an event until all is well again. */
  static <L> Gap observe(Event<L> event, L leader, List<GapClock> clocks, LongSupplier failures) {
    Pause.millis(CALM_MILLIS);
    long failedBefore = failures.getAsLong();
    long start = System.nanoTime();
    clocks.forEach(clock -> clock.restart(start));
    event.strike().accept(leader);
    Pause.until(
        "clients succeed again",
        PATIENCE_SECONDS,
        () -> clocks.stream().allMatch(clock -> clock.hasSuccessSince(start)));
    Pause.millis(CALM_MILLIS);
    event.mend().accept(leader);
    Pause.millis(CALM_MILLIS);
    long now = System.nanoTime();
    return new Gap(
        clocks.stream().map(clock -> clock.longestMillis(now)).toList(),
        failures.getAsLong() - failedBefore);
  }

  void add(Gap gap) {
    gaps.add(gap);
  }

  /** Requests that failed, in all of them. */
  long failed() {
    return gaps.stream().mapToLong(Gap::failed).sum();
  }

  /** Of the clocks' longest times, the smallest that so many percent of all are not above. */
  double percentileMillis(int percent) {
    return percentile(gaps.stream().mapToDouble(Gap::longestMillis).toArray(), percent);
  }

  /** The same of one clock; the first is 0. */
  double percentileMillis(int clock, int percent) {
    return percentile(gaps.stream().mapToDouble(gap -> gap.millis().get(clock)).toArray(), percent);
  }

  static double percentile(double[] numbers, int percent) {
    double[] sorted = numbers.clone();
    Arrays.sort(sorted);
    int rank = (int) Math.ceil(percent / 100.0 * sorted.length);
    return sorted[Math.max(0, rank - 1)];
  }
}
