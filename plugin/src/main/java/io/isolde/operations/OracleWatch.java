// SPDX-License-Identifier: Apache-2.0
package io.isolde.operations;

import io.isolde.oracle.group.OracleClient;
import io.isolde.oracle.group.OracleStatus;
import io.isolde.replicated.OracleHost;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.cassandra.concurrent.ScheduledExecutors;

/** Looks at the oracle's group from this node. */
final class OracleWatch {
  private static final long LEADER_MILLIS = 1_000;
  private static final long LOOK_SECONDS = 1;
  private static final long RECENT_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** Whose figures they are. */
  enum Source {
    THIS_NODE,
    LEADER,
    NOBODY
  }

  /**
   * What was seen.
   *
   * @param stable the newest snapshot of which this node has heard
   * @param last the newest timestamp
   * @param stableLagMillis see {@link Lag}
   * @param figures of this node if it is a member, else of the leader; empty if it did not answer
   * @param entriesBehind what the leader has applied and this member has not; empty if the leader
   *     did not answer, and if this node is no member
   */
  record Look(
      OracleHost host,
      boolean isMember,
      Source source,
      Optional<OracleStatus> figures,
      long stable,
      long last,
      long stableLagMillis,
      OptionalLong entriesBehind,
      OptionalDouble commitsPerSecond) {

    long lowWatermark() {
      return Math.max(
          figures.map(OracleStatus::lowWatermark).orElse(0L), host.session().lowWatermark());
    }
  }

  private record Seen(long atNanos, Optional<OracleStatus> status) {}

  private final NodeParts parts;
  private final Rate commits = new Rate();
  private final Lag lag = new Lag();
  private volatile Seen seen;

  /** The question under way, which all who want to know share. Guarded by this. */
  private CompletableFuture<OracleStatus> question;

  OracleWatch(NodeParts parts) {
    this.parts = parts;
  }

  /** Looks from time to time, or there would be no rate and no lag. */
  void start() {
    var unused =
        ScheduledExecutors.optionalTasks.scheduleWithFixedDelay(
            this::glance, LOOK_SECONDS, LOOK_SECONDS, TimeUnit.SECONDS);
  }

  private void glance() {
    recent().ifPresent(this::count);
    var unused = stableLagMillis();
  }

  private void count(OracleStatus status) {
    commits.look(nowMillis(), status.committed());
  }

  /** Asks the leader too, if that is another node; it gets a second to answer. */
  Optional<Look> look() {
    return parts.oracleHost().map(this::look);
  }

  private Look look(OracleHost host) {
    Optional<OracleStatus> own = host.node().status();
    Optional<OracleStatus> leaders = host.node().isServing() ? own : leaders();
    Optional<OracleStatus> figures = own.or(() -> leaders);
    figures.ifPresent(this::count);
    Source source = own.isPresent() ? Source.THIS_NODE : Source.LEADER;
    return new Look(
        host,
        own.isPresent(),
        figures.isPresent() ? source : Source.NOBODY,
        figures,
        stable(host, figures),
        last(host, figures),
        lag(host, figures),
        own.isPresent() && leaders.isPresent()
            ? OptionalLong.of(Math.max(0, leaders.get().appliedIndex() - own.get().appliedIndex()))
            : OptionalLong.empty(),
        commits.perSecond());
  }

  /** What the leader says; only it knows how long the coordinators have been silent. */
  Optional<OracleStatus> leaders() {
    try {
      return parts.oracleHost().isEmpty()
          ? Optional.empty()
          : Optional.of(
              ask(parts.oracleHost().get().client()).get(LEADER_MILLIS, TimeUnit.MILLISECONDS));
    } catch (ExecutionException | TimeoutException nobodyLeads) {
      return Optional.empty();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Optional.empty();
    }
  }

  private synchronized CompletableFuture<OracleStatus> ask(OracleClient client) {
    if (question == null || question.isDone()) {
      question = client.status();
    }
    return question;
  }

  /** This member's status, at most a second old; empty if this node is no member. Cheap. */
  Optional<OracleStatus> recent() {
    Seen last = seen;
    long now = System.nanoTime();
    if (last == null || now - last.atNanos > RECENT_NANOS) {
      last = new Seen(now, parts.oracleHost().flatMap(host -> host.node().status()));
      seen = last;
    }
    return last.status;
  }

  /** See {@link Lag}; 0 without a group. */
  long stableLagMillis() {
    return parts.oracleHost().map(host -> lag(host, recent())).orElse(0L);
  }

  private long lag(OracleHost host, Optional<OracleStatus> figures) {
    return lag.look(nowMillis(), stable(host, figures), last(host, figures));
  }

  private static long stable(OracleHost host, Optional<OracleStatus> figures) {
    return Math.max(figures.map(OracleStatus::stable).orElse(0L), host.session().newestStable());
  }

  private static long last(OracleHost host, Optional<OracleStatus> figures) {
    return Math.max(figures.map(OracleStatus::last).orElse(0L), host.session().last());
  }

  private static long nowMillis() {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime());
  }
}
