// SPDX-License-Identifier: Apache-2.0
package io.isolde.study;

import com.fasterxml.jackson.annotation.JsonProperty;
import io.isolde.cluster.ClusterException;
import io.isolde.cluster.LocalCluster;
import io.isolde.cluster.LocalNode;
import io.isolde.cluster.ToolException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;

/**
 * What happens to the nodes while clients go on: one is paused and resumed, one is killed and
 * started again, each for a part of the time, and a new one joins. One after another, so the load
 * must go on until it is done.
 */
public final class Churn {
  private static final double PAUSE_AT = 0.15;
  private static final double RESUME_AT = 0.30;
  private static final double KILL_AT = 0.45;
  private static final double START_AT = 0.60;
  private static final double JOIN_AT = 0.70;
  private static final long STOP_SECONDS = 300;

  private final List<Step> steps;
  private final List<Event> events = new ArrayList<>();
  private final ScheduledExecutorService hand = Executors.newSingleThreadScheduledExecutor();
  private long startNanos;

  /**
   * Something to do, as soon as what comes before it is done.
   *
   * @param atSeconds from the beginning, at the earliest
   */
  record Step(double atSeconds, String what, Runnable action) {}

  /** Something that was done to a node. */
  public record Event(@JsonProperty("at_s") double atSeconds, @JsonProperty String what) {}

  /** What clients saw in a second. */
  public record Second(
      @JsonProperty int second,
      @JsonProperty long reads,
      @JsonProperty("stale_reads") long staleReads,
      @JsonProperty("read_mean_ms") double readMeanMillis,
      @JsonProperty("write_mean_ms") double writeMeanMillis,
      @JsonProperty long errors) {}

  /** All of it. */
  public record Timeline(
      @JsonProperty List<Event> events,
      @JsonProperty List<Second> seconds,
      @JsonProperty("rows_left_out") long rowsLeftOut) {}

  Churn(List<Step> steps) {
    this.steps = steps;
  }

  /**
   * The last two nodes go and come back, and one more joins.
   *
   * @param joining a node that is not started yet and joins when it is
   * @param seconds over which the beginnings are spread
   */
  static Churn of(LocalCluster cluster, Supplier<LocalNode> joining, int seconds) {
    int last = cluster.nodes().size();
    LocalNode paused = cluster.node(last);
    LocalNode killed = cluster.node(last - 1);
    return new Churn(
        List.of(
            new Step(PAUSE_AT * seconds, paused.name() + " is paused", paused::pause),
            new Step(RESUME_AT * seconds, paused.name() + " goes on", paused::resume),
            new Step(KILL_AT * seconds, killed.name() + " is killed", killed::kill),
            new Step(START_AT * seconds, killed.name() + " is started", killed::start),
            new Step(
                JOIN_AT * seconds,
                "node%d joins".formatted(last + 1),
                () -> joining.get().start())));
  }

  void begin() {
    startNanos = System.nanoTime();
    for (Step step : steps) {
      var unused =
          hand.schedule(() -> act(step), (long) (step.atSeconds * 1000), TimeUnit.MILLISECONDS);
    }
    // What is scheduled is done all the same.
    hand.shutdown();
  }

  private void act(Step step) {
    note(step.what);
    try {
      step.action.run();
      note(step.what + ": done");
    } catch (ClusterException | ToolException e) {
      note(step.what + ": " + e.getMessage());
    }
  }

  /** Whether all steps have been made. */
  boolean isDone() {
    return hand.isTerminated();
  }

  private synchronized void note(String what) {
    events.add(new Event((System.nanoTime() - startNanos) / 1e9, what));
  }

  /** The clients have stopped; waits, not for ever, until the nodes are as they should be. */
  void end() throws InterruptedException {
    if (!isDone()) {
      note("the clients stop before that is done");
      if (!hand.awaitTermination(STOP_SECONDS, TimeUnit.SECONDS)) {
        hand.shutdownNow();
      }
    }
  }

  synchronized Timeline timeline(Seen seen) {
    Map<Long, List<Seen.Read>> reads = bySecond(seen.reads(), Seen.Read::atMillis);
    Map<Long, List<Seen.Write>> writes = bySecond(seen.writes(), Seen.Write::atMillis);
    Map<Long, List<Long>> errors = bySecond(seen.errorsAtMillis(), at -> at);
    List<Second> all = new ArrayList<>();
    for (int second = 0; second < seen.seconds(); second++) {
      List<Seen.Read> read = reads.getOrDefault((long) second, List.of());
      List<Seen.Write> written = writes.getOrDefault((long) second, List.of());
      all.add(
          new Second(
              second,
              read.size(),
              read.stream().filter(each -> each.versionsBehind() > 0).count(),
              Comparison.latency(read.stream().mapToDouble(Seen.Read::latencyMicros)).mean(),
              Comparison.latency(written.stream().mapToDouble(Seen.Write::latencyMicros)).mean(),
              errors.getOrDefault((long) second, List.of()).size()));
    }
    return new Timeline(List.copyOf(events), all, seen.rowsLeftOut());
  }

  private static <T> Map<Long, List<T>> bySecond(List<T> all, ToLongFunction<T> atMillis) {
    return all.stream().collect(Collectors.groupingBy(each -> atMillis.applyAsLong(each) / 1000));
  }
}
