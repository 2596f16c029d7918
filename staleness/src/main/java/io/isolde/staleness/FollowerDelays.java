// SPDX-License-Identifier: Apache-2.0
package io.isolde.staleness;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.DoubleBinaryOperator;
import java.util.function.DoublePredicate;
import java.util.function.DoubleUnaryOperator;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;

/**
 * How fresh reads of any replica are where a leader writes first: what was seen of how long each
 * follower did not have a write that was answered. Of each delay the least and the most that it can
 * have been is known. Not thread-safe; as many histograms as there are followers.
 */
public final class FollowerDelays {
  private static final double MAX_MICROS = 120e6;
  private static final double EXACT_MICROS = 1;

  private final long halfLifeMillis;
  private final Map<String, Delays> followers = new HashMap<>();

  /** Of one follower. */
  private static final class Delays {
    private final DelayHistogram least;
    private final DelayHistogram middle;
    private final DelayHistogram most;

    private Delays(long halfLifeMillis, long nowMillis) {
      least = new DelayHistogram(halfLifeMillis, nowMillis);
      middle = new DelayHistogram(halfLifeMillis, nowMillis);
      most = new DelayHistogram(halfLifeMillis, nowMillis);
    }
  }

  /**
   * Has seen nothing.
   *
   * @param halfLifeMillis after which a delay counts half
   */
  public FollowerDelays(long halfLifeMillis) {
    this.halfLifeMillis = halfLifeMillis;
  }

  /** A follower had a write between so many microseconds after its answer. */
  public void record(String follower, double leastMicros, double mostMicros, long nowMillis) {
    Delays delays =
        followers.computeIfAbsent(follower, name -> new Delays(halfLifeMillis, nowMillis));
    delays.least.record(leastMicros, nowMillis);
    delays.middle.record((leastMicros + mostMicros) / 2, nowMillis);
    delays.most.record(mostMicros, nowMillis);
  }

  /** Followers of which something was seen that counts still: not those that are gone for long. */
  public int followers(long nowMillis) {
    forgetThoseGone(nowMillis);
    return followers.size();
  }

  private void forgetThoseGone(long nowMillis) {
    followers.values().removeIf(delays -> delays.middle.observations(nowMillis) == 0);
  }

  /** How many delays count still, of the follower with the fewest. */
  public long observations(long nowMillis) {
    forgetThoseGone(nowMillis);
    return followers.values().stream()
        .mapToLong(delays -> delays.middle.observations(nowMillis))
        .min()
        .orElse(0);
  }

  /**
   * The probability that a read sees a write that was answered so long before, if it goes to each
   * replica equally often: to the leader, which has it, or to one of the followers. The interval
   * holds what is not known of each delay, and the 95% interval for their number.
   */
  public Estimate freshAfter(double micros, long nowMillis) {
    double trials = Math.max(1, observations(nowMillis));
    double low = share(delays -> Estimate.ofShare(delays.most.shareUpTo(micros), trials).low());
    double high = share(delays -> Estimate.ofShare(delays.least.shareUpTo(micros), trials).high());
    return new Estimate(share(delays -> delays.middle.shareUpTo(micros)), low, high);
  }

  private double share(ToDoubleFunction<Delays> ofFollower) {
    double sum = followers.values().stream().mapToDouble(ofFollower).sum();
    return (1 + sum) / (1 + followers.size());
  }

  /**
   * How long after a write's answer reads see it with that probability; the upper end is 2 minutes,
   * the most, where too little is known.
   */
  public Estimate freshAfterMicros(double probability, long nowMillis) {
    return new Estimate(
        leastMicros(after -> freshAfter(after, nowMillis).value() >= probability),
        leastMicros(after -> freshAfter(after, nowMillis).high() >= probability),
        leastMicros(after -> freshAfter(after, nowMillis).low() >= probability));
  }

  private static double leastMicros(DoublePredicate isEnough) {
    double low = 0;
    double high = MAX_MICROS;
    if (isEnough.test(low)) {
      return low;
    }
    while (high - low > EXACT_MICROS) {
      double middle = (low + high) / 2;
      if (isEnough.test(middle)) {
        high = middle;
      } else {
        low = middle;
      }
    }
    return high;
  }

  /**
   * &lt;k, t&gt;-staleness: the probability that a read sees one of the last k writes. A follower
   * applies them in the order of the log. So it has one of the last k as soon as it has the first
   * of them. That one waited for no longer than others do. If all k were answered at the same time,
   * the worst case, that is no more probable than to see the last one.
   *
   * @param writeIntervalMicros from the answer of a write to that of the next; 0 is the worst case
   */
  public Estimate withinVersions(
      int versions, double micros, double writeIntervalMicros, long nowMillis) {
    return freshAfter(micros + (versions - 1) * writeIntervalMicros, nowMillis);
  }

  /**
   * The probability that a second read of a row doesn't show an older version than the first one
   * did. Each read goes to any replica, equally often, and writes of the row come at random.
   *
   * @param writeIntervalMicros from a write of the row to the next, on average
   * @param readIntervalMicros from the first read to the second
   */
  public Estimate monotonicReads(
      double writeIntervalMicros, double readIntervalMicros, long nowMillis) {
    double trials = Math.max(1, observations(nowMillis));
    LogReads reads = new LogReads(writeIntervalMicros, readIntervalMicros);
    List<DoubleUnaryOperator> middle = shares(delays -> delays.middle, (share, n) -> share, trials);
    List<DoubleUnaryOperator> late =
        shares(delays -> delays.most, (share, n) -> Estimate.ofShare(share, n).low(), trials);
    List<DoubleUnaryOperator> soon =
        shares(delays -> delays.least, (share, n) -> Estimate.ofShare(share, n).high(), trials);
    // Worst is a first read that sees much, and a second one that sees little.
    return new Estimate(
        reads.monotonic(middle, middle), reads.monotonic(soon, late), reads.monotonic(late, soon));
  }

  /** By follower: the probability that it has a write so many microseconds after its answer. */
  private List<DoubleUnaryOperator> shares(
      Function<Delays, DelayHistogram> seen, DoubleBinaryOperator bound, double trials) {
    return followers.values().stream()
        .map(delays -> seen.apply(delays).toDelay())
        .map(
            delay ->
                (DoubleUnaryOperator)
                    micros -> bound.applyAsDouble(delay.shareUpTo(micros), trials))
        .toList();
  }
}
