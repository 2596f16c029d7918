// SPDX-License-Identifier: Apache-2.0
package io.isolde.staleness.collect;

import io.isolde.staleness.ClockOffset;

/** Another node's clock. Thread-safe. */
final class PeerClock {
  /** Before so many exchanges the offset is too vague to tell one way from the other. */
  private static final int ENOUGH = 8;

  private static final double NANOS = 1e3;

  private final ClockOffset offset = new ClockOffset();
  private int exchanges;

  /** How long a request took there, and its answer back. */
  record Ways(double thereMicros, double backMicros, double uncertaintyMicros) {}

  /**
   * Learns from an exchange and splits it.
   *
   * @param turnaroundNanos the moment, by their clock, at which the way there ends and that back
   *     begins
   * @return null while too little is known
   */
  synchronized Ways learn(long sent, AnswerStamp stamp, long turnaroundNanos, long received) {
    offset.learn(sent, stamp.arrivedNanos(), stamp.answeredNanos(), received);
    exchanges = Math.min(ENOUGH, exchanges + 1);
    if (exchanges < ENOUGH) {
      return null;
    }
    // As whole numbers first: nanosecond clocks have more digits than a double.
    double there = (turnaroundNanos - sent) - offset.offsetNanos();
    double all = received - sent;
    double bounded = Math.max(0, Math.min(all, there));
    return new Ways(bounded / NANOS, (all - bounded) / NANOS, offset.uncertaintyNanos() / NANOS);
  }
}
