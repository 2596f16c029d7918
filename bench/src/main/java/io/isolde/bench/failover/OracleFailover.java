// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.failover;

import io.isolde.bench.kit.Pause;
import io.isolde.bench.kit.Report;
import io.isolde.bench.kit.Run;
import io.isolde.bench.nodes.ChildProcess;
import io.isolde.bench.nodes.TemporaryFolder;
import io.isolde.bench.oracle.Coordinators;
import io.isolde.bench.oracle.MemberProcesses;
import io.isolde.cluster.ToolException;
import io.isolde.oracle.group.MemberChange;
import io.isolde.raft.Peer;
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
public final class OracleFailover {
  private static final int MEMBERS = 3;
  private static final int CLIENTS = 64;
  private static final int CONNECTIONS = 4;
  private static final int CLIENT_THREADS = 2;

  /** A request that takes longer has failed. */
  private static final int TIMEOUT_MILLIS = 2000;

  private static final int KILLS_PER_ROUND = 4;
  private static final int PAUSES_PER_ROUND = 2;
  private static final int HAND_OVERS_PER_ROUND = 4;
  private static final int PATIENCE_SECONDS = 30;
  private static final int BUSY_THREADS = 8;

  private final Run run;
  private final MemberProcesses members;
  private final Coordinators coordinators;
  private final TransactionLoad load;
  private final Map<String, Double> metrics = new LinkedHashMap<>();

  private final Event<Peer> handOver = Event.harmless(this::handOver);

  private OracleFailover(
      Run run, MemberProcesses members, Coordinators coordinators, TransactionLoad load) {
    this.run = run;
    this.members = members;
    this.coordinators = coordinators;
    this.load = load;
  }

  /** Runs it. */
  public static Report run(Run run) {
    run.say("Three members of the oracle, %d clients".formatted(CLIENTS));
    try (MemberProcesses members = new MemberProcesses(MEMBERS, true);
        Coordinators coordinators =
            new Coordinators(members.peers(), CONNECTIONS, CLIENT_THREADS, TIMEOUT_MILLIS)
                .awaitOpen();
        TransactionLoad load = new TransactionLoad(coordinators, CLIENTS)) {
      OracleFailover failover = new OracleFailover(run, members, coordinators, load);
      failover.warmUp();
      failover.all();
      return run.report(failover.metrics);
    }
  }

  /** All members come to lead, so that the code of leaders is loaded and compiled everywhere. */
  private void warmUp() {
    int seconds = run.options().warmupSeconds();
    run.say("  warming up for %d s, and three hand-overs".formatted(seconds));
    Pause.millis(TimeUnit.SECONDS.toMillis(seconds));
    for (int i = 0; i < MEMBERS; i++) {
      var unused = observe(handOver);
    }
  }

  private void all() {
    int rounds = run.options().rounds();
    long before = load.committed();
    Pause.millis(run.options().measured().toMillis());
    metrics.put("commits_per_s", (load.committed() - before) / (double) run.options().seconds());
    long failed = repeat("planned", HAND_OVERS_PER_ROUND * rounds, handOver);
    Event<Peer> kill =
        Event.hard(leader -> members.process(leader).kill(), leader -> members.restart(leader));
    failed += repeat("kill", KILLS_PER_ROUND * rounds, kill);
    metrics.put("failed_requests", (double) failed);
    long inPauses =
        repeat("pause", PAUSES_PER_ROUND * rounds, Event.hard(this::suspend, leader -> {}));
    metrics.put("pause_failed_requests", (double) inPauses);
    if (run.options().soakMinutes() > 0) {
      overload();
    }
  }

  /** Returns how many requests failed. */
  private long repeat(String name, int times, Event<Peer> event) {
    Gaps gaps = new Gaps();
    for (int i = 1; i <= times; i++) {
      Gaps.Gap gap = observe(event);
      gaps.add(gap);
      run.say(
          "  %s %d of %d: no commit for %.0f ms, no begin for %.0f ms, %d requests failed (last: %s)"
              .formatted(
                  name,
                  i,
                  times,
                  gap.millis().get(0),
                  gap.millis().get(1),
                  gap.failed(),
                  load.clients().lastFailure()));
    }
    addMetrics(name + "_gap", gaps, 0);
    addMetrics(name + "_begin_gap", gaps, 1);
    return gaps.failed();
  }

  private void addMetrics(String name, Gaps gaps, int clock) {
    metrics.put(name + "_p50_ms", gaps.percentileMillis(clock, 50));
    metrics.put(name + "_p99_ms", gaps.percentileMillis(clock, 99));
    metrics.put(name + "_max_ms", gaps.percentileMillis(clock, 100));
  }

  private Gaps.Gap observe(Event<Peer> event) {
    members.awaitAllCaughtUp();
    return Gaps.observe(
        event, members.leader(), List.of(load.commits(), load.starts()), load.clients()::failed);
  }

  private void suspend(Peer leader) {
    members.process(leader).suspend();
    Pause.millis(Gaps.OUTAGE_MILLIS);
    members.process(leader).resume();
  }

  private void handOver(Peer leader) {
    int next = (members.peers().indexOf(leader) + 1) % members.peers().size();
    Peer transferTarget = members.peers().get(next);
    try {
      coordinators
          .client()
          .change(new MemberChange(MemberChange.Kind.LEAD, transferTarget))
          .get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    } catch (ExecutionException | TimeoutException e) {
      run.say("  %s does not take over: %s".formatted(transferTarget.id(), e));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ToolException("The measurement was interrupted.", e);
    }
  }

  /** Busy threads want all cores; the leader must stay the leader. */
  private void overload() {
    members.awaitAllCaughtUp();
    long seconds = TimeUnit.MINUTES.toSeconds(run.options().soakMinutes());
    run.say("  %d busy threads for %d s".formatted(BUSY_THREADS, seconds));
    long termBefore = members.term();
    long failedBefore = load.clients().failed();
    long committedBefore = load.committed();
    try (TemporaryFolder folder = new TemporaryFolder("busy");
        ChildProcess busy =
            ChildProcess.startHere(
                "busy",
                BusyMain.class,
                folder.path().resolve("busy.log"),
                List.of(Integer.toString(BUSY_THREADS), Long.toString(seconds)))) {
      long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
      while (System.nanoTime() - deadline < 0 && busy.isAlive()) {
        Pause.millis(Gaps.CALM_MILLIS);
      }
    }
    metrics.put("needless_elections", (double) (members.term() - termBefore));
    metrics.put("overloaded_failed_requests", (double) (load.clients().failed() - failedBefore));
    metrics.put(
        "overloaded_commits_per_s", (load.committed() - committedBefore) / (double) seconds);
  }
}
