// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench;

import io.isolde.cluster.ToolException;
import io.isolde.oracle.OracleConfig;
import io.isolde.oracle.group.CoordinatorSession;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;

/**
 * The oracle as three members, each a process, asked by coordinators in this process; beside it
 * Omid's, one process that keeps nothing. All of them have the same connections and client threads,
 * and as many requests in flight.
 */
final class OracleWire {
  private static final int MEMBERS = 3;
  private static final int[] IN_FLIGHT = {16, 64, 256, 1024, 4096};
  private static final int WARM_UP_IN_FLIGHT = 256;
  private static final int LOADED_STARTS = 256;
  private static final Duration WARM_UP_SLICE = Duration.ofSeconds(1);

  static final int CONNECTIONS = 4;
  static final int CLIENT_THREADS = 2;
  static final int TIMEOUT_MILLIS = 10_000;

  private static final String UNSYNCED = "wire_";
  private static final String SYNCED = "wire_fsync_";
  private static final String OMID = "omid_";

  /** What is measured: a kind of request, so many at a time, to some processes. */
  private record Variant(
      String name,
      Workload workload,
      LongSupplier aborted,
      int inFlight,
      List<ChildProcess> processes) {}

  private final String bench;
  private final BenchOptions options;
  private final PrintWriter out;
  private final Map<String, Double> metrics = new LinkedHashMap<>();
  private final Map<String, Long> aborts = new LinkedHashMap<>();

  OracleWire(String bench, BenchOptions options, PrintWriter out) {
    this.bench = bench;
    this.options = options;
    this.out = out;
  }

  Report run() {
    say(
        "Three members of the oracle as processes, with and without waiting for the disk, and"
            + " Omid");
    try (MemberProcesses unsynced = new MemberProcesses(MEMBERS, false);
        MemberProcesses synced = new MemberProcesses(MEMBERS, true);
        Coordinators ofUnsynced = coordinators(unsynced);
        Coordinators ofSynced = coordinators(synced)) {
      List<Variant> variants = new ArrayList<>();
      variants.addAll(commits(UNSYNCED, new CommitLoad(ofUnsynced.awaitOpen()), unsynced));
      variants.addAll(commits(SYNCED, new CommitLoad(ofSynced.awaitOpen()), synced));
      variants.add(starts("begin", ofSynced, 1, synced));
      variants.add(starts("begin_loaded", ofSynced, LOADED_STARTS, synced));
      if (OmidProcess.jars().isEmpty()) {
        say("  without Omid: " + OmidProcess.FOLDER_PROPERTY + " names no folder");
        return measure(variants, false);
      }
      int rows = OracleConfig.defaults().maxRows();
      try (OmidProcess omid = new OmidProcess(OmidProcess.jars().get(), rows);
          OmidLoad load = new OmidLoad(omid, CONNECTIONS, CLIENT_THREADS)) {
        variants.addAll(variants(OMID, load, load::aborted, List.of(omid.process())));
        return measure(variants, true);
      }
    }
  }

  private static Coordinators coordinators(MemberProcesses members) {
    return new Coordinators(members.peers(), CONNECTIONS, CLIENT_THREADS, TIMEOUT_MILLIS);
  }

  private static List<Variant> commits(String name, CommitLoad load, MemberProcesses members) {
    return variants(name, load, load::aborted, members.processes());
  }

  private static List<Variant> variants(
      String name, Workload load, LongSupplier aborted, List<ChildProcess> processes) {
    return IntStream.of(IN_FLIGHT)
        .mapToObj(n -> new Variant(name + n, load, aborted, n, processes))
        .toList();
  }

  private static Variant starts(
      String name, Coordinators coordinators, int inFlight, MemberProcesses members) {
    return new Variant(
        name, () -> begin(coordinators.session(0)), () -> 0, inFlight, members.processes());
  }

  private static CompletableFuture<?> begin(CoordinatorSession session) {
    return session.begin().thenAccept(session::ended);
  }

  private Report measure(List<Variant> variants, boolean isOmidThere) {
    warmUp(variants);
    List<ChildProcess> all =
        variants.stream().flatMap(each -> each.processes.stream()).distinct().toList();
    CpuClock everybody = CpuClock.of(all);
    Map<String, List<Sample>> samples = new LinkedHashMap<>();
    variants.forEach(each -> samples.put(each.name, new ArrayList<>()));
    for (int round = 0; round < options.rounds(); round++) {
      for (Variant each : Rounds.inOrderOf(round, variants)) {
        samples.get(each.name).add(measure(each, round, everybody));
      }
    }
    List<Ratio> ratios = isOmidThere ? ratios(samples) : List.of();
    addMetrics(samples, variants);
    return Report.of(bench, MachineDescription.ofThisMachine(), options, samples, ratios)
        .with(metrics);
  }

  private void warmUp(List<Variant> variants) {
    say("  warming up for %d s, and what the compilers need".formatted(options.warmupSeconds()));
    List<Variant> kinds =
        variants.stream()
            .filter(v -> v.inFlight == WARM_UP_IN_FLIGHT || v.name.equals("begin_loaded"))
            .toList();
    for (int second = 0; second < options.warmupSeconds(); second++) {
      Variant each = kinds.get(second % kinds.size());
      requireAnswers(each, ClosedLoop.run(each.workload, each.inFlight, WARM_UP_SLICE));
      Compilers.awaitCalm(each.processes);
    }
  }

  private static void requireAnswers(Variant variant, Measurement seen) {
    if (seen.operations() == 0) {
      throw new ToolException(
          "No request of %s was answered rightly. The first error: %s"
              .formatted(variant.name, seen.firstError().orElse("none; it only took long")));
    }
  }

  private Sample measure(Variant variant, int round, CpuClock everybody) {
    long abortedBefore = variant.aborted.getAsLong();
    CpuClock.Running clock = everybody.start();
    Measurement seen = ClosedLoop.run(variant.workload, variant.inFlight, options.measured());
    CpuClock.Usage cpu = clock.stop();
    requireAnswers(variant, seen);
    long aborted = variant.aborted.getAsLong() - abortedBefore;
    aborts.merge(variant.name, aborted, Long::sum);
    say(
        "  round %d of %d  %-20s %8.0f/s  p50 %7.2f ms  p99 %7.2f ms%s%s%s"
            .formatted(
                round + 1,
                options.rounds(),
                variant.name,
                seen.operationsPerSecond(),
                seen.p50Millis(),
                seen.p99Millis(),
                aborted > 0 ? "  aborted " + aborted : "",
                seen.errors() > 0
                    ? "  errors %d: %s".formatted(seen.errors(), seen.firstError().orElse("?"))
                    : "",
                cpu.elsewhere() > 0.1
                    ? "  others had %.0f%% of the cores".formatted(100 * cpu.elsewhere())
                    : ""));
    return new Sample(seen, cpu);
  }

  /** Against Omid with as many in flight as suit Omid best. */
  private static List<Ratio> ratios(Map<String, List<Sample>> samples) {
    List<Ratio> ratios = new ArrayList<>();
    int best = bestInFlight(OMID, samples);
    ratios.add(new Ratio("vs_omid", UNSYNCED + best, OMID + best));
    ratios.add(new Ratio("fsync_vs_omid", SYNCED + best, OMID + best));
    for (int n : IN_FLIGHT) {
      ratios.add(new Ratio("vs_omid_" + n, UNSYNCED + n, OMID + n));
    }
    return ratios;
  }

  private static int bestInFlight(String prefix, Map<String, List<Sample>> samples) {
    return IntStream.of(IN_FLIGHT)
        .boxed()
        .max(Comparator.comparingDouble(n -> perSecond(samples.get(prefix + n))))
        .orElseThrow();
  }

  private static double perSecond(List<Sample> rounds) {
    return Sample.median(rounds, sample -> sample.measurement().operationsPerSecond());
  }

  private void addMetrics(Map<String, List<Sample>> samples, List<Variant> variants) {
    addBest("wire_commits_per_s", UNSYNCED, samples);
    addBest("wire_fsync_commits_per_s", SYNCED, samples);
    if (samples.containsKey(OMID + IN_FLIGHT[0])) {
      addBest("omid_commits_per_s", OMID, samples);
    }
    List<Sample> starts = samples.get("begin");
    metrics.put("begin_p50_ms", Sample.median(starts, s -> s.measurement().p50Millis()));
    metrics.put("begin_p99_ms", Sample.median(starts, s -> s.measurement().p99Millis()));
    metrics.put("begins_per_s", perSecond(samples.get("begin_loaded")));
    for (Variant each : variants) {
      List<Sample> rounds = samples.get(each.name);
      long answered = rounds.stream().mapToLong(s -> s.measurement().operations()).sum();
      metrics.put(each.name + "_aborted_percent", 100.0 * aborts.get(each.name) / answered);
      metrics.put(
          each.name + "_members_cpu_us", Sample.median(rounds, Sample::nodeMicrosPerOperation));
      metrics.put(
          each.name + "_client_cpu_us", Sample.median(rounds, Sample::clientMicrosPerOperation));
      metrics.put(
          each.name + "_cpu_elsewhere_percent",
          Sample.median(rounds, s -> 100 * s.cpu().elsewhere()));
    }
  }

  private void addBest(String metric, String prefix, Map<String, List<Sample>> samples) {
    int best = bestInFlight(prefix, samples);
    metrics.put(metric, perSecond(samples.get(prefix + best)));
    metrics.put(metric + "_in_flight", (double) best);
  }

  private void say(String sentence) {
    out.println(sentence);
    out.flush();
  }
}
