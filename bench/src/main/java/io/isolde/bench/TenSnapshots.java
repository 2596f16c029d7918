// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.Row;
import io.isolde.cluster.NodeTool;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Experiment 3 of the paper: what ever more snapshots do to reads of the table. Three tables get
 * the same updates: one without snapshots, one with a snapshot after each iteration, and one that
 * is compacted as the paper does it, within the bounds of snapshots only: one SSTable for each
 * iteration, which is the best that it allows.
 */
final class TenSnapshots {
  private static final int SNAPSHOTS = 10;
  private static final int TABLES = 3;
  private static final Duration POINT = Duration.ofSeconds(1);

  private final CqlSession session;
  private final NodeTool tool;
  private final BenchOptions options;
  private final PrintWriter out;
  private final Map<String, Double> metrics = new LinkedHashMap<>();

  TenSnapshots(CqlSession session, NodeTool tool, BenchOptions options, PrintWriter out) {
    this.session = session;
    this.tool = tool;
    this.options = options;
    this.out = out;
  }

  private SnapshotTable create(String name, boolean isCompacted) {
    return SnapshotTable.create(
        session, tool, name, options.rows(), options.rowBytes(), isCompacted);
  }

  Report run(String bench) {
    out.println("Reads of a table while its snapshots become more");
    Map<String, SnapshotTable> tables = new LinkedHashMap<>();
    tables.put("none", create("none", true));
    tables.put("snapshots", create("snapshots", true));
    tables.put("bounded", create("bounded", false));
    tables.values().forEach(this::warmUp);
    for (int i = 0; i <= SNAPSHOTS; i++) {
      iterate(tables, i);
    }
    List<Case> cases =
        List.of(
            new Case("live_none", tables.get("none").reads()),
            new Case("live_with_10", tables.get("snapshots").reads()),
            new Case("live_bounded_10", tables.get("bounded").reads()));
    Map<String, List<Sample>> samples = new Rounds(options, List.of(tool), out).run(cases);
    List<Ratio> ratios =
        List.of(
            new Ratio("live_read_with_10_vs_none", "live_with_10", "live_none"),
            new Ratio("live_read_bounded_10_vs_none", "live_bounded_10", "live_none"));
    addDiskUse(tables.get("snapshots"));
    return Report.of(bench, MachineDescription.ofThisMachine(), options, samples, ratios)
        .with(metrics);
  }

  private void warmUp(SnapshotTable table) {
    Duration share = Duration.ofSeconds(options.warmupSeconds()).dividedBy(TABLES);
    var unused = ClosedLoop.run(table.reads(), options.inFlight(), share);
  }

  private void iterate(Map<String, SnapshotTable> tables, int iteration) {
    if (iteration > 0) {
      tables.values().forEach(table -> table.update(options.rows() / 4));
      var unused = tables.get("snapshots").snapshot("s" + iteration);
    }
    tables.get("none").awaitCompactions();
    tables.forEach(
        (name, table) -> {
          var unused = table.sstablesPerRead();
          Measurement seen = ClosedLoop.run(table.reads(), options.inFlight(), POINT);
          metrics.put("iteration_%s_%d_mean_ms".formatted(name, iteration), seen.meanMillis());
          metrics.put(
              "iteration_%s_%d_sstables".formatted(name, iteration), (double) table.sstables());
          double[] shares = table.sstablesPerRead();
          for (int i = 0; i < shares.length && iteration == SNAPSHOTS; i++) {
            metrics.put("reads_of_%d_sstables_%s_percent".formatted(i, name), 100 * shares[i]);
          }
        });
    out.printf("  %d snapshots%n", iteration);
    out.flush();
  }

  private void addDiskUse(SnapshotTable table) {
    double own = 0;
    double shared = 0;
    for (int i = 1; i <= SNAPSHOTS; i++) {
      Row status = table.status("s" + i);
      own += status.getLong("own_bytes");
      shared += status.getLong("shared_bytes");
    }
    metrics.put("ten_snapshots_own_mb", own / 1e6);
    metrics.put("ten_snapshots_shared_mb", shared / 1e6);
    metrics.put("ten_snapshots_table_mb", options.rows() * (double) options.rowBytes() / 1e6);
  }
}
