// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import io.isolde.group.FollowerProbe;
import io.isolde.raft.Peer;
import io.isolde.staleness.Estimate;
import io.isolde.staleness.FollowerDelays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * How stale reads at {@code ONE} of strong keyspaces are, as this node measures it for the groups
 * that it leads. Bounded by the number of groups.
 */
public final class FollowerStaleness implements FollowerProbe.Listener {
  private static final double MICROS = 1e3;

  private final long halfLifeMillis;

  /** Each guarded by itself. */
  private final Map<UUID, FollowerDelays> groups = new ConcurrentHashMap<>();

  FollowerStaleness(long halfLifeMillis) {
    this.halfLifeMillis = halfLifeMillis;
  }

  @Override
  public void onDelay(UUID group, Peer follower, double least, double most) {
    FollowerDelays delays = groups.computeIfAbsent(group, id -> new FollowerDelays(halfLifeMillis));
    synchronized (delays) {
      delays.record(follower.id(), least, most, nowMillis());
    }
  }

  void forget(UUID group) {
    groups.remove(group);
  }

  /**
   * What is to be expected of reads that go to any replica of a group.
   *
   * @param observations of the follower of which the fewest are known
   * @param fresh99AfterMillis how long after a write's answer 99% of the reads see it
   */
  public record Freshness(
      int followers,
      long observations,
      Map<Double, Estimate> afterMillis,
      double fresh99AfterMillis,
      double fresh999AfterMillis) {}

  /**
   * What was seen of a group; empty if nothing was.
   *
   * @param afterMillis for each of these times since a write's answer
   */
  public Optional<Freshness> of(UUID group, Iterable<Double> afterMillis) {
    FollowerDelays delays = groups.get(group);
    if (delays == null) {
      return Optional.empty();
    }
    synchronized (delays) {
      long now = nowMillis();
      if (delays.observations(now) == 0) {
        return Optional.empty();
      }
      Map<Double, Estimate> fresh = new LinkedHashMap<>();
      afterMillis.forEach(after -> fresh.put(after, delays.freshAfter(after * MICROS, now)));
      return Optional.of(
          new Freshness(
              delays.followers(now),
              delays.observations(now),
              fresh,
              delays.freshAfterMicros(0.99, now) / MICROS,
              delays.freshAfterMicros(0.999, now) / MICROS));
    }
  }

  private static long nowMillis() {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime());
  }
}
