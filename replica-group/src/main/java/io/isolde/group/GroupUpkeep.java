// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import io.isolde.raft.Daemons;
import io.isolde.raft.transport.LogLimit;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Starts replicas once more that could not start, or whose logs have failed: a disk may be well
 * again later. Less and less often, and says why at most once a minute.
 */
final class GroupUpkeep implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(GroupUpkeep.class);
  private static final long LOOK_MILLIS = 1_000;
  private static final long FIRST_BACK_OFF_MILLIS = 1_000;
  private static final long MAX_BACK_OFF_MILLIS = 60_000;

  /** How a replica is started, in the place of the one that has failed. */
  interface Starter {
    void start(GroupServer.Opening opening) throws IOException;
  }

  /** What is known of a replica that should run. */
  private static final class Kept {
    private final GroupServer.Opening opening;
    private volatile String problem;
    private long backOffMillis = FIRST_BACK_OFF_MILLIS;
    private long nextAtNanos = System.nanoTime();

    private Kept(GroupServer.Opening opening) {
      this.opening = opening;
    }
  }

  private final Starter starter;
  private final Function<UUID, Optional<String>> failure;
  private final LogLimit logLimit = new LogLimit();
  private final Map<UUID, Kept> kept = new ConcurrentHashMap<>();
  private final ScheduledExecutorService timer =
      Executors.newSingleThreadScheduledExecutor(Daemons.named("isolde-group-upkeep"));

  GroupUpkeep(Starter starter, Function<UUID, Optional<String>> failure) {
    this.starter = starter;
    this.failure = failure;
  }

  void start() {
    var unused =
        timer.scheduleWithFixedDelay(this::look, LOOK_MILLIS, LOOK_MILLIS, TimeUnit.MILLISECONDS);
  }

  /** A replica runs; one that fails soon again is not started at once. */
  void runs(GroupServer.Opening opening) {
    kept.computeIfAbsent(opening.id(), id -> new Kept(opening)).problem = null;
  }

  /** A replica could not be started. */
  void failed(GroupServer.Opening opening, Exception why) {
    Kept replica = kept.computeIfAbsent(opening.id(), id -> new Kept(opening));
    String message = why.getMessage() == null ? why.toString() : why.getMessage();
    say(replica, message, why);
  }

  /** It is not to run, or somebody else sees to it. */
  void forget(UUID group) {
    kept.remove(group);
  }

  Optional<String> problem(UUID group) {
    return Optional.ofNullable(kept.get(group)).map(replica -> replica.problem);
  }

  private void look() {
    for (Kept replica : kept.values()) {
      try {
        look(replica);
      } catch (RuntimeException | Error e) {
        log.error("Replica group {} could not be looked after", replica.opening.id(), e);
      }
    }
  }

  private void look(Kept replica) {
    Optional<String> failed = failure.apply(replica.opening.id());
    failed.ifPresent(why -> say(replica, why, null));
    long now = System.nanoTime();
    if (replica.problem == null) {
      if (now - replica.nextAtNanos > nanos(MAX_BACK_OFF_MILLIS)) {
        replica.backOffMillis = FIRST_BACK_OFF_MILLIS;
      }
    } else if (now - replica.nextAtNanos >= 0) {
      replica.backOffMillis = Math.min(2 * replica.backOffMillis, MAX_BACK_OFF_MILLIS);
      replica.nextAtNanos = now + nanos(replica.backOffMillis);
      try {
        starter.start(replica.opening);
      } catch (IOException | RuntimeException e) {
        failed(replica.opening, e);
      }
    }
  }

  private static long nanos(long millis) {
    return TimeUnit.MILLISECONDS.toNanos(millis);
  }

  private void say(Kept replica, String what, Exception why) {
    if (replica.problem == null) {
      replica.nextAtNanos = System.nanoTime() + nanos(replica.backOffMillis);
    }
    replica.problem = what;
    UUID id = replica.opening.id();
    if (logLimit.allows(List.of(id, what))) {
      log.error(
          "This node's replica of group {} does not run, and is tried again: {}",
          id,
          what,
          why instanceof IOException ? null : why);
    }
  }

  @Override
  public void close() {
    timer.shutdownNow();
  }
}
