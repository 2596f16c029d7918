// SPDX-License-Identifier: Apache-2.0
package io.isolde.staleness.collect;

import io.isolde.staleness.Delay;
import io.isolde.staleness.DelayHistogram;
import io.isolde.staleness.Legs;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;

/** The delays between this node and those of one place, for one table. Thread-safe. */
final class RouteDelays {
  /** A new uncertainty counts so much, the former ones the rest. */
  private static final double NEWEST = 1 / 16.0;

  private final long halfLifeMillis;
  private final Map<Leg, DelayHistogram> histograms = new EnumMap<>(Leg.class);
  private double uncertaintyMicros = Double.NaN;

  RouteDelays(long halfLifeMillis) {
    this.halfLifeMillis = halfLifeMillis;
  }

  synchronized void record(Leg there, Leg back, PeerClock.Ways ways, long nowMillis) {
    histogram(there, nowMillis).record(ways.thereMicros(), nowMillis);
    histogram(back, nowMillis).record(ways.backMicros(), nowMillis);
    uncertaintyMicros =
        Double.isNaN(uncertaintyMicros)
            ? ways.uncertaintyMicros()
            : uncertaintyMicros + NEWEST * (ways.uncertaintyMicros() - uncertaintyMicros);
  }

  synchronized void recordLocalRead(double micros, long nowMillis) {
    histogram(Leg.LOCAL_READ, nowMillis).record(micros, nowMillis);
  }

  private DelayHistogram histogram(Leg leg, long nowMillis) {
    return histograms.computeIfAbsent(leg, l -> new DelayHistogram(halfLifeMillis, nowMillis));
  }

  /** What was seen of a leg, if anything of it counts still. */
  synchronized Optional<SeenLeg> seen(Leg leg, long nowMillis) {
    DelayHistogram histogram = histograms.get(leg);
    if (histogram == null || histogram.observations(nowMillis) == 0) {
      return Optional.empty();
    }
    return Optional.of(
        new SeenLeg(
            histogram.observations(nowMillis),
            histogram.quantileMicros(0.5),
            histogram.quantileMicros(0.99),
            Double.isNaN(uncertaintyMicros) ? 0 : uncertaintyMicros,
            histogram.encoded()));
  }

  synchronized Optional<Delay> delay(Leg leg, long nowMillis) {
    DelayHistogram histogram = histograms.get(leg);
    return histogram == null || histogram.observations(nowMillis) == 0
        ? Optional.empty()
        : Optional.of(histogram.toDelay());
  }

  synchronized Optional<Legs> legs(long nowMillis) {
    return Legs.assuming(
        delay(Leg.WRITE, nowMillis),
        delay(Leg.ACK, nowMillis),
        delay(Leg.REQUEST, nowMillis),
        delay(Leg.RESPONSE, nowMillis),
        Double.isNaN(uncertaintyMicros) ? 0 : uncertaintyMicros);
  }
}
