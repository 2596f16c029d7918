// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench;

import com.datastax.oss.driver.api.core.CqlSession;
import io.isolde.cluster.LocalNode;
import io.isolde.cluster.NodeSpec;
import io.isolde.cluster.NodeTool;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/**
 * What large transactions do to everybody's small ones, which become visible after them: updates of
 * one row while somebody commits some megabytes each second; beside the same with plain writes.
 */
final class LargeCommitsBenchmark implements Benchmark {
  private static final int NODES = 3;
  private static final int MAX_HEAP_MEGABYTES = 1024;
  private static final int LARGE_ROWS = 500;
  private static final int LARGE_ROW_BYTES = 64 << 10;
  private static final int COMMITS_PER_SECOND = 1;
  private static final Duration LEAD_IN = Duration.ofSeconds(1);

  /** By what they are called in metrics, how many large rows are written together. */
  private static final Map<String, Integer> SIZES = new LinkedHashMap<>();

  static {
    SIZES.put("512k", 8);
    SIZES.put("2m", 32);
    SIZES.put("4_5m", 72);
  }

  @Override
  public String name() {
    return "large-commits";
  }

  @Override
  public String summary() {
    return "small updates on three nodes while large transactions are committed";
  }

  @Override
  public Report run(BenchOptions options, PrintWriter out) {
    out.printf("Cassandra with Isolde, %d nodes%n", NODES);
    NodeSpec spec =
        TemporaryNode.spec(options)
            .withHeapMegabytes(Math.min(MAX_HEAP_MEGABYTES, options.heapMegabytes()))
            .withIsoldeSetting("transaction_max_write_size", "5MiB");
    try (TemporaryNode cluster = TemporaryNode.start("bench", NODES, spec, out);
        CqlSession session = cluster.connect()) {
      List<NodeTool> tools = cluster.nodes().stream().map(LocalNode::nodeTool).toList();
      try {
        Map<String, List<Sample>> samples =
            new Rounds(options, tools, out).run(cases(session, options));
        return Report.of(name(), MachineDescription.ofThisMachine(), options, samples, List.of())
            .with(latencies(samples))
            .with(CpuMetrics.of(samples));
      } finally {
        tools.forEach(NodeTool::close);
      }
    }
  }

  private static List<Case> cases(CqlSession session, BenchOptions options) {
    BenchOptions large = options.withRows(LARGE_ROWS, LARGE_ROW_BYTES);
    RowTable plain = RowTable.create(session, "plain", options);
    RowTable transactional = RowTable.createTransactional(session, "transactional", options);
    RowTable largePlain = RowTable.create(session, "large_plain", large);
    RowTable largeRows = RowTable.createTransactional(session, "large_transactional", large);
    List.of(plain, transactional, largePlain, largeRows).forEach(RowTable::load);
    List<Case> cases = new ArrayList<>();
    cases.add(new Case("plain_update", plain.updates()));
    cases.add(new Case("update", transactional.updates()));
    SIZES.forEach(
        (size, rows) -> {
          Workload writes = MultiStatements.plain(session, largePlain).updates(rows);
          Workload commits = MultiStatements.transactions(session, largeRows).updates(rows);
          cases.add(new Case("plain_update_beside_" + size, plain.updates()).during(storm(writes)));
          cases.add(
              new Case("update_beside_" + size, transactional.updates()).during(storm(commits)));
        });
    return cases;
  }

  private static Storm.Plan storm(Workload workload) {
    return new Storm.Plan(workload, COMMITS_PER_SECOND, LEAD_IN);
  }

  private static Map<String, Double> latencies(Map<String, List<Sample>> samples) {
    Map<String, Double> metrics = new LinkedHashMap<>();
    samples.forEach(
        (name, some) -> {
          metrics.put(name + "_p50_ms", median(some, Measurement::p50Millis));
          metrics.put(name + "_p99_ms", median(some, Measurement::p99Millis));
        });
    return metrics;
  }

  private static double median(List<Sample> samples, ToDoubleFunction<Measurement> value) {
    return Spread.of(samples.stream().map(each -> value.applyAsDouble(each.measurement())).toList())
        .median();
  }
}
