// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.transactions;

import io.isolde.bench.kit.BenchOptions;
import io.isolde.bench.kit.Case;
import io.isolde.bench.kit.Cases;
import io.isolde.bench.kit.Report;
import io.isolde.bench.kit.Run;
import io.isolde.bench.kit.Sample;
import io.isolde.bench.kit.Workload;
import io.isolde.bench.nodes.RowTable;
import io.isolde.bench.nodes.TemporaryNode;
import io.isolde.cluster.NodeSpec;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What large transactions do to everybody's small ones: updates of one row while somebody commits
 * some megabytes now and then; beside the same with plain writes.
 */
public final class LargeCommitsBenchmark {
  private static final int NODES = 3;

  /** Of which a transaction may take 64 MiB. */
  private static final int HEAP_MEGABYTES = 4096;

  private static final int LARGE_ROWS = 1200;
  private static final int LARGE_ROW_BYTES = 64 << 10;
  private static final Duration LEAD_IN = Duration.ofSeconds(1);

  /**
   * What large transactions are called in metrics, how many large rows they write, and how many
   * there are in a second: as many bytes, but for the smallest.
   */
  private record Size(String name, int rows, double perSecond) {}

  private static final List<Size> SIZES =
      List.of(
          new Size("512k", 8, 1),
          new Size("4m", 64, 1),
          new Size("16m", 256, 0.25),
          new Size("63m", 1008, 0.0625));

  private LargeCommitsBenchmark() {}

  /** Runs it. */
  public static Report run(Run run) {
    run.say("Cassandra with Isolde, %d nodes".formatted(NODES));
    NodeSpec spec = TemporaryNode.spec(run.options()).withHeapMegabytes(HEAP_MEGABYTES);
    try (TemporaryNode cluster = TemporaryNode.start("bench", NODES, spec, run.out())) {
      Cases cases = cases(cluster, run.options());
      Map<String, List<Sample>> samples = run.samples(cluster.tools(), cases);
      return run.reportWithCpu(samples, List.of()).with(latencies(samples));
    }
  }

  private static Cases cases(TemporaryNode cluster, BenchOptions options) {
    BenchOptions large = options.withRows(LARGE_ROWS, LARGE_ROW_BYTES);
    Workload plain = RowTable.create(cluster, "plain", options).load().updates();
    Workload transactional =
        RowTable.createTransactional(cluster, "transactional", options).load().updates();
    MultiStatements largePlain =
        MultiStatements.plain(
            cluster.session(), RowTable.create(cluster, "large_plain", large).load());
    MultiStatements largeRows =
        MultiStatements.oneByOne(
            cluster.session(),
            RowTable.createTransactional(cluster, "large_transactional", large).load());
    Cases cases = new Cases().add("plain_update", plain).add("update", transactional);
    for (Size size : SIZES) {
      Workload writes = largePlain.updates(size.rows);
      Workload commits = largeRows.updates(size.rows);
      cases
          .add(beside(writes, size, new Case("plain_update_beside_" + size.name, plain)))
          .add(beside(commits, size, new Case("update_beside_" + size.name, transactional)));
    }
    return cases;
  }

  private static Case beside(Workload large, Size size, Case small) {
    return small.during(large, size.perSecond, LEAD_IN);
  }

  private static Map<String, Double> latencies(Map<String, List<Sample>> samples) {
    Map<String, Double> metrics = new LinkedHashMap<>();
    samples.forEach(
        (name, rounds) -> {
          metrics.put(
              name + "_p50_ms", Sample.median(rounds, each -> each.measurement().p50Millis()));
          metrics.put(
              name + "_p99_ms", Sample.median(rounds, each -> each.measurement().p99Millis()));
        });
    return metrics;
  }
}
