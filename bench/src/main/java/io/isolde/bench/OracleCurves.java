// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench;

import io.isolde.oracle.CommitRequest;
import io.isolde.oracle.Decision;
import io.isolde.oracle.IsolationLevel;
import io.isolde.oracle.group.CoordinatorSession;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;

/**
 * Figures 5 to 10 of D. Gómez Ferro and M. Yabandeh, "A Critique of Snapshot Isolation", EuroSys
 * 2012: latency and aborts against throughput, for snapshot isolation (si) and write-snapshot
 * isolation (wsi), with more and more clients.
 *
 * <p>The paper has data servers in figures 6 to 10. Here there is the oracle alone, three members
 * that write to disk: a transaction begins, takes no time for its operations, and commits. So it is
 * faster by orders of magnitude, and fewer transactions are concurrent at the same throughput.
 */
final class OracleCurves {
  private static final int MEMBERS = 3;

  /** Each with a hundred transactions at a time, in figure 5. */
  private static final int[] PIPELINES = {1, 2, 4, 8, 16, 32, 64};

  private static final int OUTSTANDING = 100;

  /** Each with one transaction at a time, in figures 6 to 10. */
  private static final int[] CLIENTS = {5, 10, 20, 40, 80, 160, 320, 640};

  private static final int MAX_ROWS = 20;
  private static final int WARM_UP_CLIENTS = 160;
  private static final long[] NONE = {};

  private record Curve(
      String name, IsolationLevel level, boolean isMixed, Supplier<KeyChooser> rows) {}

  private final String bench;
  private final BenchOptions options;
  private final PrintWriter out;

  /** The row written last, for the distribution that prefers the latest. */
  private final AtomicLong newestRow = new AtomicLong();

  OracleCurves(String bench, BenchOptions options, PrintWriter out) {
    this.bench = bench;
    this.options = options;
    this.out = out;
  }

  Report run() {
    say("Figures 5 to 10 of A Critique of Snapshot Isolation, with the oracle alone");
    try (MemberProcesses members = new MemberProcesses(MEMBERS, true);
        Coordinators coordinators =
            new Coordinators(
                    members.peers(),
                    OracleWire.CONNECTIONS,
                    OracleWire.CLIENT_THREADS,
                    OracleWire.TIMEOUT_MILLIS)
                .awaitOpen()) {
      warmUp(members, coordinators);
      Map<String, List<Sample>> samples = new LinkedHashMap<>();
      Map<String, List<Double>> aborted = new LinkedHashMap<>();
      CpuClock cpu = CpuClock.of(members.processes());
      for (int round = 0; round < options.rounds(); round++) {
        for (Curve curve : Rounds.inOrderOf(round, curves())) {
          for (int clients : curve.isMixed ? CLIENTS : PIPELINES) {
            measure(curve, clients, coordinators, cpu, samples, aborted);
          }
        }
      }
      Map<String, Double> metrics = new LinkedHashMap<>();
      aborted.forEach(
          (name, rounds) -> metrics.put(name + "_aborted_percent", Spread.of(rounds).median()));
      return Report.of(bench, MachineDescription.ofThisMachine(), options, samples, List.of())
          .with(metrics);
    }
  }

  private List<Curve> curves() {
    List<Curve> curves = new ArrayList<>();
    addCurves(curves, "fig5_complex", false, KeyChooser::uniform);
    addCurves(curves, "fig6_uniform", true, KeyChooser::uniform);
    addCurves(curves, "fig7_fig8_zipfian", true, KeyChooser::zipfian);
    addCurves(
        curves, "fig9_fig10_latest", true, random -> KeyChooser.latest(random, newestRow::get));
    return curves;
  }

  private interface Distribution {
    KeyChooser with(SplittableRandom random);
  }

  private static void addCurves(
      List<Curve> curves, String name, boolean isMixed, Distribution distribution) {
    ThreadLocal<KeyChooser> ofThread =
        ThreadLocal.withInitial(() -> distribution.with(new SplittableRandom()));
    curves.add(new Curve(name + "_si", IsolationLevel.SNAPSHOT, isMixed, ofThread::get));
    curves.add(new Curve(name + "_wsi", IsolationLevel.SERIALIZABLE, isMixed, ofThread::get));
  }

  private void warmUp(MemberProcesses members, Coordinators coordinators) {
    say("  warming up for %d s, and what the compilers need".formatted(options.warmupSeconds()));
    List<Curve> curves = curves();
    for (int second = 0; second < options.warmupSeconds(); second++) {
      Load load = new Load(curves.get(second % curves.size()), coordinators);
      ClosedLoop.run(load, WARM_UP_CLIENTS, Duration.ofSeconds(1));
      Compilers.awaitCalm(members.processes());
    }
  }

  private void measure(
      Curve curve,
      int clients,
      Coordinators coordinators,
      CpuClock cpu,
      Map<String, List<Sample>> samples,
      Map<String, List<Double>> aborted) {
    Load load = new Load(curve, coordinators);
    CpuClock.Running clock = cpu.start();
    int inFlight = curve.isMixed ? clients : clients * OUTSTANDING;
    Measurement seen = ClosedLoop.run(load, inFlight, options.measured());
    String name = curve.name + "_" + clients;
    samples.computeIfAbsent(name, n -> new ArrayList<>()).add(new Sample(seen, clock.stop()));
    aborted.computeIfAbsent(name, n -> new ArrayList<>()).add(load.abortedPercent());
    say(
        "  %-28s %8.0f/s  mean %7.2f ms  aborted %5.2f%%%s"
            .formatted(
                name,
                seen.operationsPerSecond(),
                seen.meanMillis(),
                load.abortedPercent(),
                seen.firstError().map(error -> "  error: " + error).orElse("")));
  }

  private void say(String sentence) {
    out.println(sentence);
    out.flush();
  }

  /** Transactions of the paper's workloads, and how many of them are aborted. */
  private final class Load implements Workload {
    private final Curve curve;
    private final Coordinators coordinators;
    private final AtomicInteger count = new AtomicInteger();
    private final LongAdder ended = new LongAdder();
    private final LongAdder abortedCount = new LongAdder();

    private Load(Curve curve, Coordinators coordinators) {
      this.curve = curve;
      this.coordinators = coordinators;
    }

    @Override
    public CompletableFuture<?> send() {
      int number = count.getAndIncrement() & Integer.MAX_VALUE;
      CoordinatorSession session = coordinators.session(number);
      boolean isReadOnly = curve.isMixed && number / 4 % 2 == 0;
      return session
          .begin()
          .thenCompose(
              start ->
                  (isReadOnly
                          ? CompletableFuture.<Void>completedFuture(null)
                          : commit(session, start))
                      .whenComplete(
                          (done, error) -> {
                            session.ended(start);
                            ended.increment();
                          }));
    }

    /** Of up to twenty rows half are read and half are written. */
    private CompletableFuture<Void> commit(CoordinatorSession session, long start) {
      KeyChooser rows = curve.rows.get();
      int count = ThreadLocalRandom.current().nextInt(MAX_ROWS + 1);
      long[] reads = new long[count / 2];
      long[] writes = new long[count - count / 2];
      if (writes.length == 0) {
        return CompletableFuture.completedFuture(null);
      }
      rows.fill(reads);
      rows.fill(writes);
      CommitRequest request =
          new CommitRequest(
              new UUID(count, newestRow.incrementAndGet()),
              curve.level,
              start,
              curve.level == IsolationLevel.SERIALIZABLE ? reads : NONE,
              writes,
              writes);
      return session.commit(request).thenAccept(decision -> decided(session, decision));
    }

    private void decided(CoordinatorSession session, Decision decision) {
      if (decision instanceof Decision.Committed committed) {
        var unused = session.applied(committed.commitTimestamp());
      } else {
        abortedCount.increment();
      }
    }

    private double abortedPercent() {
      return 100.0 * abortedCount.sum() / Math.max(1, ended.sum());
    }
  }
}
