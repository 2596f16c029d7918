// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.notifications;

import io.isolde.bench.kit.Pause;
import io.isolde.bench.kit.Repeated;
import io.isolde.bench.kit.Run;
import io.isolde.bench.nodes.TemporaryNode;
import io.isolde.cluster.LocalNode;
import io.isolde.cluster.ToolException;
import java.util.LinkedHashMap;
import java.util.Map;

/** A node dies and comes back while changes go on: where watchers are, and what they got. */
final class KillAndRestart {
  private static final long BEFORE_MILLIS = 3_000;

  /** And a second more for each thirty watchers, since nodes move a bounded number at once. */
  private static final int PATIENCE_SECONDS = 60;

  private static final int PER_SECOND = 30;

  /** A node with a tenth more than the mean, and a few, asks nobody to move. */
  private static final double EVEN = 1.1;

  private static final int FEW = 5;

  private final Run run;
  private final TemporaryNode cluster;
  private final WatchCase watching;
  private final int nodes;
  private final Map<String, Double> metrics = new LinkedHashMap<>();

  KillAndRestart(Run run, TemporaryNode cluster, WatchCase watching) {
    this.run = run;
    this.cluster = cluster;
    this.watching = watching;
    this.nodes = cluster.nodes().size();
  }

  /** Does it, and returns the figures; the watchers are left connected. */
  Map<String, Double> observe() {
    watching.open();
    Population watchers = watching.population();
    try (Repeated changes = new Repeated("changes", watchers::change)) {
      Pause.millis(BEFORE_MILLIS);
      note("before_kill", nodes);
      killAndRestart(watchers, cluster.nodes().get(nodes - 1));
    }
    metrics.put("changes_delayed_in_kill", (double) watchers.errors());
    return metrics;
  }

  private void killAndRestart(Population watchers, LocalNode node) {
    long killedNanos = System.nanoTime();
    node.kill();
    awaitLeft(watchers, node.spec().address());
    watchers.awaitConnected();
    metrics.put("reconnected_after_kill_s", secondsSince(killedNanos));
    note("after_kill", nodes - 1);
    node.start();
    metrics.put("balanced_after_restart_s", awaitBalance(watchers, System.nanoTime()));
    note("after_restart", nodes);
  }

  /** The sockets of a dead process are closed by its system. */
  private static void awaitLeft(Population watchers, String address) {
    Pause.until(
        "nobody is at the node that was killed",
        PATIENCE_SECONDS,
        () ->
            watchers.spread().keySet().stream().noneMatch(each -> each.startsWith(address + ":")));
  }

  private double awaitBalance(Population watchers, long startedNanos) {
    int patience = PATIENCE_SECONDS + run.options().watchers() / PER_SECOND;
    try {
      Pause.until("watchers are balanced", patience, () -> isEven(watchers.spread()));
    } catch (ToolException notYet) {
      run.say("  " + notYet.getMessage());
    }
    return secondsSince(startedNanos);
  }

  private boolean isEven(Map<String, Integer> spread) {
    double mean = spread.values().stream().mapToInt(Integer::intValue).sum() / (double) nodes;
    return spread.size() == Math.min(nodes, run.options().watchers())
        && spread.values().stream().allMatch(each -> each <= Math.max(mean * EVEN, mean + FEW));
  }

  private void note(String when, int living) {
    Map<String, Integer> spread = watching.population().spread();
    run.say("  %s: %s".formatted(when.replace('_', ' '), spread));
    metrics.put("most_per_mean_" + when, Spreads.mostPerMean(spread, living));
  }

  private static double secondsSince(long nanos) {
    return (System.nanoTime() - nanos) / 1e9;
  }
}
