// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.notifications;

import io.isolde.bench.kit.Measurement;
import io.isolde.bench.kit.Pause;
import io.isolde.cluster.ToolException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import org.HdrHistogram.Histogram;

/** Watchers of the same row, and who changes it. */
final class Population {
  /** And a second more for each hundred watchers. */
  private static final int PATIENCE_SECONDS = 60;

  private static final int PER_SECOND = 100;

  private final CommitLog log = new CommitLog();
  private final Arrivals arrivals = new Arrivals();
  private final List<Watcher> watchers = new ArrayList<>();
  private final int patienceSeconds;
  private final ChangeLoop changes;

  private Population(int count, Writer writer, Histogram acknowledgedMicros) {
    this.patienceSeconds = PATIENCE_SECONDS + count / PER_SECOND;
    this.changes = new ChangeLoop(writer, log, arrivals, count, acknowledgedMicros);
  }

  /**
   * Connects watchers, and waits until all watch.
   *
   * @param kind makes one of them
   * @param acknowledgedMicros gets how long the writer waits for its own answers
   */
  static Population open(
      int count, Writer writer, Function<Arrivals, Watcher> kind, Histogram acknowledgedMicros) {
    Population made = new Population(count, writer, acknowledgedMicros);
    for (int i = 0; i < count; i++) {
      made.watchers.add(kind.apply(made.arrivals));
    }
    made.watchers.forEach(Watcher::begin);
    made.awaitConnected();
    return made;
  }

  /** Waits until all are connected, and have begun. */
  void awaitConnected() {
    Pause.until(
        "all watchers watch",
        patienceSeconds,
        () -> {
          requireNoFailure();
          return watchers.stream()
              .allMatch(each -> each.inbox().hasStarted() && !each.address().isEmpty());
        });
  }

  private void requireNoFailure() {
    for (Watcher each : watchers) {
      if (!each.failure().isEmpty()) {
        throw new ToolException("A watcher watches no more. " + each.failure());
      }
    }
  }

  Measurement run(Duration duration) {
    return changes.run(duration);
  }

  /** Makes one change, and waits until all have heard of it. */
  void change() {
    changes.change();
  }

  /** Between two notifications of a watcher, in the last run. */
  Histogram intervals() {
    return arrivals.intervals();
  }

  long errors() {
    return changes.errors();
  }

  /** How many are at each node; those that are nowhere are left out. */
  Map<String, Integer> spread() {
    Map<String, Integer> spread = new TreeMap<>();
    for (Watcher each : watchers) {
      if (!each.address().isEmpty()) {
        spread.merge(each.address(), 1, Integer::sum);
      }
    }
    return spread;
  }

  /** Closes all connections, and says whether everybody got what he had to. */
  DeliveryCheck.Verdict close() {
    CommitLog.Written written = log.written();
    long newest = written.ids().isEmpty() ? 0 : written.ids().get(written.ids().size() - 1);
    try {
      Pause.until(
          "all have heard of all",
          PATIENCE_SECONDS,
          () -> watchers.stream().allMatch(each -> each.inbox().hasReached(newest)));
    } catch (ToolException missing) {
      // The check counts it.
    }
    DeliveryCheck.Verdict verdict =
        DeliveryCheck.of(written, watchers.stream().map(each -> each.inbox().heard()).toList());
    watchers.forEach(Watcher::end);
    Pause.until(
        "all watchers are gone",
        patienceSeconds,
        () -> watchers.stream().allMatch(Watcher::isGone));
    return verdict;
  }
}
