// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import io.isolde.group.FollowerProbe;
import io.isolde.raft.Peer;
import io.isolde.staleness.Estimate;
import io.isolde.staleness.FollowerDelays;
import io.isolde.staleness.VersionPredictor;
import java.util.List;
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
      List<Moment> moments,
      Estimate fresh99AfterMillis,
      Estimate fresh999AfterMillis) {}

  /**
   * Of reads at one time after a write's answer, or after another read.
   *
   * @param within2 to see one of the last two writes, which came at the same time; within3 likewise
   * @param monotonic with the writes of the row that {@link VersionPredictor} assumes
   */
  public record Moment(
      double afterMillis, Estimate fresh, Estimate within2, Estimate within3, Estimate monotonic) {}

  /**
   * What was seen of a group; empty if nothing was.
   *
   * @param afterMillis for each of these times
   */
  public Optional<Freshness> of(UUID group, List<Double> afterMillis) {
    FollowerDelays delays = groups.get(group);
    if (delays == null) {
      return Optional.empty();
    }
    synchronized (delays) {
      long now = nowMillis();
      if (delays.observations(now) == 0) {
        return Optional.empty();
      }
      return Optional.of(
          new Freshness(
              delays.followers(now),
              delays.observations(now),
              afterMillis.stream().map(after -> moment(delays, after, now)).toList(),
              delays.freshAfterMicros(0.99, now).times(1 / MICROS),
              delays.freshAfterMicros(0.999, now).times(1 / MICROS)));
    }
  }

  private static Moment moment(FollowerDelays delays, double afterMillis, long now) {
    double micros = afterMillis * MICROS;
    return new Moment(
        afterMillis,
        delays.freshAfter(micros, now),
        delays.withinVersions(2, micros, 0, now),
        delays.withinVersions(3, micros, 0, now),
        delays.monotonicReads(VersionPredictor.ASSUMED_WRITE_INTERVAL_MICROS, micros, now));
  }

  private static long nowMillis() {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime());
  }
}
