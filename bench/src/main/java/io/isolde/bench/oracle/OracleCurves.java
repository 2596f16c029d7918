// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.oracle;

import io.isolde.bench.kit.Case;
import io.isolde.bench.kit.Measurement;
import io.isolde.bench.kit.Medians;
import io.isolde.bench.kit.Report;
import io.isolde.bench.kit.Rounds;
import io.isolde.bench.kit.Run;
import io.isolde.bench.kit.Sample;
import io.isolde.bench.kit.Workload;
import io.isolde.bench.nodes.ChildProcess;
import io.isolde.oracle.CommitRequest;
import io.isolde.oracle.IsolationLevel;
import io.isolde.oracle.group.CoordinatorSession;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * Figures 5 to 10 of D. Gómez Ferro and M. Yabandeh, "A Critique of Snapshot Isolation", EuroSys
 * 2012: latency and aborts against throughput, for snapshot isolation (si) and write-snapshot
 * isolation (wsi), with more and more clients.
 *
 * <p>The paper has data servers in figures 6 to 10. Here there is the oracle alone, three members
 * that write to disk: a transaction begins, takes no time for its operations, and commits. So it is
 * faster by orders of magnitude, and fewer transactions are concurrent at the same throughput.
 */
public final class OracleCurves {
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

  private final Coordinators coordinators;
  private final Medians aborted = new Medians();

  /** The row written last, for the distribution that prefers the latest. */
  private final AtomicLong newestRow = new AtomicLong();

  private OracleCurves(Coordinators coordinators) {
    this.coordinators = coordinators;
  }

  /** Runs it. */
  public static Report run(Run run) {
    run.say("Figures 5 to 10 of A Critique of Snapshot Isolation, with the oracle alone");
    try (MemberProcesses members = new MemberProcesses(OracleWire.MEMBERS, true);
        Coordinators coordinators = OracleWire.coordinators(members).awaitOpen()) {
      OracleCurves curves = new OracleCurves(coordinators);
      Rounds rounds = new Rounds(run, ChildProcess.together(members.processes()));
      return curves.report(run, rounds);
    }
  }

  private Report report(Run run, Rounds rounds) {
    List<Curve> curves =
        Stream.of(
                levels("fig5_complex", false, KeyChooser::uniform),
                levels("fig6_uniform", true, KeyChooser::uniform),
                levels("fig7_fig8_zipfian", true, KeyChooser::zipfian),
                levels(
                    "fig9_fig10_latest", true, random -> KeyChooser.latest(random, newestRow::get)))
            .flatMap(List::stream)
            .toList();
    rounds.warmUpAlternating(
        curves.stream()
            .map(each -> new Case(each.name, new Transactions(each).at(WARM_UP_CLIENTS)))
            .toList());
    Map<String, List<Sample>> samples =
        rounds.measure(
            round ->
                Rounds.inOrderOf(round, curves).stream()
                    .flatMap(curve -> points(curve).stream())
                    .toList());
    return run.report(samples, List.of()).with(aborted.toMap());
  }

  private static List<Curve> levels(
      String name, boolean isMixed, Function<SplittableRandom, KeyChooser> distribution) {
    ThreadLocal<KeyChooser> ofThread =
        ThreadLocal.withInitial(() -> distribution.apply(new SplittableRandom()));
    return List.of(
        new Curve(name + "_si", IsolationLevel.SNAPSHOT, isMixed, ofThread::get),
        new Curve(name + "_wsi", IsolationLevel.SERIALIZABLE, isMixed, ofThread::get));
  }

  private List<Case> points(Curve curve) {
    List<Case> points = new ArrayList<>();
    for (int clients : curve.isMixed ? CLIENTS : PIPELINES) {
      String name = curve.name + "_" + clients;
      int inFlight = curve.isMixed ? clients : clients * OUTSTANDING;
      points.add(
          new Case(
              name,
              (any, time) -> {
                Transactions transactions = new Transactions(curve);
                Measurement seen = transactions.run(inFlight, time);
                aborted.add(name + "_aborted_percent", transactions.abortedPercent());
                return seen;
              }));
    }
    return points;
  }

  /** Transactions of the paper's workloads, and how many of them are aborted. */
  private final class Transactions implements Workload {
    private final Curve curve;
    private final AtomicInteger count = new AtomicInteger();
    private final LongAdder ended = new LongAdder();
    private final LongAdder abortedCount = new LongAdder();

    private Transactions(Curve curve) {
      this.curve = curve;
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
      int rowCount = ThreadLocalRandom.current().nextInt(MAX_ROWS + 1);
      if (rowCount == 0) {
        return CompletableFuture.completedFuture(null);
      }
      long[] reads = new long[rowCount / 2];
      long[] writes = new long[rowCount - rowCount / 2];
      rows.fill(reads);
      rows.fill(writes);
      CommitRequest request =
          new CommitRequest(
              new UUID(rowCount, newestRow.incrementAndGet()),
              curve.level,
              start,
              curve.level == IsolationLevel.SERIALIZABLE ? reads : NONE,
              writes,
              writes);
      return Coordinators.commit(session, request)
          .thenAccept(isCommitted -> abortedCount.add(isCommitted ? 0 : 1));
    }

    private double abortedPercent() {
      return 100.0 * abortedCount.sum() / Math.max(1, ended.sum());
    }
  }
}
