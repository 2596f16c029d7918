// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.replica.simulation;

import io.isolde.oracle.Decision;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;

/** What becomes of a coordinator's commits once they are decided. */
final class Applying {
  /** How long it is waited for what the leader says at once. */
  private static final int UNREPORTED_MICROS = 5_000;

  private record Decided(Transaction transaction, Decision.Committed how) {}

  private final Coordinator coordinator;
  private final World world;
  private final Timeline time;
  private final List<Decided> toApply = new ArrayList<>();

  /** Commits that are applied, though the log may not know it. */
  private final Set<Long> seen = new LinkedHashSet<>();

  Applying(Coordinator coordinator) {
    this.coordinator = coordinator;
    this.world = coordinator.world;
    this.time = world.time;
  }

  /** A commit is decided, and perhaps applied by the leader already. */
  void decided(Transaction transaction, Decision.Committed how, Response.Answered answered) {
    long commitTimestamp = how.commitTimestamp();
    Response.Stable known = new Response.Stable(answered.stable(), answered.epoch());
    if (!answered.isApplied()) {
      toApply.add(new Decided(transaction, how));
    } else if (isVisible(known, commitTimestamp)) {
      seen.add(commitTimestamp);
      learnSuccess(transaction, commitTimestamp, known);
    } else {
      reportApplied(transaction, commitTimestamp);
    }
  }

  /** What is decided is for others to apply. */
  void clear() {
    toApply.clear();
    seen.clear();
  }

  boolean isQuiet() {
    return toApply.isEmpty();
  }

  /** What a leader must know. */
  List<Long> seen() {
    return List.copyOf(seen);
  }

  /** A leader was told of some, and the log does not know all of them. */
  void heard(List<Long> some, List<Long> unlogged) {
    some.forEach(seen::remove);
    seen.addAll(unlogged);
  }

  /** Applies what can be. */
  void applyDecided() {
    for (Decided decided : List.copyOf(toApply)) {
      boolean mayApply =
          coordinator.knowledge.isNext(decided.transaction, decided.how.applyAfter());
      if (mayApply && canApply(decided.transaction) && !time.oneIn(4)) {
        toApply.remove(decided);
        apply(decided.transaction, decided.how.commitTimestamp());
      }
    }
  }

  /** Whether the replicas take it now. */
  boolean canApply(Transaction transaction) {
    return world.checker.store.canApply(transaction, time.nowMicros());
  }

  private void apply(Transaction transaction, long commitTimestamp) {
    if (world.mutates(Mutation.TELL_APPLIED_TOO_EARLY)) {
      time.after(2_000, () -> world.checker.store.apply(transaction, commitTimestamp));
    } else {
      world.checker.store.apply(transaction, commitTimestamp);
    }
    if (time.oneIn(2)) {
      reportAtTheLeader(transaction, commitTimestamp);
    } else {
      reportApplied(transaction, commitTimestamp);
    }
  }

  /**
   * As on the leader's own node, where a method call answers what is stable at once. Here the call
   * may be lost or late; then it is reported as from any other node.
   */
  private void reportAtTheLeader(Transaction transaction, long commitTimestamp) {
    AtomicBoolean isOver = new AtomicBoolean();
    Runnable otherwise =
        () -> {
          if (isOver.compareAndSet(false, true)) {
            reportApplied(transaction, commitTimestamp);
          }
        };
    world.send(
        coordinator,
        coordinator.leader,
        new Request.Applied(commitTimestamp, false),
        response -> {
          if (!isVisible(response, commitTimestamp)) {
            otherwise.run();
          } else if (isOver.compareAndSet(false, true)) {
            world.counts.add(Happening.REPORTED_AT_THE_LEADER);
            seen.add(commitTimestamp);
            learnSuccess(transaction, commitTimestamp, (Response.Stable) response);
          }
        });
    time.after(UNREPORTED_MICROS, () -> coordinator.receive(otherwise));
  }

  private boolean isVisible(Response response, long commitTimestamp) {
    return response instanceof Response.Stable known
        && (known.stable() >= commitTimestamp || world.mutates(Mutation.TAKE_HEARD_FOR_VISIBLE));
  }

  private void reportApplied(Transaction transaction, long commitTimestamp) {
    seen.add(commitTimestamp);
    coordinator.send(
        new Request.Applied(commitTimestamp, true),
        response -> learnSuccess(transaction, commitTimestamp, (Response.Stable) response));
  }

  private void learnSuccess(Transaction transaction, long commitTimestamp, Response.Stable known) {
    coordinator.knowledge.learn(
        known.stable(),
        known.epoch(),
        () -> world.checker.onToldSuccess(transaction, commitTimestamp));
  }

  @Override
  public String toString() {
    return toApply.toString();
  }
}
