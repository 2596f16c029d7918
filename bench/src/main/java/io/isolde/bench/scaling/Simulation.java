// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.scaling;

import io.isolde.bench.oracle.KeyChooser;
import io.isolde.oracle.CommitRequest;
import io.isolde.oracle.Decision;
import io.isolde.oracle.IsolationLevel;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.HdrHistogram.Histogram;

/**
 * Transactions of a whole cluster in simulated time, each node with clients in a closed loop. The
 * same seed gives the same result.
 *
 * <p>A transaction asks the oracle for its start and reads, if it is {@linkplain
 * Cluster.Work#isInteractive interactive}; else it starts at the newest snapshot that its node has
 * heard of. It commits, its node writes to a majority of replicas, and then its client has the
 * answer.
 */
final class Simulation {
  private static final double SESSIONS_EVERY_MICROS = 50_000;
  private static final double SAMPLE_EVERY_MICROS = 1_000;

  /**
   * What was seen after the warm-up.
   *
   * @param perSecond transactions that were committed
   * @param abortedShare of those that were decided
   * @param leaderLoad of the cores of the oracle's leader
   * @param busiestThreadLoad of the one thread of it that does most
   * @param nodeLoad of the cores of all nodes
   * @param lagMillisP99 how old the newest snapshot is
   */
  record Result(
      double perSecond,
      double p50Millis,
      double p99Millis,
      double abortedShare,
      double refusedPerSecond,
      double leaderLoad,
      double busiestThreadLoad,
      double followerLoad,
      double nodeLoad,
      double logMegabytesPerSecond,
      double commitsPerEntry,
      double lagMillisP50,
      double lagMillisP99) {}

  private final Agenda agenda = new Agenda();
  private final Cluster cluster;
  private final SimulatedOracle oracle;
  private final double nodeMicros;
  private final SplittableRandom random;
  private final KeyChooser rows;
  private final List<Cores> nodes = new ArrayList<>();

  /** By node: the newest snapshot that it has heard of. */
  private final long[] heard;

  private final Histogram latencyMicros = new Histogram(3);
  private final Histogram lagMicros = new Histogram(3);
  private long committed;
  private long aborted;

  /**
   * A cluster in which nothing has happened.
   *
   * @param nodeMicros of a core: what all nodes together pay for a transaction, the oracle left out
   */
  Simulation(
      Cluster cluster, MeasuredCosts costs, double diskMicros, double nodeMicros, long seed) {
    this.cluster = cluster;
    this.oracle = new SimulatedOracle(agenda, cluster, costs, diskMicros);
    this.nodeMicros = nodeMicros;
    this.random = new SplittableRandom(seed);
    this.rows = KeyChooser.uniform(random.split());
    this.heard = new long[cluster.machines().nodes()];
    for (int node = 0; node < cluster.machines().nodes(); node++) {
      nodes.add(new Cores(agenda, cluster.machines().cores()));
    }
  }

  /** Runs for some simulated time, and counts after another. */
  Result run(double warmUpMicros, double measuredMicros) {
    for (int node = 0; node < cluster.machines().nodes(); node++) {
      for (int client = 0; client < cluster.machines().inFlightPerNode(); client++) {
        int home = node;
        agenda.after(random.nextDouble(10_000), () -> transact(home));
      }
    }
    keepSessions();
    sampleLag();
    agenda.runUntil(warmUpMicros);
    oracle.reset();
    nodes.forEach(Cores::reset);
    latencyMicros.reset();
    lagMicros.reset();
    committed = 0;
    aborted = 0;
    agenda.runUntil(warmUpMicros + measuredMicros);
    return result(measuredMicros / 1e6);
  }

  private Result result(double seconds) {
    return new Result(
        committed / seconds,
        latencyMicros.getValueAtPercentile(50) / 1e3,
        latencyMicros.getValueAtPercentile(99) / 1e3,
        (double) aborted / Math.max(1, committed + aborted),
        oracle.refused() / seconds,
        oracle.leaderLoad(),
        oracle.busiestThreadLoad(),
        oracle.followerLoad(),
        nodes.stream().mapToDouble(Cores::load).average().orElseThrow(),
        oracle.logBytes() / seconds / 1e6,
        (double) (committed + aborted) / Math.max(1, oracle.entries()),
        lagMicros.getValueAtPercentile(50) / 1e3,
        lagMicros.getValueAtPercentile(99) / 1e3);
  }

  private void keepSessions() {
    oracle.keepSessions(SESSIONS_EVERY_MICROS);
    agenda.after(SESSIONS_EVERY_MICROS, this::keepSessions);
  }

  private void sampleLag() {
    lagMicros.recordValue((long) oracle.lagMicros());
    agenda.after(SAMPLE_EVERY_MICROS, this::sampleLag);
  }

  private void transact(int node) {
    double startMicros = agenda.nowMicros();
    if (!cluster.work().isInteractive()) {
      commit(node, heard[node], random.nextInt(Math.max(1, cluster.work().hotRows())), startMicros);
      return;
    }
    toLeader(
        node,
        () ->
            oracle.begin(
                snapshot ->
                    fromLeader(
                        node,
                        () -> {
                          heard[node] = Math.max(heard[node], snapshot);
                          int hot = random.nextInt(Math.max(1, cluster.work().hotRows()));
                          atReplicas(() -> commit(node, snapshot, hot, startMicros));
                        })));
  }

  private void commit(int node, long snapshot, int hot, double startMicros) {
    long[] written = new long[cluster.work().rows()];
    for (int row = 0; row < written.length; row++) {
      written[row] = rows.next();
    }
    if (cluster.work().hotRows() > 0) {
      written[0] = Long.MIN_VALUE + hot;
    }
    CommitRequest request =
        new CommitRequest(null, IsolationLevel.SNAPSHOT, snapshot, new long[0], written, written);
    // The node's work is spread over a transaction; here it comes at once.
    nodes
        .get(node)
        .work(
            nodeMicros,
            () ->
                toLeader(
                    node,
                    () ->
                        oracle.commit(
                            request,
                            cluster.work().bytes(),
                            decision -> {
                              long newest = oracle.stable();
                              fromLeader(node, () -> decided(node, decision, newest, startMicros));
                            })));
  }

  private void decided(int node, Decision decision, long newest, double startMicros) {
    heard[node] = Math.max(heard[node], newest);
    if (!(decision instanceof Decision.Committed commit)) {
      aborted += decision instanceof Decision.Aborted ? 1 : 0;
      agenda.after(cluster.regions().nearMicros(), () -> transact(node));
      return;
    }
    atReplicas(
        () -> {
          toLeader(node, () -> oracle.applied(commit.commitTimestamp()));
          committed++;
          latencyMicros.recordValue((long) (agenda.nowMicros() - startMicros));
          transact(node);
        });
  }

  /** There and back, to a majority of three replicas: one is far if regions have one each. */
  private void atReplicas(Runnable then) {
    double way =
        cluster.regions().count() == 1
            ? cluster.regions().nearMicros()
            : cluster.regions().farMicros();
    agenda.after(2 * way, then);
  }

  private void toLeader(int node, Runnable then) {
    agenda.after(cluster.micros(cluster.regionOfNode(node), cluster.regionOfMember(0)), then);
  }

  private void fromLeader(int node, Runnable then) {
    agenda.after(cluster.micros(cluster.regionOfMember(0), cluster.regionOfNode(node)), then);
  }
}
