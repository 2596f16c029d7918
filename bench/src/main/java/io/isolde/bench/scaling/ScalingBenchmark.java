// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.scaling;

import io.isolde.bench.kit.Report;
import io.isolde.bench.kit.Run;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * How large a cluster one oracle can serve. First the costs of a real group are measured, then
 * clusters that pay these costs are simulated.
 */
public final class ScalingBenchmark {
  private static final long SEED = 20_261_129;
  private static final double WARM_UP_MICROS = 1_000_000;
  private static final double MEASURED_MICROS = 2_000_000;
  private static final int IN_FLIGHT = 50;

  /** In one region, and between regions, one way. */
  private static final double FAR_MICROS = 25_000;

  private static final int FAR_NODES = 100;
  private static final int REGIONS = 3;

  /** Clients of far nodes wait longer, so there are more of them. */
  private static final int FAR_IN_FLIGHT = 200;

  /**
   * What all nodes together pay for an update of 1 KiB on three nodes, and for a transfer, of a
   * core's time: the table "transactions" in docs/benchmarks.md.
   */
  private static final double UPDATE_MICROS = 470;

  private static final double TRANSFER_MICROS = 4_500;

  private final Run run;
  private final MeasuredCosts costs;
  private final double diskMicros;
  private final Map<String, Double> metrics = new LinkedHashMap<>();

  private ScalingBenchmark(Run run, MeasuredCosts costs) {
    this.run = run;
    this.costs = costs;
    this.diskMicros = diskMicros(costs);
  }

  /** Runs it. */
  public static Report run(Run run) {
    MeasuredCosts costs = CostsMeasurement.measure(run);
    ScalingBenchmark scaling = new ScalingBenchmark(run, costs);
    scaling.metrics.putAll(costs.metrics());
    scaling.simulateAll();
    return run.report(scaling.metrics);
  }

  /**
   * The rest of a lone commit's time, beside the processors: the disks, and the ways of this
   * machine.
   */
  private static double diskMicros(MeasuredCosts costs) {
    double processors =
        costs.leader().entry()
            + costs.leader().commit()
            + costs.follower().entry()
            + costs.follower().commit();
    return Math.max(0, costs.commitMicros() - processors);
  }

  private void simulateAll() {
    run.say("  updates of 1 KiB, %d in flight on each node".formatted(IN_FLIGHT));
    for (int cores : new int[] {2, 16}) {
      for (int nodes : new int[] {3, 10, 30, 100, 1000}) {
        simulate(
            "n%d_c%d".formatted(nodes, cores),
            Cluster.ofNodes(nodes, IN_FLIGHT, cores),
            UPDATE_MICROS);
      }
    }
    run.say("  the same, with decisions alone in the log");
    for (int nodes : new int[] {100, 1000}) {
      simulate(
          "n%d_c16_decisions".formatted(nodes),
          Cluster.ofNodes(nodes, IN_FLIGHT, 16).withBytes(0),
          UPDATE_MICROS);
    }
    run.say("  transfers between rows of a few");
    for (int hot : new int[] {100_000, 1_000}) {
      simulate(
          "n10_c16_hot%d".formatted(hot),
          Cluster.ofNodes(10, IN_FLIGHT, 16).interactive(hot),
          TRANSFER_MICROS);
    }
    run.say("  three regions, %.0f ms apart".formatted(FAR_MICROS / 1000));
    Cluster far = Cluster.ofNodes(FAR_NODES, FAR_IN_FLIGHT, 16);
    for (boolean areSpread : new boolean[] {false, true}) {
      Cluster regions = far.withRegions(REGIONS, FAR_MICROS, areSpread);
      String name = "n%d_far%s".formatted(FAR_NODES, areSpread ? "_spread" : "");
      simulate(name, regions, UPDATE_MICROS);
      simulate(name + "_hot100000", regions.interactive(100_000), TRANSFER_MICROS);
      simulate(name + "_hot1000", regions.interactive(1_000), TRANSFER_MICROS);
    }
  }

  private void simulate(String name, Cluster cluster, double nodeMicros) {
    Simulation.Result result =
        new Simulation(cluster, costs, diskMicros, nodeMicros, SEED)
            .run(WARM_UP_MICROS, MEASURED_MICROS);
    run.say(
        ("  %-24s %8.0f/s  p50 %6.1f ms  p99 %6.1f ms  leader %3.0f%%, its busiest thread %3.0f%%,"
                + " nodes %3.0f%%  log %5.1f MB/s  aborted %4.1f%%  lag p99 %6.1f ms")
            .formatted(
                name,
                result.perSecond(),
                result.p50Millis(),
                result.p99Millis(),
                100 * result.leaderLoad(),
                100 * result.busiestThreadLoad(),
                100 * result.nodeLoad(),
                result.logMegabytesPerSecond(),
                100 * result.abortedShare(),
                result.lagMillisP99()));
    metrics.put(name + "_per_s", result.perSecond());
    metrics.put(name + "_p50_ms", result.p50Millis());
    metrics.put(name + "_p99_ms", result.p99Millis());
    metrics.put(name + "_leader_load", result.leaderLoad());
    metrics.put(name + "_busiest_thread_load", result.busiestThreadLoad());
    metrics.put(name + "_follower_load", result.followerLoad());
    metrics.put(name + "_node_load", result.nodeLoad());
    metrics.put(name + "_log_mb_per_s", result.logMegabytesPerSecond());
    metrics.put(name + "_commits_per_entry", result.commitsPerEntry());
    metrics.put(name + "_aborted_share", result.abortedShare());
    metrics.put(name + "_refused_per_s", result.refusedPerSecond());
    metrics.put(name + "_lag_p99_ms", result.lagMillisP99());
  }
}
