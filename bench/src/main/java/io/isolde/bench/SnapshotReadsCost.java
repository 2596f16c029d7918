// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench;

import static io.isolde.bench.SnapshotTable.both;
import static io.isolde.bench.Workload.mixed;

import com.datastax.oss.driver.api.core.CqlSession;
import io.isolde.cluster.NodeTool;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Experiments 1 and 2 of the paper: the workloads A to E, with their reads from the table or from a
 * snapshot of it; and the read-only and the update-heavy one with ever more clients.
 */
final class SnapshotReadsCost {
  private static final String SNAPSHOT = "reads";
  private static final double OFTEN = 0.95;
  private static final double HALF = 0.5;
  private static final List<Integer> CLIENTS = List.of(1, 4, 16, 50);
  private static final Duration POINT = Duration.ofSeconds(1);

  private final CqlSession session;
  private final NodeTool tool;
  private final BenchOptions options;
  private final PrintWriter out;

  SnapshotReadsCost(CqlSession session, NodeTool tool, BenchOptions options, PrintWriter out) {
    this.session = session;
    this.tool = tool;
    this.options = options;
    this.out = out;
  }

  Report run(String bench) {
    out.println("The paper's workloads, with reads of the table and of a snapshot of it");
    SnapshotTable table =
        SnapshotTable.create(session, tool, "reads", options.rows(), options.rowBytes(), true);
    table.update(options.rows() / 4);
    table.update(options.rows() / 4);
    var unused = table.snapshot(SNAPSHOT);
    List<Case> cases = cases(table);
    Map<String, List<Sample>> samples = new Rounds(options, List.of(tool), out).run(cases);
    List<Ratio> ratios = new ArrayList<>();
    for (String workload : List.of("A", "B", "C", "D", "E")) {
      ratios.add(
          new Ratio(
              "snapshot_read_vs_live_" + workload, workload + "_snapshot", workload + "_live"));
    }
    return Report.of(bench, MachineDescription.ofThisMachine(), options, samples, ratios)
        .with(CpuMetrics.of(samples))
        .with(curves(table));
  }

  private static List<Case> cases(SnapshotTable table) {
    Workload live = table.reads();
    Workload past = table.snapshotReads(SNAPSHOT);
    Workload updates = table.updates();
    List<Case> cases =
        List.of(
            new Case("D_live", live),
            new Case("D_snapshot", past),
            new Case("A_live", mixed(live, updates, HALF)),
            new Case("A_snapshot", mixed(past, updates, HALF)),
            new Case("B_live", mixed(live, updates, OFTEN)),
            new Case("B_snapshot", mixed(past, updates, OFTEN)),
            new Case("C_live", mixed(live, both(live, updates), HALF)),
            new Case("C_snapshot", mixed(past, both(past, updates), HALF)),
            new Case("E_live", mixed(table.latestReads(), table.inserts(), OFTEN)),
            new Case(
                "E_snapshot", mixed(table.latestSnapshotReads(SNAPSHOT), table.inserts(), OFTEN)));
    // Else the table's reads would find in memory what the case before has written.
    return cases.stream().map(each -> each.after(table::flush)).toList();
  }

  /** Throughput and latency of reads, for figures 7 and 8. */
  private Map<String, Double> curves(SnapshotTable table) {
    Map<String, Double> metrics = new LinkedHashMap<>();
    Workload live = table.reads();
    Workload past = table.snapshotReads(SNAPSHOT);
    for (int clients : CLIENTS) {
      point(table, metrics, "D_live", live, clients);
      point(table, metrics, "D_snapshot", past, clients);
      point(table, metrics, "A_live", mixed(live, table.updates(), HALF), clients);
      point(table, metrics, "A_snapshot", mixed(past, table.updates(), HALF), clients);
    }
    return metrics;
  }

  private static void point(
      SnapshotTable table,
      Map<String, Double> metrics,
      String name,
      Workload workload,
      int clients) {
    table.flush();
    Measurement seen = ClosedLoop.run(workload, clients, POINT);
    metrics.put("curve_" + name + "_" + clients + "_per_s", seen.operationsPerSecond());
    metrics.put("curve_" + name + "_" + clients + "_mean_ms", seen.meanMillis());
  }
}
