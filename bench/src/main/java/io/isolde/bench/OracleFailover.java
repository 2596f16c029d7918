// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench;

import io.isolde.cluster.ToolException;
import io.isolde.oracle.group.MemberChange;
import io.isolde.raft.Peer;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * For how long nobody can begin or commit when the oracle's leader dies, hangs or hands over; and
 * whether it keeps its place when the machine is overloaded.
 *
 * <p>A gap is the longest time between two successes, of whichever client, from the event until all
 * is well again.
 */
final class OracleFailover {
  private static final int MEMBERS = 3;
  private static final int CLIENTS = 64;
  private static final int CONNECTIONS = 4;
  private static final int CLIENT_THREADS = 2;

  /** A request that takes longer has failed. */
  private static final int TIMEOUT_MILLIS = 2000;

  private static final int KILLS_PER_ROUND = 4;
  private static final int PAUSES_PER_ROUND = 2;
  private static final int HAND_OVERS_PER_ROUND = 4;

  private static final long PAUSE_MILLIS = 4000;
  private static final int PATIENCE_SECONDS = 30;

  /** Load before an event, and after what it caused is over. */
  private static final long CALM_MILLIS = 1000;

  private static final int BUSY_THREADS = 8;

  /** What an event looked like. */
  private record Gap(double commitMillis, double beginMillis, long failed) {}

  /** What happens to the leader, and what ends it. */
  private interface Event {
    void strike(Peer leader);

    void mend(Peer leader);
  }

  private OracleFailover() {}

  static Report run(String bench, BenchOptions options, PrintWriter out) {
    say(out, "Three members of the oracle, %d clients".formatted(CLIENTS));
    try (MemberProcesses members = new MemberProcesses(MEMBERS, true);
        Coordinators coordinators =
            new Coordinators(members.peers(), CONNECTIONS, CLIENT_THREADS, TIMEOUT_MILLIS)
                .awaitOpen();
        TransactionLoad load = new TransactionLoad(coordinators, CLIENTS)) {
      Run run = new Run(options, members, coordinators, load, out);
      run.warmUp();
      run.all();
      return Report.of(bench, options, run.metrics);
    }
  }

  private static void say(PrintWriter out, String sentence) {
    out.println(sentence);
    out.flush();
  }

  /** One run of the benchmark. */
  private static final class Run {
    private final BenchOptions options;
    private final MemberProcesses members;
    private final Coordinators coordinators;
    private final TransactionLoad load;
    private final PrintWriter out;
    private final Map<String, Double> metrics = new LinkedHashMap<>();

    private Run(
        BenchOptions options,
        MemberProcesses members,
        Coordinators coordinators,
        TransactionLoad load,
        PrintWriter out) {
      this.options = options;
      this.members = members;
      this.coordinators = coordinators;
      this.load = load;
      this.out = out;
    }

    /** All members come to lead, so that the code of leaders is loaded and compiled everywhere. */
    private void warmUp() {
      say(out, "  warming up for %d s, and three hand-overs".formatted(options.warmupSeconds()));
      Pause.millis(TimeUnit.SECONDS.toMillis(options.warmupSeconds()));
      for (int i = 0; i < MEMBERS; i++) {
        var unused = observe(new HandOver());
      }
    }

    private void all() {
      long before = load.committed();
      Pause.millis(TimeUnit.SECONDS.toMillis(options.seconds()));
      metrics.put("commits_per_s", (load.committed() - before) / (double) options.seconds());
      long failures = 0;
      failures += repeat("planned", HAND_OVERS_PER_ROUND * options.rounds(), new HandOver());
      failures += repeat("kill", KILLS_PER_ROUND * options.rounds(), new Kill());
      metrics.put("failed_requests", (double) failures);
      long inPauses = repeat("pause", PAUSES_PER_ROUND * options.rounds(), new Suspension());
      metrics.put("pause_failed_requests", (double) inPauses);
      if (options.soakMinutes() > 0) {
        overload();
      }
    }

    private long repeat(String name, int times, Event event) {
      List<Gap> gaps = new ArrayList<>();
      for (int i = 0; i < times; i++) {
        Gap gap = observe(event);
        gaps.add(gap);
        say(
            out,
            "  %s %d of %d: no commit for %.0f ms, no begin for %.0f ms%s"
                .formatted(
                    name,
                    i + 1,
                    times,
                    gap.commitMillis,
                    gap.beginMillis,
                    gap.failed == 0
                        ? ""
                        : ", %d requests failed: %s".formatted(gap.failed, load.lastFailure())));
      }
      addMetrics(name + "_gap", gaps.stream().mapToDouble(Gap::commitMillis).sorted().toArray());
      addMetrics(
          name + "_begin_gap", gaps.stream().mapToDouble(Gap::beginMillis).sorted().toArray());
      return gaps.stream().mapToLong(Gap::failed).sum();
    }

    private void addMetrics(String name, double[] sorted) {
      metrics.put(name + "_p50_ms", Gaps.percentile(sorted, 50));
      metrics.put(name + "_p99_ms", Gaps.percentile(sorted, 99));
      metrics.put(name + "_max_ms", sorted[sorted.length - 1]);
    }

    private Gap observe(Event event) {
      members.awaitAllCaughtUp();
      Peer leader = members.leader();
      Pause.millis(CALM_MILLIS);
      long failedBefore = load.failed();
      long start = System.nanoTime();
      load.commits().restart(start);
      load.starts().restart(start);
      event.strike(leader);
      Pause.until(
          "somebody commits again", PATIENCE_SECONDS, () -> load.commits().hasSuccessSince(start));
      Pause.millis(CALM_MILLIS);
      event.mend(leader);
      Pause.millis(CALM_MILLIS);
      long now = System.nanoTime();
      return new Gap(
          load.commits().longestMillis(now),
          load.starts().longestMillis(now),
          load.failed() - failedBefore);
    }

    private final class Kill implements Event {
      @Override
      public void strike(Peer leader) {
        members.process(leader).kill();
      }

      @Override
      public void mend(Peer leader) {
        members.restart(leader);
      }
    }

    private final class Suspension implements Event {
      @Override
      public void strike(Peer leader) {
        members.process(leader).suspend();
        Pause.millis(PAUSE_MILLIS);
        members.process(leader).resume();
      }

      @Override
      public void mend(Peer leader) {
        // It goes on by itself.
      }
    }

    private final class HandOver implements Event {
      @Override
      public void strike(Peer leader) {
        int next = (members.peers().indexOf(leader) + 1) % members.peers().size();
        Peer transferTarget = members.peers().get(next);
        try {
          coordinators
              .client()
              .change(new MemberChange(MemberChange.Kind.LEAD, transferTarget))
              .get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException | TimeoutException e) {
          say(out, "  %s does not take over: %s".formatted(transferTarget.id(), e));
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
          throw new ToolException("The measurement was interrupted.", e);
        }
      }

      @Override
      public void mend(Peer leader) {
        // Nothing is broken.
      }
    }

    /** Busy threads want all cores; the leader must stay the leader. */
    private void overload() {
      members.awaitAllCaughtUp();
      long seconds = TimeUnit.MINUTES.toSeconds(options.soakMinutes());
      say(out, "  %d busy threads for %d s".formatted(BUSY_THREADS, seconds));
      long termBefore = members.term();
      long failedBefore = load.failed();
      long committedBefore = load.committed();
      try (TemporaryFolder folder = new TemporaryFolder("busy");
          ChildProcess busy = busy(folder.path(), seconds)) {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        while (System.nanoTime() - deadline < 0 && busy.isAlive()) {
          Pause.millis(CALM_MILLIS);
        }
      }
      metrics.put("needless_elections", (double) (members.term() - termBefore));
      metrics.put("overloaded_failed_requests", (double) (load.failed() - failedBefore));
      metrics.put(
          "overloaded_commits_per_s", (load.committed() - committedBefore) / (double) seconds);
    }

    private static ChildProcess busy(Path folder, long seconds) {
      return ChildProcess.start(
          "busy",
          System.getProperty("java.class.path"),
          BusyMain.class,
          folder.resolve("busy.log"),
          List.of(Integer.toString(BUSY_THREADS), Long.toString(seconds)));
    }
  }
}
