// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.oracle;

import io.isolde.bench.kit.Case;
import io.isolde.bench.kit.Measurement;
import io.isolde.bench.kit.Ratio;
import io.isolde.bench.kit.Report;
import io.isolde.bench.kit.Rounds;
import io.isolde.bench.kit.Run;
import io.isolde.bench.kit.Sample;
import io.isolde.bench.kit.Workload;
import io.isolde.bench.nodes.ChildProcess;
import io.isolde.bench.peers.OmidProcess;
import io.isolde.oracle.OracleConfig;
import io.isolde.oracle.group.CoordinatorSession;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.stream.Stream;

/**
 * The oracle as three members, each a process, asked by coordinators in this process; beside it
 * Omid's, one process that keeps nothing. All of them have the same connections and client threads,
 * and as many requests in flight.
 */
public final class OracleWire {
  static final int MEMBERS = 3;

  private static final List<Integer> IN_FLIGHT = List.of(16, 64, 256, 1024, 4096);
  private static final int WARM_UP_IN_FLIGHT = 256;
  private static final int LOADED_STARTS = 256;
  private static final int CONNECTIONS = 4;
  private static final int CLIENT_THREADS = 2;
  private static final int TIMEOUT_MILLIS = 10_000;
  private static final String UNSYNCED = "wire_";
  private static final String SYNCED = "wire_fsync_";
  private static final String OMID = "omid_";

  private final Run run;
  private final List<ChildProcess> processes = new ArrayList<>();
  private final List<Case> warmUps = new ArrayList<>();
  private final List<Case> cases = new ArrayList<>();

  /** By case, transactions that were decided, but not committed. */
  private final Map<String, Long> aborts = new LinkedHashMap<>();

  private OracleWire(Run run) {
    this.run = run;
  }

  /** Runs it. */
  public static Report run(Run run) {
    run.say("Three members of the oracle as processes, with and without waiting for the disk");
    try (MemberProcesses unsynced = new MemberProcesses(MEMBERS, false);
        MemberProcesses synced = new MemberProcesses(MEMBERS, true);
        Coordinators ofUnsynced = coordinators(unsynced);
        Coordinators ofSynced = coordinators(synced)) {
      OracleWire wire = new OracleWire(run);
      wire.addCommits(UNSYNCED, new CommitLoad(ofUnsynced.awaitOpen()), unsynced);
      wire.addCommits(SYNCED, new CommitLoad(ofSynced.awaitOpen()), synced);
      CoordinatorSession session = ofSynced.session(0);
      Workload starts = () -> session.begin().thenAccept(session::ended);
      wire.add("begin", starts, () -> 0, 1);
      wire.add("begin_loaded", starts, () -> 0, LOADED_STARTS);
      wire.warmUps.add(new Case("begin_loaded", starts.at(LOADED_STARTS)));
      if (OmidProcess.jars().isEmpty()) {
        run.say("  without Omid: " + OmidProcess.FOLDER_PROPERTY + " names no folder");
        return wire.report();
      }
      int rows = OracleConfig.defaults().maxRows();
      try (OmidProcess omid = new OmidProcess(OmidProcess.jars().get(), rows);
          OmidLoad load = new OmidLoad(omid, CONNECTIONS, CLIENT_THREADS)) {
        wire.processes.add(omid.process());
        wire.addLoads(OMID, load, load::aborted);
        return wire.report();
      }
    }
  }

  static Coordinators coordinators(MemberProcesses members) {
    return new Coordinators(members.peers(), CONNECTIONS, CLIENT_THREADS, TIMEOUT_MILLIS);
  }

  private void addCommits(String name, CommitLoad load, MemberProcesses members) {
    processes.addAll(members.processes());
    addLoads(name, load, load::aborted);
  }

  private void addLoads(String name, Workload load, LongSupplier aborted) {
    IN_FLIGHT.forEach(inFlight -> add(name + inFlight, load, aborted, inFlight));
    warmUps.add(new Case(name + WARM_UP_IN_FLIGHT, load.at(WARM_UP_IN_FLIGHT)));
  }

  private void add(String name, Workload workload, LongSupplier aborted, int inFlight) {
    cases.add(
        new Case(
            name,
            (any, time) -> {
              long before = aborted.getAsLong();
              Measurement seen = workload.run(inFlight, time);
              aborts.merge(name, aborted.getAsLong() - before, Long::sum);
              return seen;
            }));
  }

  private Report report() {
    Rounds rounds = new Rounds(run, ChildProcess.together(processes));
    rounds.warmUpAlternating(warmUps);
    Map<String, List<Sample>> samples = rounds.measure(round -> Rounds.inOrderOf(round, cases));
    boolean isOmidThere = samples.containsKey(OMID + WARM_UP_IN_FLIGHT);
    return run.report(samples, isOmidThere ? ratios(samples) : List.of()).with(metrics(samples));
  }

  /** Against Omid with as many in flight as suit Omid best. */
  private static List<Ratio> ratios(Map<String, List<Sample>> samples) {
    List<Ratio> ratios = new ArrayList<>();
    int best = bestInFlight(OMID, samples);
    ratios.add(new Ratio("vs_omid", UNSYNCED + best, OMID + best));
    ratios.add(new Ratio("fsync_vs_omid", SYNCED + best, OMID + best));
    IN_FLIGHT.forEach(n -> ratios.add(new Ratio("vs_omid_" + n, UNSYNCED + n, OMID + n)));
    return ratios;
  }

  private static int bestInFlight(String prefix, Map<String, List<Sample>> samples) {
    return IN_FLIGHT.stream()
        .max(Comparator.comparingDouble(n -> Sample.perSecond(samples.get(prefix + n))))
        .orElseThrow();
  }

  private Map<String, Double> metrics(Map<String, List<Sample>> samples) {
    Map<String, Double> metrics = new LinkedHashMap<>();
    Stream.of(UNSYNCED, SYNCED, OMID)
        .filter(prefix -> samples.containsKey(prefix + WARM_UP_IN_FLIGHT))
        .forEach(
            prefix -> {
              int best = bestInFlight(prefix, samples);
              double perSecond = Sample.perSecond(samples.get(prefix + best));
              metrics.put(prefix + "commits_per_s", perSecond);
              metrics.put(prefix + "commits_per_s_in_flight", (double) best);
            });
    List<Sample> starts = samples.get("begin");
    metrics.put("begin_p50_ms", Sample.median(starts, s -> s.measurement().p50Millis()));
    metrics.put("begin_p99_ms", Sample.median(starts, s -> s.measurement().p99Millis()));
    metrics.put("begins_per_s", Sample.perSecond(samples.get("begin_loaded")));
    samples.forEach(
        (name, rounds) -> {
          long answered = rounds.stream().mapToLong(s -> s.measurement().operations()).sum();
          metrics.put(name + "_aborted_percent", 100.0 * aborts.get(name) / answered);
          metrics.put(
              name + "_members_cpu_us", Sample.median(rounds, Sample::nodeMicrosPerOperation));
          metrics.put(
              name + "_client_cpu_us", Sample.median(rounds, Sample::clientMicrosPerOperation));
          metrics.put(
              name + "_cpu_elsewhere_percent",
              Sample.median(rounds, s -> 100 * s.cpu().elsewhere()));
        });
    return metrics;
  }
}
