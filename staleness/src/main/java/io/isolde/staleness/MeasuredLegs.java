// SPDX-License-Identifier: Apache-2.0
package io.isolde.staleness;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Optional;

/**
 * The legs between places, as far as they were measured. What was not is taken from the most
 * similar pair that was: same datacenters, then the same kind of distance, then any.
 */
public final class MeasuredLegs {

  /** From a coordinator's place to a replica's. */
  public record Route(Place from, Place to) {
    boolean joinsSameDatacentersAs(Route other) {
      return from.datacenter().equals(other.from.datacenter())
          && to.datacenter().equals(other.to.datacenter())
          && isAsFarAs(other);
    }

    boolean isAsFarAs(Route other) {
      return from.to(to) == other.from.to(other.to);
    }
  }

  private final Map<Route, Legs> measured;

  /** How long a coordinator's own replica takes to read. */
  private final Delay localRead;

  public MeasuredLegs(Map<Route, Legs> measured, Delay localRead) {
    if (measured.isEmpty()) {
      throw new IllegalArgumentException("No delay was measured between any two nodes.");
    }
    this.measured = new LinkedHashMap<>(measured);
    this.localRead = localRead;
  }

  /** The legs from a place to another, or of the most similar route. */
  public Legs between(Place from, Place to) {
    Route route = new Route(from, to);
    Legs exact = measured.get(route);
    if (exact != null) {
      return exact;
    }
    return likest(route)
        .orElseThrow(() -> new NoSuchElementException("No delay was measured at all."));
  }

  private Optional<Legs> likest(Route route) {
    return measured.keySet().stream()
        .filter(other -> other.joinsSameDatacentersAs(route))
        .findFirst()
        .or(() -> measured.keySet().stream().filter(other -> other.isAsFarAs(route)).findFirst())
        .or(() -> measured.keySet().stream().findFirst())
        .map(measured::get);
  }

  /**
   * The legs of a coordinator that is a replica itself. It writes its own copy before it sends the
   * others theirs, and sends reads to others before it reads its own: Cassandra's StorageProxy.
   */
  Legs local() {
    return Legs.of(Delay.NONE, Delay.NONE, Delay.NONE, localRead);
  }

  long observations() {
    return measured.values().stream().mapToLong(Legs::observations).min().orElse(0);
  }
}
