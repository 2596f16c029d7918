// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.snapshots;

import com.datastax.oss.driver.api.core.cql.Row;
import io.isolde.bench.kit.Cases;
import io.isolde.bench.kit.Measurement;
import io.isolde.bench.kit.Report;
import io.isolde.bench.kit.Run;
import io.isolde.bench.nodes.TemporaryNode;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Experiment 3 of the paper: what ever more snapshots do to reads of the table. Three tables get
 * the same updates: one without snapshots, and one with a snapshot after each iteration. The third
 * is as the paper compacts it, within the bounds of snapshots only: one SSTable for each iteration,
 * which is the best that it allows.
 */
final class TenSnapshots {
  private static final int SNAPSHOTS = 10;
  private static final int TABLES = 3;
  private static final Duration POINT = Duration.ofSeconds(1);

  private final TemporaryNode node;
  private final Run run;
  private final SnapshotTable none;
  private final SnapshotTable snapshots;
  private final SnapshotTable bounded;
  private final Map<String, Double> metrics = new LinkedHashMap<>();

  TenSnapshots(TemporaryNode node, Run run) {
    this.node = node;
    this.run = run;
    none = SnapshotTable.create(node, "none", run.options(), true);
    snapshots = SnapshotTable.create(node, "snapshots", run.options(), true);
    bounded = SnapshotTable.create(node, "bounded", run.options(), false);
  }

  Report report() {
    run.say("Reads of a table while its snapshots become more");
    warmUp(none);
    warmUp(snapshots);
    warmUp(bounded);
    for (int i = 0; i <= SNAPSHOTS; i++) {
      iterate(i);
    }
    Cases cases =
        new Cases()
            .add("live_none", none.reads())
            .add("live_with_10", snapshots.reads())
            .add("live_bounded_10", bounded.reads())
            .ratio("live_read_with_10_vs_none", "live_with_10", "live_none")
            .ratio("live_read_bounded_10_vs_none", "live_bounded_10", "live_none");
    Report report = run.report(run.samples(node.tools(), cases), cases.ratios());
    addDiskUse();
    return report.with(metrics);
  }

  private void warmUp(SnapshotTable table) {
    Duration share = Duration.ofSeconds(run.options().warmupSeconds()).dividedBy(TABLES);
    var unused = table.reads().run(run.options().inFlight(), share);
  }

  private void iterate(int iteration) {
    if (iteration > 0) {
      none.update(run.options().rows() / 4);
      snapshots.update(run.options().rows() / 4);
      bounded.update(run.options().rows() / 4);
      var unused = snapshots.snapshot("s" + iteration);
    }
    none.awaitCompactions();
    look("none", none, iteration);
    look("snapshots", snapshots, iteration);
    look("bounded", bounded, iteration);
    run.say("  %d snapshots".formatted(iteration));
  }

  private void look(String name, SnapshotTable table, int iteration) {
    var unused = table.sstablesPerRead();
    Measurement seen = table.reads().run(run.options().inFlight(), POINT);
    String metric = "iteration_%s_%d_".formatted(name, iteration);
    metrics.put(metric + "mean_ms", seen.meanMillis());
    metrics.put(metric + "sstables", (double) table.sstables());
    double[] shares = table.sstablesPerRead();
    for (int i = 0; i < shares.length && iteration == SNAPSHOTS; i++) {
      metrics.put("reads_of_%d_sstables_%s_percent".formatted(i, name), 100 * shares[i]);
    }
  }

  private void addDiskUse() {
    double ownBytes = 0;
    double sharedBytes = 0;
    for (int i = 1; i <= SNAPSHOTS; i++) {
      Row status = snapshots.status("s" + i);
      ownBytes += status.getLong("own_bytes");
      sharedBytes += status.getLong("shared_bytes");
    }
    metrics.put("ten_snapshots_own_mb", ownBytes / 1e6);
    metrics.put("ten_snapshots_shared_mb", sharedBytes / 1e6);
    metrics.put(
        "ten_snapshots_table_mb", run.options().rows() * (double) run.options().rowBytes() / 1e6);
  }
}
