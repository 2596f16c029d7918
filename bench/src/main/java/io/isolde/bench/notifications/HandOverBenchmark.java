// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.notifications;

import io.isolde.bench.kit.BenchOptions;
import io.isolde.bench.kit.Pause;
import io.isolde.bench.kit.Report;
import io.isolde.bench.kit.Run;
import io.isolde.bench.nodes.TemporaryNode;
import io.isolde.cluster.LocalNode;
import io.isolde.cluster.ToolException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.IntStream;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;

/**
 * Watchers of a few rows that change a hundred times a second, while nodes die: first one, and then
 * another one, or the same one again, amid the moves that follow its return. What each watcher
 * heard is compared with what was committed.
 */
public final class HandOverBenchmark {
  private static final int NODES = 3;
  private static final String PORT = "7314";
  private static final int ROWS = 5;
  private static final int CHANGES_PER_SECOND = 100;

  private static final int PATIENCE_SECONDS = 180;
  private static final long BETWEEN_MILLIS = 3_000;
  private static final long MAX_MICROS = 300_000_000;
  private static final int SIGNIFICANT_DIGITS = 3;

  /** A node with less than this part of its share is still being moved to. */
  private static final double MOVING = 0.8;

  /** With a tenth more than that, and a few, nobody has to move. */
  private static final double EVEN = 1.1;

  private static final int FEW = 5;

  private final Run run;
  private final TemporaryNode cluster;
  private final List<CommitLog> logs =
      IntStream.range(0, ROWS).mapToObj(row -> new CommitLog()).toList();

  /** By row. */
  private final List<List<PushWatcher>> watchers = new ArrayList<>();

  private final LongAdder delivered = new LongAdder();
  private final Histogram intervalMicros = new ConcurrentHistogram(MAX_MICROS, SIGNIFICANT_DIGITS);
  private int kills;
  private int killsInMoves;

  private HandOverBenchmark(Run run, TemporaryNode cluster) {
    this.run = run;
    this.cluster = cluster;
  }

  /** Runs the benchmark on nodes of its own. */
  public static Report run(Run run) {
    BenchOptions options = run.options().onNodes(NODES);
    try (TemporaryNode cluster =
            TemporaryNode.start(
                "hand-over",
                NODES,
                TemporaryNode.spec(options).withIsoldeSetting("push_port", PORT),
                run.out());
        WatcherLoops loops = new WatcherLoops()) {
      return run.report(new HandOverBenchmark(run, cluster).observe(loops));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ToolException("The measurement was interrupted.", e);
    }
  }

  private Map<String, Double> observe(WatcherLoops loops) throws InterruptedException {
    IsoldeWriter writer = new IsoldeWriter(cluster);
    connect(loops);
    Map<String, Double> metrics = new LinkedHashMap<>();
    OpenLoop changes = new OpenLoop(CHANGES_PER_SECOND, writer::change, logs);
    try (changes) {
      Duration soak = Duration.ofMinutes(run.options().soakMinutes());
      long startNanos = System.nanoTime();
      int cycle = 0;
      do {
        killAndKillAgain(cycle++);
      } while (System.nanoTime() - startNanos < soak.toNanos());
      metrics.put("seconds", (System.nanoTime() - startNanos) / 1e9);
    }
    metrics.put("changes_refused", (double) changes.refused());
    metrics.put("changes_skipped", (double) changes.skipped());
    lastChanges(writer);
    metrics.put("kills", (double) kills);
    metrics.put("kills_in_moves", (double) killsInMoves);
    metrics.put("interval_p99_ms", intervalMicros.getValueAtPercentile(99) / 1e3);
    metrics.put("interval_p999_ms", intervalMicros.getValueAtPercentile(99.9) / 1e3);
    metrics.put("interval_longest_ms", intervalMicros.getMaxValue() / 1e3);
    metrics.putAll(verdict());
    all().forEach(PushWatcher::end);
    Pause.until("all are gone", PATIENCE_SECONDS, () -> all().stream().allMatch(Watcher::isGone));
    return metrics;
  }

  private void connect(WatcherLoops loops) {
    Gate gate = new Gate();
    List<String> addresses =
        cluster.nodes().stream().map(node -> node.spec().address() + ":" + PORT).toList();
    for (int row = 0; row < ROWS; row++) {
      PushWatcher.Plan plan =
          new PushWatcher.Plan(IsoldeWriter.statement(row), addresses, true, gate, this::notified);
      watchers.add(
          IntStream.range(0, Math.max(1, run.options().watchers() / ROWS))
              .mapToObj(i -> new PushWatcher(plan, loops.next()))
              .toList());
    }
    all().forEach(PushWatcher::begin);
    awaitConnected();
  }

  private List<PushWatcher> all() {
    return watchers.stream().flatMap(List::stream).toList();
  }

  private void notified(Inbox inbox, long commit) {
    delivered.increment();
    long intervalNanos = inbox.add(commit, System.nanoTime());
    if (intervalNanos != Inbox.NONE) {
      intervalMicros.recordValue(Math.min(intervalNanos / 1_000, MAX_MICROS));
    }
  }

  private void awaitConnected() {
    Pause.until(
        "all watchers watch",
        PATIENCE_SECONDS,
        () ->
            all().stream()
                .allMatch(
                    each -> {
                      if (!each.failure().isEmpty()) {
                        throw new ToolException("A watcher watches no more. " + each.failure());
                      }
                      return each.inbox().hasStarted() && !each.address().isEmpty();
                    }));
  }

  /** The second one to die is in turns the node that watchers move to, and one that they leave. */
  private void killAndKillAgain(int cycle) {
    LocalNode first = cluster.nodes().get(cycle % NODES);
    LocalNode second = cycle % 2 == 0 ? first : cluster.nodes().get((cycle + 1) % NODES);
    Pause.millis(BETWEEN_MILLIS);
    kill(first);
    awaitConnected();
    first.start();
    Pause.until("watchers move", PATIENCE_SECONDS, () -> at(first) > 0);
    boolean isMoving = at(first) < MOVING * all().size() / NODES;
    kill(second);
    killsInMoves += isMoving ? 1 : 0;
    run.say(
        "  %s died, and %s %s: %s; %,d notifications"
            .formatted(
                first.name(),
                second.name(),
                isMoving ? "amid moves" : "after moves",
                spread(),
                delivered.sum()));
    Pause.millis(BETWEEN_MILLIS);
    second.start();
    awaitConnected();
    Pause.until("watchers are balanced", PATIENCE_SECONDS, this::isEven);
  }

  private void kill(LocalNode node) {
    node.kill();
    kills++;
  }

  private int at(LocalNode node) {
    return spread().getOrDefault(node.spec().address() + ":" + PORT, 0);
  }

  private Map<String, Integer> spread() {
    Map<String, Integer> spread = new TreeMap<>();
    for (Watcher each : all()) {
      if (!each.address().isEmpty()) {
        spread.merge(each.address(), 1, Integer::sum);
      }
    }
    return spread;
  }

  private boolean isEven() {
    double mean = all().size() / (double) NODES;
    Map<String, Integer> spread = spread();
    return spread.size() == NODES
        && spread.values().stream().allMatch(each -> each <= Math.max(mean * EVEN, mean + FEW));
  }

  /** One more change of each row: who has heard of it has heard of all before it. */
  private void lastChanges(IsoldeWriter writer) {
    for (int row = 0; row < ROWS; row++) {
      int changed = row;
      long last = writer.change(row);
      logs.get(row).committedAmongOthers(last);
      try {
        Pause.until(
            "all have heard of all",
            PATIENCE_SECONDS,
            () -> watchers.get(changed).stream().allMatch(each -> each.inbox().hasReached(last)));
      } catch (ToolException missing) {
        run.say("  " + missing.getMessage()); // The check counts what is missing.
      }
    }
  }

  private Map<String, Double> verdict() {
    DeliveryCheck.Verdict verdict = DeliveryCheck.Verdict.NOTHING;
    long changes = 0;
    long doubtful = 0;
    for (int row = 0; row < ROWS; row++) {
      CommitLog.Written written = logs.get(row).written();
      changes += written.ids().size();
      doubtful += written.doubtful();
      verdict =
          verdict.and(
              DeliveryCheck.of(
                  written, watchers.get(row).stream().map(each -> each.inbox().heard()).toList()));
    }
    Map<String, Double> numbers = new LinkedHashMap<>(verdict.metrics(""));
    numbers.put("changes", (double) changes);
    numbers.put("changes_in_doubt", (double) doubtful);
    return numbers;
  }
}
