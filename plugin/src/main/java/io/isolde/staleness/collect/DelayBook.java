// SPDX-License-Identifier: Apache-2.0
package io.isolde.staleness.collect;

import io.isolde.staleness.Delay;
import io.isolde.staleness.Legs;
import io.isolde.staleness.MeasuredLegs;
import io.isolde.staleness.MeasuredLegs.Route;
import io.isolde.staleness.Place;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/** The delays that this node has seen, by table and by the place of the other node. Bounded. */
public final class DelayBook {
  /** Racks with delays of their own; nodes of further ones count for the first rack of theirs. */
  private static final int MOST_PLACES = 64;

  private final long halfLifeMillis;
  private final int mostTables;
  private final LongSupplier millis;
  private final Map<String, Map<Place, RouteDelays>> tables = new ConcurrentHashMap<>();
  private final AtomicLong leftOut = new AtomicLong();

  /**
   * Makes an empty book.
   *
   * @param millis a clock that goes on steadily
   */
  public DelayBook(long halfLifeMillis, int mostTables, LongSupplier millis) {
    this.halfLifeMillis = halfLifeMillis;
    this.mostTables = mostTables;
    this.millis = millis;
  }

  void record(String table, Place peer, boolean isWrite, PeerClock.Ways ways) {
    RouteDelays route = route(table, peer);
    if (route != null) {
      route.record(
          isWrite ? Leg.WRITE : Leg.REQUEST,
          isWrite ? Leg.ACK : Leg.RESPONSE,
          ways,
          millis.getAsLong());
    }
  }

  void recordLocalRead(String table, Place self, double micros) {
    RouteDelays route = route(table, self);
    if (route != null) {
      route.recordLocalRead(micros, millis.getAsLong());
    }
  }

  /** Null if there are too many tables or places already. */
  private RouteDelays route(String table, Place peer) {
    Map<Place, RouteDelays> places = tables.get(table);
    if (places == null) {
      if (tables.size() >= mostTables) {
        leftOut.incrementAndGet();
        return null;
      }
      places = tables.computeIfAbsent(table, t -> new ConcurrentHashMap<>());
    }
    RouteDelays route = places.get(peer);
    if (route == null && places.size() >= MOST_PLACES) {
      leftOut.incrementAndGet();
      return null;
    }
    return route != null
        ? route
        : places.computeIfAbsent(peer, p -> new RouteDelays(halfLifeMillis));
  }

  /** By table, as {@code keyspace.table}, and place: what was seen of each leg. */
  public Map<String, Map<Place, Map<Leg, SeenLeg>>> seen() {
    long now = millis.getAsLong();
    Map<String, Map<Place, Map<Leg, SeenLeg>>> all = new TreeMap<>();
    tables.forEach(
        (table, places) ->
            places.forEach(
                (place, route) -> {
                  for (Leg leg : Leg.values()) {
                    route
                        .seen(leg, now)
                        .ifPresent(
                            seen ->
                                all.computeIfAbsent(table, t -> new TreeMap<>())
                                    .computeIfAbsent(place, p -> new TreeMap<>())
                                    .put(leg, seen));
                  }
                }));
    return all;
  }

  /** The legs from this node's place to others, for a table; empty if nothing was seen. */
  public Optional<MeasuredLegs> legs(String table, Place self) {
    long now = millis.getAsLong();
    Map<Route, Legs> legs = new HashMap<>();
    Map<Place, RouteDelays> places = tables.getOrDefault(table, Map.of());
    places.forEach(
        (place, route) ->
            route.legs(now).ifPresent(found -> legs.put(new Route(self, place), found)));
    if (legs.isEmpty()) {
      return Optional.empty();
    }
    Delay localRead =
        Optional.ofNullable(places.get(self))
            .flatMap(route -> route.delay(Leg.LOCAL_READ, now))
            .orElse(Delay.NONE);
    return Optional.of(new MeasuredLegs(legs, localRead));
  }

  /** Delays that found no room. */
  public long leftOut() {
    return leftOut.get();
  }
}
