// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.snapshots;

import static io.isolde.bench.kit.Workload.both;
import static io.isolde.bench.kit.Workload.mixed;

import io.isolde.bench.kit.Case;
import io.isolde.bench.kit.Cases;
import io.isolde.bench.kit.Measurement;
import io.isolde.bench.kit.Report;
import io.isolde.bench.kit.Run;
import io.isolde.bench.kit.Workload;
import io.isolde.bench.nodes.TemporaryNode;
import java.time.Duration;
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

  private final TemporaryNode node;
  private final Run run;
  private final SnapshotTable table;
  private final Cases cases = new Cases();

  SnapshotReadsCost(TemporaryNode node, Run run) {
    this.node = node;
    this.run = run;
    table = SnapshotTable.create(node, "reads", run.options(), true);
  }

  Report report() {
    run.say("The paper's workloads, with reads of the table and of a snapshot of it");
    table.update(run.options().rows() / 4);
    table.update(run.options().rows() / 4);
    var unused = table.snapshot(SNAPSHOT);
    Workload live = table.reads();
    Workload past = table.snapshotReads(SNAPSHOT);
    Workload updates = table.updates();
    compare("D", live, past);
    compare("A", mixed(live, updates, HALF), mixed(past, updates, HALF));
    compare("B", mixed(live, updates, OFTEN), mixed(past, updates, OFTEN));
    compare("C", mixed(live, both(live, updates), HALF), mixed(past, both(past, updates), HALF));
    compare(
        "E",
        mixed(table.latestReads(), table.inserts(), OFTEN),
        mixed(table.latestSnapshotReads(SNAPSHOT), table.inserts(), OFTEN));
    return run.measure(node.tools(), cases).with(curves(live, past, updates));
  }

  private void compare(String workload, Workload live, Workload past) {
    String ofTable = workload + "_live";
    String ofSnapshot = workload + "_snapshot";
    // Else the table's reads would find in memory what the case before has written.
    cases
        .add(new Case(ofTable, live).after(table::flush))
        .add(new Case(ofSnapshot, past).after(table::flush))
        .ratio("snapshot_read_vs_live_" + workload, ofSnapshot, ofTable);
  }

  /** Throughput and latency of reads, for figures 7 and 8. */
  private Map<String, Double> curves(Workload live, Workload past, Workload updates) {
    Map<String, Double> metrics = new LinkedHashMap<>();
    for (int clients : CLIENTS) {
      point(metrics, "D_live", live, clients);
      point(metrics, "D_snapshot", past, clients);
      point(metrics, "A_live", mixed(live, updates, HALF), clients);
      point(metrics, "A_snapshot", mixed(past, updates, HALF), clients);
    }
    return metrics;
  }

  private void point(Map<String, Double> metrics, String name, Workload workload, int clients) {
    table.flush();
    Measurement seen = workload.run(clients, POINT);
    metrics.put("curve_" + name + "_" + clients + "_per_s", seen.operationsPerSecond());
    metrics.put("curve_" + name + "_" + clients + "_mean_ms", seen.meanMillis());
  }
}
