// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.scaling;

import io.isolde.bench.kit.Load;
import io.isolde.bench.kit.Measurement;
import io.isolde.bench.kit.Pause;
import io.isolde.bench.kit.Run;
import io.isolde.bench.kit.Spread;
import io.isolde.bench.kit.Workload;
import io.isolde.bench.nodes.ChildProcess;
import io.isolde.bench.oracle.Coordinators;
import io.isolde.bench.oracle.KeyChooser;
import io.isolde.bench.oracle.MemberProcesses;
import io.isolde.bench.oracle.MemberUsage;
import io.isolde.oracle.CommitRequest;
import io.isolde.oracle.Decision;
import io.isolde.oracle.IsolationLevel;
import io.isolde.oracle.group.CoordinatorSession;
import io.isolde.raft.Peer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.ToDoubleFunction;

/**
 * Takes apart what three members, each a process, pay for commits: the same load with few requests
 * in flight has many entries of the log, with many it has few; other loads have more rows, more
 * bytes, or only start timestamps.
 */
final class CostsMeasurement {
  private static final int MEMBERS = 3;
  private static final int CONNECTIONS = 4;
  private static final int CLIENT_THREADS = 2;
  private static final int TIMEOUT_MILLIS = 10_000;
  private static final int MANY_ROWS = 100;
  private static final int MANY_BYTES = 16 * 1024;
  private static final int MANY_SESSIONS = 200;
  private static final Duration WARM_UP_STEP = Duration.ofSeconds(1);

  /** What was seen of one load, for each of its requests. */
  private record Seen(
      double leaderMicros,
      double busiestMicros,
      double followerMicros,
      double entries,
      Measurement measurement) {}

  private final Run run;
  private final MemberProcesses members;
  private final Coordinators coordinators;
  private final AtomicInteger count = new AtomicInteger();

  private CostsMeasurement(Run run, MemberProcesses members, Coordinators coordinators) {
    this.run = run;
    this.members = members;
    this.coordinators = coordinators;
  }

  static MeasuredCosts measure(Run run) {
    run.say("What three members of the oracle pay, each a process that syncs its log");
    try (MemberProcesses members = new MemberProcesses(MEMBERS, true);
        Coordinators coordinators = coordinators(members, CONNECTIONS).awaitOpen()) {
      return new CostsMeasurement(run, members, coordinators).measure();
    }
  }

  private static Coordinators coordinators(MemberProcesses members, int count) {
    return new Coordinators(members.peers(), count, CLIENT_THREADS, TIMEOUT_MILLIS);
  }

  private MeasuredCosts measure() {
    Workload small = () -> commit(Costs.ROWS, 0);
    Workload wide = () -> commit(MANY_ROWS, 0);
    Workload heavy = () -> commit(Costs.ROWS, MANY_BYTES);
    Workload starts = this::begin;
    warmUp(List.of(small.at(256), small.at(16), wide.at(256), heavy.at(64), starts.at(256)));
    List<Seen> small16 = seen("10 rows, 16 in flight", small.at(16));
    List<Seen> small1024 = seen("10 rows, 1,024 in flight", small.at(1024));
    List<Seen> wide256 = seen("100 rows, 256 in flight", wide.at(256));
    List<Seen> heavy64 = seen("16 KiB, 64 in flight", heavy.at(64));
    List<Seen> begin256 = seen("start timestamps, 256 in flight", starts.at(256));
    List<Seen> alone = seen("10 rows, 1 in flight", small.at(1));
    double begin = median(begin256, Seen::leaderMicros);
    return new MeasuredCosts(
        costs(Seen::leaderMicros, begin, small16, small1024, wide256, heavy64),
        costs(Seen::followerMicros, 0, small16, small1024, wide256, heavy64),
        median(small1024, Seen::busiestMicros) / median(small1024, Seen::leaderMicros),
        sessionMicros(),
        1000 * median(alone, each -> each.measurement.p50Millis()));
  }

  private static Costs costs(
      ToDoubleFunction<Seen> micros,
      double begin,
      List<Seen> small16,
      List<Seen> small1024,
      List<Seen> wide,
      List<Seen> heavy) {
    double entriesFew = median(small1024, Seen::entries);
    double entriesMany = median(small16, Seen::entries);
    double few = median(small1024, micros);
    double entry = (median(small16, micros) - few) / (entriesMany - entriesFew);
    double commit = few - entry * entriesFew;
    double ofWide = median(wide, micros) - entry * median(wide, Seen::entries) - commit;
    double ofHeavy = median(heavy, micros) - entry * median(heavy, Seen::entries) - commit;
    return new Costs(
        entry, commit, ofWide / (MANY_ROWS - Costs.ROWS), ofHeavy / (MANY_BYTES / 1024.0), begin);
  }

  private CompletableFuture<?> commit(int rows, int bytes) {
    CoordinatorSession session = next();
    CommitRequest request =
        KeyChooser.uniformOfThisThread()
            .request(IsolationLevel.SNAPSHOT, session.newestStable(), 0, rows);
    return session
        .commit(request, new byte[bytes], false)
        .thenAccept(
            decided -> {
              if (decided.decision() instanceof Decision.Committed committed) {
                var unused = session.applied(committed.commitTimestamp());
              }
            });
  }

  private CompletableFuture<?> begin() {
    CoordinatorSession session = next();
    return session.begin().thenAccept(session::ended);
  }

  private CoordinatorSession next() {
    return coordinators.session(count.getAndIncrement() & Integer.MAX_VALUE);
  }

  private void warmUp(List<Load> loads) {
    run.say("  warming up for %d s".formatted(run.options().warmupSeconds()));
    for (int second = 0; second < run.options().warmupSeconds(); second++) {
      loads.get(second % loads.size()).run(0, WARM_UP_STEP);
      ChildProcess.together(members.processes()).awaitCalm();
    }
  }

  private List<Seen> seen(String name, Load load) {
    List<Seen> rounds = new ArrayList<>();
    for (int round = 0; round < run.options().rounds(); round++) {
      rounds.add(seen(load));
    }
    run.say(
        "  %-34s leader %.1f us, follower %.1f us, %.4f entries for each"
            .formatted(
                name,
                median(rounds, Seen::leaderMicros),
                median(rounds, Seen::followerMicros),
                median(rounds, Seen::entries)));
    return rounds;
  }

  private Seen seen(Load load) {
    Peer leader = members.leader();
    List<MemberUsage> before = usages();
    Measurement measurement = load.run(0, run.options().measured());
    List<MemberUsage> after = usages();
    double operations = measurement.operations();
    double ofLeader = 0;
    double ofBusiest = 0;
    double ofFollowers = 0;
    double entries = 0;
    for (int member = 0; member < MEMBERS; member++) {
      MemberUsage used = after.get(member).since(before.get(member));
      if (members.peers().get(member).equals(leader)) {
        ofLeader = used.processorNanos() / 1e3;
        ofBusiest = used.busiestThreadNanos() / 1e3;
        entries = used.entries();
      } else {
        ofFollowers += used.processorNanos() / 1e3;
      }
    }
    return new Seen(
        ofLeader / operations,
        ofBusiest / operations,
        ofFollowers / (MEMBERS - 1) / operations,
        entries / operations,
        measurement);
  }

  private List<MemberUsage> usages() {
    return members.peers().stream().map(peer -> MemberUsage.of(members, peer)).toList();
  }

  /** The difference that many idle sessions make. */
  private double sessionMicros() {
    double without = idleMicrosPerSecond();
    try (Coordinators more = coordinators(members, MANY_SESSIONS).awaitOpen()) {
      double with = idleMicrosPerSecond();
      run.say(
          "  idle: %.0f us per s, with %d more sessions %.0f"
              .formatted(without, MANY_SESSIONS, with));
      return Math.max(0, with - without) / MANY_SESSIONS;
    }
  }

  private double idleMicrosPerSecond() {
    Peer leader = members.leader();
    MemberUsage before = MemberUsage.of(members, leader);
    long startNanos = System.nanoTime();
    Pause.millis(2 * run.options().measured().toMillis());
    MemberUsage used = MemberUsage.of(members, leader).since(before);
    return used.processorNanos() / 1e3 / ((System.nanoTime() - startNanos) / 1e9);
  }

  private static double median(List<Seen> rounds, ToDoubleFunction<Seen> number) {
    return Spread.median(rounds.stream().map(number::applyAsDouble).toList());
  }
}
