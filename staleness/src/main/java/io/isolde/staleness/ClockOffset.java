// SPDX-License-Identifier: Apache-2.0
package io.isolde.staleness;

/**
 * What another node's clock shows when ours shows zero, from the four times of requests and answers
 * that go to and fro. No message arrives before it was sent, so each bounds the offset from one
 * side: K. Marzullo and S. Owicki, "Maintaining the time in a distributed system", 1983; the four
 * times are those of NTP (RFC 5905, section 8).
 *
 * <p>The bounds loosen as time passes, since clocks drift; a pair of bounds that contradict each
 * other says that the other clock is a new one, and both are forgotten. Not thread-safe.
 */
public final class ClockOffset {
  /** Of two clocks, each as wrong as NTP assumes at most (RFC 5905: PHI, 15 ppm). */
  private static final double DRIFT = 30e-6;

  private double lowNanos = Double.NEGATIVE_INFINITY;
  private double highNanos = Double.POSITIVE_INFINITY;
  private long asOfNanos;

  /**
   * Learns from a request and its answer.
   *
   * @param sent when the request left, by our clock
   * @param arrived when it arrived, by theirs
   * @param answered when the answer left, by theirs
   * @param received when it arrived, by ours
   */
  public void learn(long sent, long arrived, long answered, long received) {
    loosen(received);
    // Differences of nanosecond clocks with arbitrary origins: only they are meaningful.
    double most = arrived - sent;
    double least = answered - received;
    if (least > highNanos || most < lowNanos) {
      lowNanos = least;
      highNanos = most;
      return;
    }
    lowNanos = Math.max(lowNanos, least);
    highNanos = Math.min(highNanos, most);
  }

  private void loosen(long now) {
    if (isKnown() && now > asOfNanos) {
      double drift = (now - asOfNanos) * DRIFT;
      lowNanos -= drift;
      highNanos += drift;
    }
    asOfNanos = now;
  }

  /** Whether anything was learnt yet. */
  public boolean isKnown() {
    return lowNanos != Double.NEGATIVE_INFINITY && highNanos != Double.POSITIVE_INFINITY;
  }

  /** Their clock minus ours: the middle of what is possible. */
  public double offsetNanos() {
    return lowNanos + (highNanos - lowNanos) / 2;
  }

  /** By how much that may be wrong, either way. */
  public double uncertaintyNanos() {
    return (highNanos - lowNanos) / 2;
  }
}
