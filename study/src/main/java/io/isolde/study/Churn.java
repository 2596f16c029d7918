// SPDX-License-Identifier: Apache-2.0
package io.isolde.study;

import com.fasterxml.jackson.annotation.JsonProperty;
import io.isolde.cluster.ClusterException;
import io.isolde.cluster.LocalCluster;
import io.isolde.cluster.LocalNode;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * What happens to the nodes while clients go on: one is paused and resumed, one is killed and
 * started again, each for a part of the time, and a new one joins.
 */
public final class Churn {
  private static final double PAUSE_AT = 0.15;
  private static final double RESUME_AT = 0.30;
  private static final double KILL_AT = 0.45;
  private static final double START_AT = 0.60;
  private static final double JOIN_AT = 0.70;
  private static final long STOP_SECONDS = 300;

  private final LocalCluster cluster;
  private final Supplier<LocalNode> joining;
  private final int seconds;
  private final List<Event> events = new ArrayList<>();
  private final ScheduledExecutorService hand = Executors.newSingleThreadScheduledExecutor();
  private long startNanos;

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
  public record Timeline(@JsonProperty List<Event> events, @JsonProperty List<Second> seconds) {}

  /**
   * @param joining a node that is not started yet and joins when it is
   */
  Churn(LocalCluster cluster, Supplier<LocalNode> joining, int seconds) {
    this.cluster = cluster;
    this.joining = joining;
    this.seconds = seconds;
  }

  void begin() {
    startNanos = System.nanoTime();
    int last = cluster.nodes().size();
    LocalNode paused = cluster.node(last);
    LocalNode killed = cluster.node(last - 1);
    at(PAUSE_AT, paused.name() + " is paused", paused::pause);
    at(RESUME_AT, paused.name() + " goes on", paused::resume);
    at(KILL_AT, killed.name() + " is killed", killed::kill);
    at(START_AT, killed.name() + " is started", killed::start);
    at(JOIN_AT, "node%d joins".formatted(last + 1), () -> joining.get().start());
  }

  private void at(double share, String what, Runnable action) {
    var unused =
        hand.schedule(
            () -> {
              note(what);
              try {
                action.run();
                note(what + ": done");
              } catch (ClusterException e) {
                note(what + ": " + e.getMessage());
              }
            },
            (long) (share * seconds * 1000),
            TimeUnit.MILLISECONDS);
  }

  private synchronized void note(String what) {
    events.add(new Event((System.nanoTime() - startNanos) / 1e9, what));
  }

  /** Waits until the killed node is back and the new one has joined. */
  void end() throws InterruptedException {
    hand.shutdown();
    var unused = hand.awaitTermination(STOP_SECONDS, TimeUnit.SECONDS);
  }

  synchronized Timeline timeline(Seen seen) {
    List<Second> all = new ArrayList<>();
    for (int second = 0; second < seconds; second++) {
      int now = second;
      List<Seen.Read> reads =
          seen.reads().stream().filter(read -> read.atMillis() / 1000 == now).toList();
      all.add(
          new Second(
              second,
              reads.size(),
              reads.stream().filter(read -> read.versionsBehind() > 0).count(),
              Comparison.latency(reads.stream().mapToDouble(Seen.Read::latencyMicros)).mean(),
              Comparison.latency(
                      seen.writes().stream()
                          .filter(write -> write.atMillis() / 1000 == now)
                          .mapToDouble(Seen.Write::latencyMicros))
                  .mean(),
              seen.errorsAtMillis().stream().filter(at -> at / 1000 == now).count()));
    }
    return new Timeline(List.copyOf(events), all);
  }
}
