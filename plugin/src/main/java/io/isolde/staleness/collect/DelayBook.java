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
import java.util.function.Predicate;

/** The delays that this node has seen, by table and by the place of the other node. Bounded. */
public final class DelayBook {
  /** Racks whose delays are kept, those first that are seen first; further ones are left out. */
  private static final int MAX_PLACES = 64;

  /** A full book looks no more often for tables that are gone: each message might make it look. */
  private static final long LOOK_MILLIS = 1_000;

  private final long halfLifeMillis;
  private final int mostTables;
  private final LongSupplier millis;
  private final Predicate<String> exists;
  private final Map<String, Map<Place, RouteDelays>> tables = new ConcurrentHashMap<>();
  private final AtomicLong leftOut = new AtomicLong();
  private final AtomicLong nextLookMillis = new AtomicLong(Long.MIN_VALUE);

  /**
   * Makes an empty book.
   *
   * @param millis a clock that goes on steadily
   * @param exists whether there is a table, as {@code keyspace.table}, still: one that is gone
   *     makes room for another
   */
  public DelayBook(
      long halfLifeMillis, int mostTables, LongSupplier millis, Predicate<String> exists) {
    this.halfLifeMillis = halfLifeMillis;
    this.mostTables = mostTables;
    this.millis = millis;
    this.exists = exists;
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
      if (!hasRoom()) {
        leftOut.incrementAndGet();
        return null;
      }
      places = tables.computeIfAbsent(table, t -> new ConcurrentHashMap<>());
    }
    RouteDelays route = places.get(peer);
    if (route == null && places.size() >= MAX_PLACES) {
      leftOut.incrementAndGet();
      return null;
    }
    return route != null
        ? route
        : places.computeIfAbsent(peer, p -> new RouteDelays(halfLifeMillis));
  }

  private boolean hasRoom() {
    long now = millis.getAsLong();
    long next = nextLookMillis.get();
    if (tables.size() >= mostTables
        && now >= next
        && nextLookMillis.compareAndSet(next, now + LOOK_MILLIS)) {
      forgetThoseGone();
    }
    return tables.size() < mostTables;
  }

  private void forgetThoseGone() {
    tables.keySet().removeIf(exists.negate());
  }

  /** By table that exists, as {@code keyspace.table}, and place: what was seen of each leg. */
  public Map<String, Map<Place, Map<Leg, SeenLeg>>> seen() {
    forgetThoseGone();
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

  /** The legs from this node's place to others, for a table; empty if it's gone or not seen. */
  public Optional<MeasuredLegs> legs(String table, Place self) {
    long now = millis.getAsLong();
    Map<Route, Legs> legs = new HashMap<>();
    Map<Place, RouteDelays> places =
        exists.test(table) ? tables.getOrDefault(table, Map.of()) : Map.of();
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
